"""Somebody else's strategy: what it did wrong is told in its own terms, with a line of its own file."""

from pathlib import Path

import pytest

from chunkwise import chunk_text
from chunkwise.base.errors import ChunkwiseError
from tables import cases

BODIES = {
    "missing": ("return {}['lamp']", r"KeyError: 'lamp' \(mine\.py, line 4\)"),
    "called": (
        "import json\n        return json.loads('{')",
        r"JSONDecodeError: .* \(mine\.py, line 5\)",
    ),
    "later": ("yield 0, 1\n        1 / 0", r"ZeroDivisionError: .* \(mine\.py, line 5\)"),
    "strings": (
        "return ['Lamps are lit']",
        "TypeError: split gave str 'Lamps are lit'; a strategy returns Pieces or pairs",
    ),
    "one string": ("return 'Lamps'", "split returned str 'Lamps'; a strategy returns Pieces"),
    "nothing": ("pass", "split returned None; a strategy returns Pieces"),
    "numbers": ("return [0, 4]", "split gave int 0; a strategy returns Pieces"),
    "one number": ("return [(0,)]", r"split gave 1 value, tuple \(0,\); a strategy returns"),
    "many": ("return [range(13)]", "split gave 13 values, range .*; a strategy returns"),
}


@cases("body", BODIES)
def test_a_fault_is_told_in_the_author_s_terms(body: str, tmp_path: Path) -> None:
    code, message = BODIES[body]
    (tmp_path / "mine.py").write_text(
        f"# My own\nclass Mine:\n    def split(self, document):\n        {code}\n"
    )
    with pytest.raises(ChunkwiseError, match=message) as caught:
        chunk_text("Lamps are lit.", strategy=f"{tmp_path}/mine.py:Mine")
    assert "mine.py:Mine failed on text" in str(caught.value)
    assert "__new__" not in str(caught.value)


def test_what_can_only_be_asked_for_by_position_is_taken(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Pairs:\n"
        "    def __getitem__(self, at):\n"
        "        return ((0, 5), (6, 14))[at]\n\n"
        "class Mine:\n"
        "    def split(self, document):\n"
        "        return Pairs()\n"
    )
    chunks = chunk_text("Lamps are lit.", strategy=f"{tmp_path}/mine.py:Mine")
    assert [chunk.text for chunk in chunks] == ["Lamps", "are lit."]
