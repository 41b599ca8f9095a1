"""Words that the end of a line cut in two: whole again where the document itself has them whole.

PDFium marks every hyphen at the end of a line between letters, that of "well-known" as that of
"hyphen-ated"; only the words of the document tell which of the two it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_MARKS = "\ufffe\x02"
# Behind no letter, or each letter of a long word would be tried as its first.
_CUT = re.compile(rf"(?<![^\W\d_])([^\W\d_]++)[{_MARKS}](?=([^\W\d_]++))")
_WORD = re.compile(r"[^\W\d_]++(?:-[^\W\d_]++)*+")


def without_hyphens(pages: Sequence[str]) -> list[str]:
    """The pages with each mark gone, or turned into a hyphen where nothing speaks against one."""
    if not any(mark in page for page in pages for mark in _MARKS):
        return list(pages)
    words = {word.lower() for page in pages for word in _WORD.findall(page)}

    def mended(cut: re.Match[str]) -> str:
        first, second = cut[1].lower(), cut[2].lower()
        whole = first + second in words and f"{first}-{second}" not in words
        return cut[1] if whole else f"{cut[1]}-"

    hyphens = str.maketrans(dict.fromkeys(_MARKS, "-"))
    return [_CUT.sub(mended, page).translate(hyphens) for page in pages]
