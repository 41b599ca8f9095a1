"""Hits on a screen: what is marked, what is left out, and that no text can do more than show."""

import io

import pytest
from rich.console import Console

from chunkwise.core import Document, Hit
from chunkwise.report.terminal.hits import render_hits
from chunkwise.report.views import hits
from chunkwise.report.views.hits import hits_view

TEXT = "# Leave\n\nAsk for leave in writing.\nIt is paid.\n"


def drawn(
    hits: list[Hit], question: str, *, width: int = 60, color: bool = False, full: bool = False
) -> str:
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=color, color_system="standard" if color else None
    )
    render_hits(hits_view(hits, question), console, full=full)
    return out.getvalue()


def hit(text: str = TEXT, score: float = 1.0, rank: int = 1, **about: object) -> Hit:
    document = Document("leave.md", text, title="Leave", format="markdown", **about)  # type: ignore[arg-type]
    return Hit(document, 0, len(text), score, rank, 12, ("Leave", "Asking"))


def test_a_hit_says_where_it_is_from() -> None:
    shown = drawn([hit(pages=(0, 20)), hit(score=0.5, rank=2)], "paid leave")
    first, section, place, *_ = shown.splitlines()
    assert first == " 1  ████████ 1.000  Leave"
    assert section == "    Asking"
    assert place == f"    leave.md · pages 1–2 · 0–{len(TEXT)} · 12 tokens"
    assert " 2  ████     0.500  Leave" in shown
    assert "    Ask for leave in writing.\n" in shown
    assert shown.splitlines()[-1] == "2 hits · 24 tokens · 1 document"


def test_a_hit_knows_its_pages() -> None:
    assert (hit(pages=(0, 20)).page, hit(pages=(0, 20)).last_page) == (1, 2)
    assert hit(pages=(0,)).last_page == 1
    assert hit().last_page is None
    assert hit(pages=(0, len(TEXT))).last_page == 1  # it ends where the next page begins
    assert " · page 1 · " in drawn([hit(pages=(0,))], "x")


def test_words_are_marked_in_every_form() -> None:
    shown = drawn([hit("The lamps were lit. A lamp is lit.")], "lighting the lamp", color=True)
    assert shown.count("\x1b[1;33mlamp") == 2
    assert "\x1b[1;33mThe" not in shown


def test_words_are_found_once_a_question_and_once_a_hit(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many languages an index was read in."""
    counts = {"query_terms": 0, "words_of": 0}

    def counted(name: str) -> None:
        work = getattr(hits, name)

        def counting(*values: object) -> object:
            counts[name] += 1
            return work(*values)

        monkeypatch.setattr(hits, name, counting)

    for name in counts:
        counted(name)
    found = [hit(rank=rank) for rank in range(1, 6)]
    view = hits_view(found, "who decides on leave?", languages=("en", "de", "none"))
    assert all(card.marks for card in view.hits)
    assert counts == {"query_terms": 1, "words_of": 5}


def test_lines_of_code_in_prose_stay_lines_and_keep_their_indentation() -> None:
    long = "kindle_the_lamp_of_the_keeper(oil=5, wick='of cotton', light='red')"
    code = f"```python\ndef light():\n    {long}\nanother_call_of_the_lamp()\n```"
    prose = "A sentence that was broken to fit the width of a page of a book\nand goes on."
    shown = drawn([hit(f"{prose}\n\n{code}\n\n{prose}\n")], "lamp", width=100, full=True)
    for line in code.splitlines():
        assert f"    {line}\n" in shown
    assert shown.count("of a book and goes on.") == 2


def test_of_a_long_text_the_part_that_answers_is_shown() -> None:
    text = "\n".join(f"- line {n}" for n in range(30)) + "\n- the lamp\n" + "- more\n" * 30
    shown = drawn([hit(text)], "lamp")
    assert "the lamp" in shown
    assert "line 0\n" not in shown
    assert "… 23 lines before" in shown
    assert "… 30 more lines" in shown
    assert "line 0\n" in drawn([hit(text)], "lamp", full=True)


def test_lines_broken_to_fit_a_page_flow_again_but_lists_do_not() -> None:
    long = "A keeper who has been on the tower for more than sixty nights"
    shown = drawn([hit(f"{long}\nmay leave.\n- one\n- two")], "x", width=100)
    assert f"    {long} may leave.\n    - one\n    - two\n" in shown


def test_nothing_found_and_scores_below_zero() -> None:
    assert drawn([], "x") == "nothing found\n"
    assert " 1           -2.000  Leave" in drawn([hit(score=-2.0)], "x")


def test_text_cannot_draw() -> None:
    text = "\x1b[31mred\x1b[0m [bold]x[/bold] :smile: \u202e\x07\x00\ud800 lamp"
    shown = drawn([hit(text)], "lamp [red]", width=80)
    assert "[bold]x[/bold] :smile:" in shown
    assert not set("\x1b\u202e\x07\x00\ud800") & set(shown)


def test_code_keeps_its_indentation() -> None:
    text = "def lamp():\n    if dark:\n\tlight()\n"
    hit = Hit(Document("a.py", text, format="code"), 0, len(text), 1.0, 1, 9)
    console = Console(file=io.StringIO(), width=60)
    render_hits(hits_view([hit], "lamp"), console)
    assert "    def lamp():\n        if dark:\n        light()\n" in console.file.getvalue()
