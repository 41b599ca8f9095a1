"""The report of a search: where each hit is from, what is marked, and which lines of it are shown."""

from __future__ import annotations

import pytest

from chunkwise.core import Document, Hit
from chunkwise.report import search_report as module
from chunkwise.report.report import Excerpt, Report
from chunkwise.report.search_report import search_report
from chunkwise.report.to_terminal import terminal_text

TEXT = "# Leave\n\nAsk for leave in writing.\nIt is paid.\n"


def hit(text: str = TEXT, score: float = 1.0, rank: int = 1, **about: object) -> Hit:
    document = Document("leave.md", text, title="Leave", format="markdown", **about)  # type: ignore[arg-type]
    return Hit(document, 0, len(text), score, rank, 12, ("Leave", "Asking"))


def excerpts(report: Report) -> list[Excerpt]:
    return [part for part in report.parts if isinstance(part, Excerpt)]


def text_of(excerpt: Excerpt) -> str:
    return "".join(run.text for run in excerpt.runs)


def test_a_hit_says_where_it_is_from() -> None:
    hits = [hit(score=0.5, rank=2), hit(pages=(0, 20))]
    report = search_report(hits, "paid leave", next_command="chunkwise ask kb leave")
    first, second = excerpts(report)
    assert first.title == "1. Asking"
    assert first.place == f"score 1.00 · leave.md · pages 1–2 · 0–{len(TEXT)}"
    assert second.place.startswith("score 0.5 · ")
    assert report.subtitle == "2 hits · 24 tokens · 1 document"
    assert "12 tokens" in excerpts(search_report(hits, "paid leave", is_whole=True))[0].place


def test_a_hit_knows_its_pages() -> None:
    assert (hit(pages=(0, 20)).page, hit(pages=(0, 20)).last_page) == (1, 2)
    assert hit(pages=(0,)).last_page == 1
    assert hit().last_page is None
    assert hit(pages=(0, len(TEXT))).last_page == 1  # it ends where the next page begins
    assert " · page 1 · " in terminal_text(search_report([hit(pages=(0,))], "x"))


def test_words_are_marked_in_every_form() -> None:
    report = search_report([hit("The lamps were lit. A lamp is lit.")], "lighting the lamp")
    assert [run.text for run in excerpts(report)[0].runs if run.mark] == ["lamps", "lamp"]


def test_words_are_found_once_a_question_and_once_a_hit(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many languages an index was read in."""
    counts = {"query_terms": 0, "words_of": 0}

    def counted(name: str) -> None:
        work = getattr(module, name)

        def counting(*values: object) -> object:
            counts[name] += 1
            return work(*values)

        monkeypatch.setattr(module, name, counting)

    for name in counts:
        counted(name)
    hits = [hit(rank=rank) for rank in range(1, 6)]
    report = search_report(hits, "who decides on leave?", languages=("en", "de", "none"))
    assert all(any(run.mark for run in excerpt.runs) for excerpt in excerpts(report))
    assert counts == {"query_terms": 1, "words_of": 5}


def test_lines_of_code_in_prose_stay_lines_and_keep_their_indentation() -> None:
    long = "kindle_the_lamp_of_the_keeper(oil=5, wick='of cotton', light='red')"
    code = f"```python\ndef light():\n    {long}\nanother_call_of_the_lamp()\n```"
    prose = "A sentence that was broken to fit the width of a page of a book\nand goes on."
    report = search_report([hit(f"{prose}\n\n{code}\n\n{prose}\n")], "lamp", is_whole=True)
    shown = text_of(excerpts(report)[0])
    assert code in shown
    assert shown.count("of a book and goes on.") == 2


def test_of_a_long_text_the_lines_that_answer_are_shown() -> None:
    text = "\n".join(f"- line {n}" for n in range(30)) + "\n- the lamp\n" + "- more\n" * 30
    assert text_of(excerpts(search_report([hit(text)], "lamp"))[0]) == (
        "… - the lamp\n- more\n- more …"
    )
    assert "line 0\n" in text_of(excerpts(search_report([hit(text)], "lamp", is_whole=True))[0])


def test_five_hits_fit_on_a_screen() -> None:
    long = "The keeper of the lamp writes the hours of light and of darkness in a book. " * 20
    hits = [hit(f"{long}\n\n{TEXT}{long}", rank=rank) for rank in range(1, 6)]
    shown = terminal_text(search_report(hits, "leave in writing", next_command="chunkwise ask"), 80)
    assert len(shown.splitlines()) <= 25
    assert shown.count("Ask for leave in writing.") == 5
    assert shown.splitlines()[-1] == "Next  chunkwise ask"


def test_nothing_found() -> None:
    assert terminal_text(search_report([], "x", next_command="y")) == "x\nNothing found."
