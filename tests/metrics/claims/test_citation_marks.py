"""Marks that say where a claim comes from are no part of it; what only looks like one stays."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chunkwise.metrics.claims.text_normalization import sentences, without_citation_marks
from tables import cases
from untimed import is_linear

MARKS = [
    "[1]", "[12]", "[1][2]", "[1], [2]", "[1, 2]", "[1–3]", "[1?]", "[unsupported]", "(1)", "【1】", "【4:0†source】",
    "[^1]", "[^note]", "[guide.md]", "[guide.md, p. 3]", "[guide.md::3]", "(guide.md, p. 3)", "[Source 1]",
    "[source: The guide]", "(Source: guide.md)", "[p. 3]", "[1](https://example.org/a)", "[[1]](https://example.org/a)",
]  # fmt: skip
CLAIM = "The relief keeper arrives every 21 days by boat"


@cases("mark", MARKS)
def test_a_mark_is_no_part_of_a_claim(mark: str) -> None:
    for text in (f"{CLAIM} {mark}.", f"{CLAIM}. {mark}"):
        assert without_citation_marks(text) == f"{CLAIM}."
        assert [each.text for each in sentences(text)] == [f"{CLAIM}."]


def test_marks_stand_amid_a_text_too() -> None:
    assert (
        without_citation_marks("By boat[1]. [2] The lamp[1, 3] is lit.[4]")
        == "By boat. The lamp is lit."
    )
    assert without_citation_marks("By boat.[1]The lamp") == "By boat. The lamp"
    assert without_citation_marks("每21天[1]乘船。") == "每21天乘船。"
    noted = "By boat.[^1]\n\n[^1]: guide.md, page 3"
    assert without_citation_marks(noted).strip() == "By boat."


@cases("text", [
    "Take f[1] and m[1][2].", "(1) First item", "as follows: (1) row; (2) rest.", "It was so in [1990].", "`items[1]`",
    "items[1] = 3", "Values lie in [0, 1].", "Two (2) days are left.", "See Article 5 (2).", "He said so [sic].",
    "See [guide.md](guide.md).", "In [tool.ruff] one sets it.", "- [x] done", "a [b] c", "[1]", "(see below)",
])  # fmt: skip
def test_what_only_looks_like_a_mark_stays(text: str) -> None:
    assert without_citation_marks(text) == text


@given(st.text(alphabet="[]()【】^1290, ;.-–:†?amdp`=\n", max_size=60))
def test_nothing_but_marks_goes(text: str) -> None:
    found = without_citation_marks(text)
    rest = iter(text + " " * len(text))
    assert all(any(sign in (other, " ") for other in rest) for sign in found)


@cases("part", ["[1] a", "[1]", "(", "[a.md "])
def test_the_work_grows_with_the_text(part: str) -> None:
    is_linear(lambda size: without_citation_marks(part * size + "["), 500)
