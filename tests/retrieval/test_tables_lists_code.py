"""Blocks are handed out whole where they fit, and nothing is shown that a reader could not read."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chunkwise
from chunkwise.answering.cited_answer import fitting_passages, passages_of
from chunkwise.core import Document, Hit
from chunkwise.options import SearchOptions
from chunkwise.retrieval.tables_lists_code import HEADS, HIDDEN, IN_BLOCK, Frame, WholeBlocks
from chunkwise.testkit.hostile import hostile_documents
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.tokens.tokenizers import get_tokenizer
from how_many import examples
from tables import cases
from untimed import is_linear

COUNT = get_tokenizer("o200k_base").count
FILLER = "\n\n".join(
    f"Paragraph {n} speaks of weather, harbours and the price of rope in year {1900 + n}."
    for n in range(40)
)
CODE = "```python\ndef kindle(lamp):\n    lamp.wick.trim()\n    lamp.oil.fill()\n    return lamp.light()\n```"
TABLE = "| Fault | Cost |\n|---|---|\n" + "".join(f"| Ring {n} | {n} |\n" for n in range(6))
LIST = "Do the following steps:\n\n- Trim the wick of the lantern.\n- Fill up the oil.\n- Close the pane.\n"


def markdown(text: str) -> Document:
    return Document("d.md", text, format="markdown")


def searched(text: str, question: str, budget: int, retriever: str = "multiscale") -> list[Hit]:
    index = chunkwise.index([markdown(text)], "sentences(max_tokens=60)", vectors="none")
    return index.search(question, budget=budget, retriever=retriever)


def check(hits: list[Hit], budget: int) -> None:
    """The promises: exact spans, within the budget as shown, every fence closed."""
    assert sum(COUNT(hit.shown) for hit in hits) <= budget
    for hit in hits:
        assert hit.text == hit.document.text[hit.start : hit.end]
        assert hit.token_count == COUNT(hit.shown)
        assert not WholeBlocks(markdown(hit.shown)).frame(0, len(hit.shown)).closing
        assert any(map(str.isalnum, hit.shown))


def test_code_is_handed_out_whole_where_it_fits() -> None:
    hits = searched(f"{FILLER}\n\n{CODE}\n\n{FILLER}", "trim the wick of the lamp", 60)
    check(hits, 60)
    assert any(CODE in hit.text for hit in hits)


def test_a_lead_in_comes_with_its_list() -> None:
    hits = searched(f"{FILLER}\n\n{LIST}\n{FILLER}", "lantern wick", 60)
    check(hits, 60)
    assert any(LIST.strip() in hit.text for hit in hits)


@pytest.mark.usefixtures("large_inputs")
def test_code_comes_without_its_lead_in_where_both_do_not_fit() -> None:
    lead_in = (
        "To light the lamp as the keepers of the harbour have done it since the year 1900, write:"
    )
    text = f"# Lamps of the harbour\n\n{FILLER}\n\n## Lighting a lamp\n\n{lead_in}\n\n{CODE}\n\n{FILLER}"
    for budget in range(COUNT(CODE) + 2, COUNT(CODE) + COUNT(lead_in) + 40):
        hits = searched(text, "light the lamp as keepers write", budget)
        check(hits, budget)
        assert any(CODE in hit.text for hit in hits), budget
        for hit in hits:  # no lead-in without what it leads in
            assert lead_in not in hit.text or CODE in hit.text


def test_of_code_larger_than_the_budget_whole_statements_are_shown() -> None:
    call = "lamp = kindle(\n    oil=5,\n    wick='lantern',\n)\n"
    code = "".join(f"other_{n} = [\n    {n},\n]\n" for n in range(40)) + call
    hits = searched(f"# Lamps\n\n```python\n{code}```\n", "lantern", 40)
    check(hits, 40)
    [hit] = [hit for hit in hits if "lantern" in hit.text]
    assert call.rstrip() in hit.text


@cases("words", ["lantern hangs", "oil dusk", "keeper"])
@cases("mark", ["#", "#:", "//"])
def test_a_comment_in_code_is_shown_with_the_line_it_tells_of(words: str, mark: str) -> None:
    told = f"{mark} the lantern hangs at the gate,\n{mark} and its oil is filled at dusk.\nlamp.keeper = None\n"
    code = "".join(f"other_{n} = {n}\n" for n in range(60))
    hits = searched(f"# Lamps\n\n```python\n{code}{told}{code}```\n", words, 60)
    check(hits, 60)
    assert any(told.rstrip() in hit.text for hit in hits)


@cases("retriever", ["multiscale", "bm25"])
def test_a_comment_between_a_heading_and_its_text_is_not_shown_and_parts_nothing(
    retriever: str,
) -> None:
    comment = "<!-- markdownlint-disable MD013 lantern lantern -->"
    said = "The lantern hangs at the gate: its oil is filled at dusk <!-- check --> by the keeper."
    text = f"{FILLER}\n\n## Lantern\n\n{comment}\n{said}\n\n{FILLER}"
    hits = searched(text, "lantern gate oil keeper", 60, retriever)
    check(hits, 60)
    [hit] = [hit for hit in hits if "hangs at the gate" in hit.text]
    assert "## Lantern\n\nThe lantern hangs at the gate: its oil is filled at dusk  by" in hit.shown
    [passage] = passages_of([hit])
    assert passage.shown == hit.shown


def test_a_table_is_handed_out_whole_where_it_fits() -> None:
    hits = searched(f"{FILLER}\n\n{TABLE}\n{FILLER}", "Ring 4", 90)
    check(hits, 90)
    assert any(TABLE.strip() in hit.text for hit in hits)


def test_of_a_table_larger_than_the_budget_rows_are_shown_with_the_header() -> None:
    rows = "".join(f"| Ring {n} of the outer gallery | {n} |\n" for n in range(200))
    hits = searched(f"| Fault | Cost |\n|---|---|\n{rows}", "Ring 150 gallery", 80)
    check(hits, 80)
    assert any("Ring 150" in hit.text for hit in hits)
    for hit in hits:
        assert hit.shown.startswith("| Fault | Cost |\n|---|---|\n|")


def test_of_a_fence_longer_than_the_budget_lines_are_shown_between_fences() -> None:
    lines = "".join(f"lantern_{n} = kindle(oil, wick={n})\n" for n in range(200))
    for closing in ("```\n", ""):  # also where it is never closed
        hits = searched(f"# Lamps\n\n```python\n{lines}{closing}", "lantern_150", 80)
        check(hits, 80)
        [hit] = [hit for hit in hits if "lantern_150" in hit.text]
        assert hit.shown.startswith("```python\n")
        assert hit.shown.endswith("\n```")


def test_a_fence_in_a_longer_fence_is_code() -> None:
    inner = "".join(f"lantern_{n} = kindle(oil)\n" for n in range(60))
    hits = searched(f"Intro.\n\n````md\n```python\n{inner}```\n````\n\n{FILLER}", "lantern_40", 80)
    check(hits, 80)
    [hit] = [hit for hit in hits if "lantern_40" in hit.text]
    assert hit.opening == "````md\n"
    assert hit.closing == "\n````"


@cases("retriever", ["multiscale", "bm25"])
def test_comments_are_not_handed_out(retriever: str) -> None:
    comment = "<!-- lantern lantern lantern: this anchor is kept for the lantern -->"
    said = "The lantern hangs at the gate and is lit at dusk by the keeper of the harbour."
    hidden = "<!--\nlantern\n\nlantern\n-->"
    text = "\n\n".join((comment, FILLER, comment, said, hidden, FILLER))
    hits = searched(text, "lantern", 60, retriever)
    check(hits, 60)
    assert any("hangs at the gate" in hit.text for hit in hits)
    assert not any("<!--" in hit.shown or "-->" in hit.shown for hit in hits)


def test_a_comment_that_is_never_closed_hides_nothing() -> None:
    blocks = WholeBlocks(markdown("<!-- open\n\nThe lantern hangs at the gate."))
    assert blocks.comments == []
    code = markdown("```html\n<!-- shown -->\n```\n")
    assert WholeBlocks(code).comments == []
    inline = markdown("A `<!--` in a line, and `-->` in the same.")
    assert WholeBlocks(inline).comments == []


@cases("part", ["```python\n", "- ", "12. ", "<!-- a -->", "---\n", "```\n"])
def test_what_says_nothing_alone_is_not_readable(part: str) -> None:
    text = "Before.\n\n" + part + ("x = 1\n```\n" if part.startswith("```p") else "")
    at = text.index(part)
    span = WholeBlocks(markdown(text)).readable(at, at + len(part))
    assert span.start == span.end


def test_a_cut_leaves_no_fence_without_its_code() -> None:
    text = f"The lamp is lit at dusk.\n\n{CODE}\n"
    for budget in range(1, COUNT(text) + 4):
        hits = searched(text, "lamp dusk", budget, "bm25")
        assert sum(COUNT(hit.shown) for hit in hits) <= budget
        for hit in hits:
            assert not hit.text.rstrip().endswith("```python")


def test_a_cut_leaves_no_lead_in_without_what_it_leads_in() -> None:
    text = f"The lamp is lit at dusk. It is red.\n\n{LIST}\n{FILLER}"
    lead_in = LIST.partition("\n")[0]
    for budget in range(12, COUNT(text[: text.index(FILLER[:9])]) + 4):
        for retriever in ("bm25", "multiscale"):
            for hit in searched(text, "lamp dusk", budget, retriever):
                assert not hit.text.rstrip().endswith(lead_in), (budget, retriever)


def test_frames_open_and_close_what_a_part_begins_and_ends_in() -> None:
    text = f"Text.\n\n  ~~~sh\n  one\n  two\n  ~~~\n\n{TABLE}"
    blocks = WholeBlocks(markdown(text))
    one, two, rows = text.index("  one"), text.index("  two"), text.index("| Ring 2")
    assert blocks.frame(one, two) == Frame("  ~~~sh\n", "  ~~~")
    assert blocks.frame(0, two - 1) == Frame("", "\n  ~~~")
    assert blocks.frame(0, len(text)) == Frame()
    assert blocks.frame(rows, len(text)) == Frame("| Fault | Cost |\n|---|---|\n", "")
    assert blocks.frame(text.index("| Fault"), len(text)) == Frame()


def test_a_filter_parts_a_block() -> None:
    text = "# One\n\nLamp:\n\n- wick one\n- wick two\n\n# Two\n\nOther wick."
    index = chunkwise.index([markdown(text)], vectors="none")
    hits = index.search("wick", budget=50, options=SearchOptions(sections=("Two",)))
    assert hits
    assert all(hit.start >= text.index("# Two") for hit in hits)


def test_a_model_reads_closed_fences_and_is_cited_by_exact_places() -> None:
    lines = "".join(f"lantern_{n} = kindle(oil, wick={n})\n" for n in range(200))
    [hit, *_] = searched(f"```python\n{lines}```\n", "lantern_150", 80)
    [passage] = passages_of([hit])
    assert passage.shown == hit.shown
    assert passage.text == hit.text
    [part] = fitting_passages([passage], 90, 10)
    assert part.end < passage.end
    assert re.search(r"\n```$", part.shown)


PARTS = [
    CODE,
    TABLE,
    LIST,
    "<!-- c -->",
    "```",
    "~~~\nx",
    "Text of the lamp.",
    "# Head",
    "````md\n```\na\n```\n````",
    "- \n1. ",
    "|a|\n|-|",
]


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(st.sampled_from(PARTS), max_size=12),
    st.integers(1, 200),
    st.sampled_from(["multiscale", "bm25"]),
)
def test_whatever_the_layout_spans_are_exact_and_the_budget_holds(
    parts: list[str], budget: int, retriever: str
) -> None:
    text = "\n\n".join(parts)
    if not text.strip():
        return
    for hit in (hits := searched(text, "lamp wick oil ring text head", budget, retriever)):
        assert hit.text == text[hit.start : hit.end]
        assert hit.text
    assert sum(COUNT(hit.shown) for hit in hits) <= budget


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=12),
    st.sampled_from(["markdown", "text", "code"]),
)
def test_an_index_stores_what_the_analysis_of_its_documents_finds(
    parts: list[str], form: str
) -> None:
    made = Document("d", "\n\n".join(parts), format=form)
    for document in (made, *(hostile_documents() if len(parts) > 11 else ())):
        source = chunkwise.index([document], vectors="none").source
        if not document.text.strip():
            continue
        found, stored = WholeBlocks(document), source.blocks(0)
        assert stored.rows.tolist() == found.rows.tolist()
        atoms = source.atom_table()
        for number, flags in enumerate(atoms.flags.tolist()):
            start, end = int(atoms.start[number]), int(atoms.end[number])
            block = found.around(start, end)
            heads = block is not None and block.body > block.start and end <= block.body
            assert bool(flags & IN_BLOCK) == (block is not None)
            assert not heads or flags & HEADS
            assert bool(flags & HIDDEN) == bool(found.comments and found.is_hidden(start, end))


def test_a_search_whose_hits_fit_analyzes_no_document(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"# Lamps\n\n<!-- c -->\n\n{FILLER}\n\n{LIST}\n{CODE}\n\n{TABLE}"
    index = chunkwise.index([markdown(text), Document("d.py", CODE, format="code")], vectors="none")
    for name in ("blocks", "lines", "sentences"):
        monkeypatch.delattr(Analyzed, name)
    for budget in (60, 200, 2000):
        assert index.search("lamp wick oil ring 4", budget=budget, retriever="multiscale")
    assert index.search("lamp wick oil ring 4", k=5, retriever="bm25")


@cases("row", [[4, 0, 0, 0, 1, 1], [0, 0, 2, 1, 3, 3], [0, 0, 0, 0, 0, 99], [0, -1, 0, 0, 1, 1]])
def test_blocks_that_cannot_be_are_damage(row: list[int]) -> None:
    with pytest.raises(ValueError, match="its blocks"):
        WholeBlocks(markdown("A lamp."), np.array([row], np.int64))


def test_hostile_documents_have_blocks_and_frames() -> None:
    for document in hostile_documents():
        blocks = WholeBlocks(document)
        size = len(document.text)
        for start, end in ((0, size), (size // 3, size // 2), (size // 2, size)):
            blocks.frame(start, end)
            span = blocks.readable(start, end)
            assert start <= span.start <= span.end <= max(end, span.start)


@cases(
    "part", ["<!-- a -->", "x <!-- ", "<!--\n", "```\n", "|a|\n|-|\n|b|\n", "- a:\n\n  ```\n  b\n"]
)
def test_time_is_linear_in_the_size_of_the_document(part: str) -> None:
    def work(times: int) -> None:
        text = part * times
        blocks = WholeBlocks(markdown(text))
        assert blocks.comments is not None
        for at in range(0, len(text), 40):
            blocks.frame(at, at + 40)
            blocks.readable(at, at + 40)

    is_linear(work, 300)


def test_an_index_made_before_is_searched_the_same_way(tmp_path: Path) -> None:
    chunkwise.index([markdown(f"{FILLER}\n\n{CODE}")], into=tmp_path / "kb", vectors="none")
    hits = chunkwise.open_index(tmp_path / "kb").search("trim wick lamp", budget=80)
    assert any(CODE in hit.text for hit in hits)
