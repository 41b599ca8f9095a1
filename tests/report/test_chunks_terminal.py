"""The terminal view is readable at any width and never obeys the text it shows."""

from __future__ import annotations

import re

from rich.cells import cell_len

from chunkwise.chunkers import get_strategy
from chunkwise.core import Chunk, Document
from chunkwise.report.print_chunks import render_chunks
from chunkwise.report.sanitize import one_line
from chunkwise.text.analyzed import Analyzed
from tables import cases

TEXT = "# Lamps\n\nThe lamp on the mole is lit. It burns till dawn. Two boats wait for it.\n" * 4


def view(
    text: str, strategy: str = "sentences(max_tokens=20, overlap=8)", **options: object
) -> str:
    document = Analyzed(Document("lamps.md", text, format="markdown"))
    chunks = list(get_strategy(strategy).chunks(document))
    settings: dict[str, object] = {"width": 90, "color": False, **options}
    return "".join(render_chunks([(document, chunks)], **settings))  # type: ignore[arg-type]


def chunk_of(text: str, start: int, end: int) -> tuple[Analyzed, list[Chunk]]:
    document = Analyzed(Document("d", text))
    return document, [Chunk(document.document, 0, start, end, 7)]


@cases("width", [30, 60, 90, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    wide = TEXT + "潮が満ちると道は消える。" * 20 + "\U0001f44d\U0001f3fd" * 80
    lines = view(wide, width=width, limit=20).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert len(lines) > 10


def test_a_chunk_shows_its_place_size_section_text_overlap_and_issues() -> None:
    shown = view(TEXT, limit=40)
    assert shown.startswith("lamps.md\n")
    assert re.search(r"1 +0–\d+ +\d+ ━{2,7}─{1,6}  Lamps\n", shown)
    assert re.search(r"‹[^›]+›", shown)
    assert "! dangling start" in shown


def test_the_last_line_sums_up() -> None:
    shown = "".join(
        render_chunks(
            [chunk_of("Lit lamps.", 0, 10), chunk_of("Out now.", 0, 3)], width=160, color=False
        )
    )
    assert shown.splitlines()[-4:] == [
        "2 chunks of 2 documents", "7 to 7 tokens, median 7",
        "▼ 1 of 2 chunks (50%) begins or ends badly, at 1 cut.", "1 mid sentence end.",
    ]  # fmt: skip


@cases("unit", ["tokens", "words", "characters"])
def test_sizes_are_told_in_the_unit_of_the_strategy(unit: str) -> None:
    shown = "".join(render_chunks([chunk_of("Lit.", 0, 4)], width=120, color=False, unit=unit))
    assert f"7 to 7 {unit}, median 7\n" in shown


def test_one_is_not_many() -> None:
    pairs = [chunk_of("Lit.", 0, 4), chunk_of("Out.", 0, 4)]
    assert "… 1 more chunk\n" in "".join(render_chunks(pairs, width=90, color=False, most=1))
    alone = "".join(render_chunks(pairs[:1], width=90, color=False))
    assert "1 chunk of 1 document\n" in alone


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
        for name in ("lamps.md", "copies/lamps.md", "a\x07very long name/" * 4)
    ]
    chunker = get_strategy("sentences(max_tokens=20)")
    pairs = [(each, list(chunker.chunks(each))[:1]) for each in documents]
    shown = "".join(render_chunks(pairs, width=60, color=False)).splitlines()
    assert [line for line in shown if line.startswith("The lamps")] == [
        "The lamps · lamps.md", "The lamps · copies/lamps.md", "The lamps",
    ]  # fmt: skip
    assert shown[shown.index("The lamps") + 1].startswith("avery long name/avery long name/")


def test_no_chunks_have_no_issues_to_speak_of() -> None:
    empty = Analyzed(Document("d", " "))
    assert list(render_chunks([(empty, [])], width=90, color=False)) == ["0 chunks of 1 document\n"]


def test_what_is_shown_is_counted_over_all_documents() -> None:
    pairs = [chunk_of(f"Lamp {n}.", 0, 7) for n in range(5)]
    shown = "".join(render_chunks(pairs, width=90, color=False, most=2))
    assert "Lamp 1" in shown
    assert "Lamp 2" not in shown
    assert "… 3 more chunks" in shown


@cases("color", [False, True])
def test_escape_sequences_and_markup_stay_text(color: bool) -> None:
    hostile = (
        "[red]bold[/red] \x1b[31mred\x1b[0m \x1b]0;owned\x07title \x9b2Jclear \x07 \u202eback [/]"
    )
    shown = view(hostile, "tokens(max_tokens=100)", color=color)
    own = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "[red]bold[/red] red title clear" in own
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", own)
    assert "\x1b[31mred" not in shown


def test_one_line_keeps_what_is_visible() -> None:
    assert (
        one_line("a\r\n b\t\x00c\ud800 \U0001f468\u200d\U0001f469")
        == "a b c\ufffd \U0001f468\u200d\U0001f469"
    )
    assert one_line("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\") == "link"
