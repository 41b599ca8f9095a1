"""Title and section path beside a chunk, never in it."""

from dataclasses import replace

from chunkwise import Document
from chunkwise.chunkers.context_from_headings import with_headings
from chunkwise.core import Chunk
from chunkwise.ext import get_strategy
from chunkwise.text.analyzed import Analyzed
from tables import cases

TEXT = "# Yard\n\nWelcome.\n\n## Leave\n\nAsk in writing.\n"


def placed(text: str, title: str, spec: str = "paragraphs") -> tuple[list[Chunk], list[Chunk]]:
    analyzed = Analyzed(Document("x", text, title=title, format="markdown"))
    chunks = list(get_strategy(spec).chunks(analyzed))
    return chunks, with_headings(chunks, analyzed)


def test_the_path_is_told_with_the_title() -> None:
    before, after = placed(TEXT, "Handbook")
    assert [chunk.context for chunk in after] == ["Handbook > Yard", "Handbook > Yard > Leave"]
    assert [chunk.text for chunk in after] == [chunk.text for chunk in before]
    assert [(c.id, c.start, c.end, c.token_count) for c in after] == [
        (c.id, c.start, c.end, c.token_count) for c in before
    ]
    assert after[1].index_text == "Handbook > Yard > Leave\n## Leave\n\nAsk in writing."


def test_a_title_that_is_the_first_heading_is_told_once() -> None:
    for title in ("Yard", "YARD", " Yard "):
        _, after = placed(TEXT, title)
        assert after[1].context in ("Yard > Leave", "YARD > Leave")


def test_without_a_title_and_without_headings() -> None:
    _, after = placed(TEXT, "")
    assert after[0].context == "Yard"
    before, after = placed("Plain text.", "")
    assert after == before
    _, after = placed("Plain text.", "A letter\nfrom home")
    assert after[0].context == "A letter from home"


def test_the_header_of_a_table_stays_on_a_line_of_its_own() -> None:
    header = "| lamp | color |\n|---|---|"
    rows = "\n".join(f"| lamp {n} | color {n} |" for n in range(40))
    before, after = placed(f"# Lamps\n\n{header}\n{rows}\n", "", "structure(max_tokens=80)")
    assert before[-1].context == header
    assert after[-1].context == f"Lamps\n{header}"


@cases("name", ["sentences", "sections", "recursive", "tokens", "structure"])
def test_rows_have_the_header_of_their_table_once_whatever_cut_them(name: str) -> None:
    header = "| gradecode | wages |\n|---|---|"
    rows = "\n".join(f"| grade {n} | {n} pounds and some pence |" for n in range(60))
    text = (
        f"# Guide\n\n## Grades\n\n{header}\n{rows}\n\nThat is all.\n\n| other |\n|---|\n| row |\n"
    )
    before, after = placed(text, "", f"{name}(max_tokens=60)")
    assert len(after) > 9
    for one, chunk in zip(before, after, strict=True):
        inside = text.index("grade 0") <= chunk.start < text.index("That is")
        assert chunk.text == one.text
        assert chunk.context.startswith("Guide")
        assert (chunk.context == f"Guide > Grades\n{header}") == inside
        assert chunk.context.count("wages") == inside


def test_a_header_that_is_longer_than_a_page_is_left_out() -> None:
    header = f"| {'very ' * 300} long |\n|---|"
    rows = "\n".join(f"| row {n} |" for n in range(60))
    _, after = placed(f"# Guide\n\n{header}\n{rows}\n", "", "sentences(max_tokens=60)")
    assert after[-1].context == "Guide"


def test_a_header_is_not_taken_for_part_of_a_line() -> None:
    text = "| id |\n|---|\n| 7 |\n| 8 |\n"
    analyzed = Analyzed(Document("x", text, format="markdown"))
    chunk = list(get_strategy("sentences(max_tokens=5, overlap=0)").chunks(analyzed))[-1]
    for told, expected in (("a | id |\n|---|---", 2), ("| id |\n|---|", 1)):
        [after] = with_headings([replace(chunk, context=told)], analyzed)
        assert after.context.count("| id |") == expected
