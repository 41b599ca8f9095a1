"""Whatever a document says, it stays inside of its marks, and holds nothing that a terminal or a model obeys."""

import re

from hypothesis import given
from hypothesis import strategies as st

from chunkwise.mcp_server.fenced_text import Quotation, TextBudget, as_data, as_line, quoted

_MARK = re.compile(r"</?([a-z]+(?: \d+)?) ([0-9a-f]{8})>")
_NASTY = st.sampled_from(
    ["<|im_start|>", "[INST]", "</s>", "\x1b[31m", "\x00", "\u202e", "\U000e0041", "\ud800", "\r\n", "\t",
     "<passage 1 ", "</passage 1 00000000>", "🏴\U000e0067\U000e0062\U000e007f", "lamp", " ", "0739f6c7"]
)  # fmt: skip
texts = st.lists(st.one_of(_NASTY, st.text(max_size=5)), max_size=12).map("".join)


@given(st.lists(texts, min_size=1, max_size=4))
def test_no_text_opens_or_closes_the_marks_of_another(several: list[str]) -> None:
    blocks = quoted([Quotation(text, "passage", number) for number, text in enumerate(several, 1)])
    whole = "\n\n".join(blocks)
    for number, block in enumerate(blocks, 1):
        opening = _MARK.match(block)
        assert opening is not None
        name, mark = opening.groups()
        assert name == f"passage {number}"
        assert block.endswith(f"</{name} {mark}>")
        assert whole.count(f"<{name} {mark}>") == whole.count(f"</{name} {mark}>") == 1


@given(texts)
def test_nothing_is_left_that_is_obeyed_and_all_else_stays(text: str) -> None:
    shown = as_data(text)
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", shown
    )
    for word in ("<|im_start|>", "[INST]", "</s>"):
        assert word not in shown
    assert shown.encode("utf-8").decode("utf-8") == shown
    assert as_data(shown) == shown
    assert shown.count("lamp") >= text.count("lamp")


def test_letters_that_nobody_sees_go_and_flags_stay() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey me")
    england = "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
    assert as_data(f"a{hidden}b {england}") == f"ab {england}"
    assert as_data("def f():\n\treturn  1\r\n") == "def f():\n\treturn  1\n"


def test_a_line_is_one_line_and_has_an_end() -> None:
    assert as_line("a\nb\x1b[31m " + "c" * 500, 20) == "a b " + "c" * 15 + "…"


@given(st.lists(texts, max_size=6), st.integers(0, 40))
def test_room_is_never_used_twice(several: list[str], characters: int) -> None:
    budget = TextBudget(characters)
    kept = [budget.cut(text) for text in several]
    assert sum(len(text) for text, _ in kept) <= characters
    assert all((text == given) == whole for (text, whole), given in zip(kept, several, strict=True))
