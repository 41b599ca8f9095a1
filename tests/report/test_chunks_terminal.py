"""The terminal view is readable at any width and never obeys the text it shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias

from rich.cells import cell_len

from chunkwise.chunkers import get_strategy
from chunkwise.core import Chunk, Document
from chunkwise.report.chunks_report import chunks_report
from chunkwise.report.sanitize import one_line
from chunkwise.report.to_terminal import terminal_text
from chunkwise.text.analyzed import Analyzed
from tables import cases

Pairs: TypeAlias = "Sequence[tuple[Analyzed, list[Chunk]]]"
TEXT = "# Lamps\n\nThe lamp on the mole is lit. It burns till dawn. Two boats wait for it.\n" * 4


def shown_at(pairs: Pairs, width: int = 90, **options: Any) -> str:
    return terminal_text(chunks_report(pairs, **options), width)


def view(text: str, strategy: str = "sentences(max_tokens=20, overlap=8)", **options: Any) -> str:
    document = Analyzed(Document("lamps.md", text, format="markdown"))
    return shown_at([(document, list(get_strategy(strategy).chunks(document)))], **options)


def chunk_of(text: str, start: int, end: int) -> tuple[Analyzed, list[Chunk]]:
    document = Analyzed(Document("d", text))
    return document, [Chunk(document.document, 0, start, end, 7)]


@cases("width", [30, 60, 90, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    wide = TEXT + "潮が満ちると道は消える。" * 20 + "\U0001f44d\U0001f3fd" * 80
    lines = view(wide, width=width).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert len(lines) > 10


def test_a_chunk_shows_its_place_size_section_text_overlap_and_issues() -> None:
    shown = view(TEXT)
    assert "\n\nlamps.md\n" in shown
    assert re.search(
        r"\n1  0–\d+ · \d+ tokens · Lamps\n  Lamps|\n1  0–\d+ · \d+ tokens · Lamps\n  # Lamps",
        shown,
    )
    assert re.search(r"‹[^›]+›", shown)
    assert "! dangling start" in shown


def test_the_end_of_a_long_chunk_is_shown() -> None:
    text = f"The first word. {'Waves break. ' * 80}The last word."
    shown = " ".join(shown_at([chunk_of(text, 0, len(text))]).split())
    assert "The first word." in shown
    assert " … " in shown
    assert "The last word." in shown


def test_it_sums_up() -> None:
    shown = shown_at([chunk_of("Lit lamps.", 0, 10), chunk_of("Out now.", 0, 3)], 160).splitlines()
    assert shown[:3] == [
        "2 chunks of 2 documents", "7 to 7 tokens, median 7",
        "▼ 1 of 2 chunks (50%) has a boundary issue, at 1 cut.",
    ]  # fmt: skip
    assert shown[-1] == "1 mid sentence end."


@cases("unit", ["tokens", "words", "characters"])
def test_sizes_are_told_in_the_unit_of_the_strategy(unit: str) -> None:
    assert f"7 to 7 {unit}, median 7\n" in shown_at([chunk_of("Lit.", 0, 4)], unit=unit)


def test_one_is_not_many() -> None:
    pairs = [chunk_of("Lit.", 0, 4), chunk_of("Out.", 0, 4)]
    assert shown_at(pairs, most=1).endswith("… 1 more chunk")
    assert shown_at(pairs[:1]).startswith("1 chunk of 1 document\n")


def test_only_so_many_chunks_are_shown_but_all_are_counted() -> None:
    text = "The lamp is lit.\n\n" * 30
    shown = view(text, "sentences(max_tokens=8, overlap=0)", most=4)
    assert "… 26 more chunks" in shown
    assert "30 chunks of 1 document" in shown


def test_where_none_is_shown_there_are_no_more() -> None:
    shown = view("The lamp is lit.\n\n" * 30, "sentences(max_tokens=8, overlap=0)", most=0)
    assert shown.startswith("30 chunks of 1 document\n")
    assert "more" not in shown


def test_documents_of_one_title_are_told_apart() -> None:
    documents = [
        Analyzed(Document(name, TEXT, "The \x1b[31mlamps", format="markdown"))
        for name in ("lamps.md", "copies/lamps.md")
    ]
    chunker = get_strategy("sentences(max_tokens=20)")
    shown = shown_at([(each, list(chunker.chunks(each))[:1]) for each in documents]).splitlines()
    assert [line for line in shown if line.startswith("The lamps")] == [
        "The lamps · lamps.md", "The lamps · copies/lamps.md",
    ]  # fmt: skip


def test_no_chunks_have_no_issues_to_speak_of() -> None:
    assert shown_at([(Analyzed(Document("d", " ")), [])]) == "0 chunks of 1 document"


def test_what_is_shown_is_counted_over_all_documents() -> None:
    shown = shown_at([chunk_of(f"Lamp {n}.", 0, 7) for n in range(5)], most=2)
    assert "Lamp 1" in shown
    assert "Lamp 2" not in shown
    assert "… 3 more chunks" in shown


def test_escape_sequences_and_markup_stay_text() -> None:
    hostile = (
        "[red]bold[/red] \x1b[31mred\x1b[0m \x1b]0;owned\x07title \x9b2Jclear \x07 \u202eback [/]"
    )
    shown = view(hostile, "tokens(max_tokens=100)")
    assert "[red]bold[/red] red title clear" in shown
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown)


def test_one_line_keeps_what_is_visible() -> None:
    assert (
        one_line("a\r\n b\t\x00c\ud800 \U0001f468\u200d\U0001f469")
        == "a b c\ufffd \U0001f468\u200d\U0001f469"
    )
    assert one_line("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\") == "link"
