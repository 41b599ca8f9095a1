"""Cuts are written into the text as ¦; the chunks are what lies between them."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core import Document, Span
from chunkwise.evaluation.lint import located
from chunkwise.metrics.cuts.boundary_issues import KINDS, Issue, count_issues, find_issues
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.language import language_of
from tables import cases


def cut(marked: str, format: str = "markdown") -> tuple[Analyzed, list[Span]]:
    pieces = marked.split("¦")
    ends = [len("".join(pieces[: i + 1])) for i in range(len(pieces))]
    spans = [Span(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    return Analyzed(Document("d", "".join(pieces), format=format)), spans


def found(marked: str, format: str = "markdown") -> list[tuple[str, int]]:
    return [(issue.kind, issue.chunk) for issue in find_issues(*cut(marked, format))]


def both(kind: str) -> list[tuple[str, int]]:
    """What ends the first chunk badly begins the second one badly."""
    return [(kind, 0), (kind, 1)]


MID = [("mid_sentence_end", 0), ("mid_sentence_start", 1)]
WORD_CUT = both("mid_word")
LIST = "- flour\n- salt\n- water\n"
TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n"
CODE = "```\nx = 1\ny = 2\n```\n"


@cases(
    "marked, expected",
    [
        ("The lamp was lit. ¦The boat left.", []),
        ("The lamp was lit.¦ The boat left.", []),
        ("The lamp ¦was lit.", MID),
        ("The la¦mp was lit.", [*WORD_CUT, *MID]),
        ("It cost 3¦.14 crowns.", [*WORD_CUT, *MID]),
        ("They don¦'t sail.", [*WORD_CUT, *MID]),
        ("All of 1,¦000 crowns.", [*WORD_CUT, *MID]),
        ("Lamps, boats,¦nets and rope.", MID),
        ("潮が満¦ちる。", MID),
        ("# Lamps\n\n¦The lamp was lit.", [("orphan_heading", 0)]),
        ("Lit.\n\n# Lamps\n\n## Kinds\n¦\nTwo kinds.", [("orphan_heading", 0)]),
        ("Lit.\n\n# Lamps\n\n¦## Kinds\n\nTwo kinds.", [("orphan_heading", 0)]),
        ("# Empty\n\n¦# Lamps\n\nLit.", []),
        ("Lit.\n\n¦# Lamps\n\nTwo kinds.", []),
        (LIST.replace("- salt", "¦- salt"), both("split_list")),
        (LIST.replace("- salt", "- fine¦ salt"), [*MID, *both("split_list")]),
        (f"Take.\n\n¦{LIST}\n¦Mix well.", []),
        (f"Take these:\n\n¦{LIST}\n¦Mix well.", [("orphan_lead_in", 0)]),
        (f"**Take these:**\n\n¦{LIST}", [("orphan_lead_in", 0)]),
        (f"Run this:\n\n¦{CODE}", [("orphan_lead_in", 0)]),
        (f"Sizes:\n\n¦{TABLE}", [("orphan_lead_in", 0)]),
        ("Take these: ¦1. Flour and salt. 2. Water.", [("orphan_lead_in", 0)]),
        (
            "Do it. 1. Light it over TLS. 2. ¦Leave it. 3. Go.",
            [("orphan_number", 0), *MID, *both("split_list")],
        ),
        (
            "Do it. a) Light it. b) ¦Leave it. c) Go.",
            [("orphan_number", 0), *MID, *both("split_list")],
        ),
        ("Do it. 1. Light it. ¦2. Leave it. 3. Go.", both("split_list")),
        ("Do it. 1. Light it. 2. Leave it. 3. ¦", []),
        ("Do it. ¦1. Light it. 2. Leave it. ¦Go home.", []),
        ("Do it: 1. Light (a) one or (b) two. 2. Leave. ¦3. Go.", both("split_list")),
        ("Do: 1. Light it. 2. Leave it. ¦Go: 1. Row. 2. Land. ¦Rest.", []),
        ("He came in 2. ¦Nobody saw it.", []),
        (CODE.replace("```\n", "```\n¦", 1), [("only_marks", 0), *both("split_code")]),
        (CODE.replace("\n```\n", "\n¦```\n"), [("only_marks", 1), *both("split_code")]),
        ("Lit.\n\n¦👍\n\n¦The boat left.", []),
        (TABLE.replace("| 3", "¦| 3"), both("split_table")),
        (f"Sizes.\n\n¦{TABLE}\n¦Mix well.", []),
        (CODE.replace("y", "¦y"), both("split_code")),
        (f"Run.\n\n¦{CODE}\n¦Done.", []),
        ("The lamp was lit. ¦This took an hour.", [("dangling_start", 1)]),
        ("The lamp was lit.\n\n¦However, nobody came.", [("dangling_start", 1)]),
        ("The lamp was lit. ¦As mentioned above, lamps are lit.", [("dangling_start", 1)]),
        ("Die Lampe brannte. ¦Diese Lampe ist alt.", [("dangling_start", 1)]),
        ("Die Lampe brannte. ¦Das ist lange her.", [("dangling_start", 1)]),
        ("Die Lampe brannte. ¦Das Boot fuhr ab.", []),
        ("Die Lampe ist aus. ¦Damit ist das Boot verloren.", [("dangling_start", 1)]),
        ("Die Lampe ist aus. ¦Es brannte nicht mehr.", [("dangling_start", 1)]),
        ("La lampe est dans la tour. ¦Cela suffit pour les bateaux.", [("dangling_start", 1)]),
        ("El faro es de la isla. ¦Esto no es para los barcos.", [("dangling_start", 1)]),
        ("The lamp was lit. ¦It burned till dawn.", [("dangling_start", 1)]),
        ("The lamp was lit. ¦Thistles grow here.", []),
        ("The lamp was lit.\n\n¦# This island\n\nIt is small.", []),
        ("¦This is how it begins.", []),
        ("Cafe¦\u0301 au lait.", [*WORD_CUT, *MID, *both("broken_grapheme")]),
        ("Fine \U0001f44d¦\U0001f3fd work.", [*MID, *both("broken_grapheme")]),
        ("Lit.\r¦\nThe boat left.", []),
    ],
)
def test_each_kind(marked: str, expected: list[tuple[str, int]]) -> None:
    assert sorted(found(marked)) == sorted(expected)


@cases(
    "marked",
    [
        "Die Kosten werden erstattet. ¦Sie müssen den Antrag vorher stellen.",
        "Die Kosten werden erstattet. ¦Ihre Angaben sind nötig.",
        "Die Kosten werden erstattet. ¦Damit Sie nichts vergessen, hier eine Liste.",
        "Die Kosten werden erstattet. ¦Es ist verboten, im Haus zu rauchen.",
        "El permiso dura dos años. ¦Es necesario presentar el formulario.",
        "De dag begint vroeg. ¦Er zijn drie kamers in het huis.",
        "The lamp is old. ¦It is forbidden to smoke in the house.",
        "The lamp is old. ¦It has been known for years that lamps get old.",
        "Der Weg ist lang und die Nacht ist kurz. ¦So fuhr das Boot.",
    ],
)
def test_words_that_point_at_nothing_or_are_of_another_language(marked: str) -> None:
    assert found(marked) == []


def test_every_chunk_that_is_cut_is_told_and_every_place_counted_once() -> None:
    text = f"Take:\n\n{LIST}"
    document, at = Analyzed(Document("d", text, format="markdown")), text.index("- salt")
    water = text.index("- water")

    def told(*spans: tuple[int, int]) -> list[tuple[int, int, bool]]:
        issues = find_issues(document, [Span(*span) for span in spans])
        assert {issue.kind for issue in issues} <= {"split_list"}
        return [(issue.chunk, issue.offset, issue.again) for issue in issues]

    end = len(text)
    assert told((0, at), (at, end)) == [(0, at, False), (1, at, True)]
    # White space between the chunks does not make it another place.
    assert told((0, at - 1), (at, end)) == [(0, at - 1, False), (1, at, True)]
    # Chunks that overlap have one cut between them, with two edges.
    assert told((0, water), (at, end)) == [(0, water, False), (1, at, True)]
    assert told((0, at), (0, at), (at, end)) == [(0, at, False), (1, at, True), (2, at, True)]
    assert told((at, end), (0, at)) == [(0, at, True), (1, at, False)]
    # A chunk without text has one place, not two.
    assert told((0, at), (at - 1, at), (at, end)) == [
        (0, at, False),
        (1, at, True),
        (2, at, True),
    ]


def test_a_line_is_the_unit_of_source_code() -> None:
    assert found("x = 1\n¦y = 2\n", "code") == []
    assert sorted(found("x = 1\ny =¦ 2\n", "code")) == MID


def test_an_issue_shows_the_text_around_the_cut() -> None:
    document, spans = cut("a" * 60 + "¦" + "b" * 60)
    issue = next(i for i in find_issues(document, spans) if i.kind == "mid_word")
    assert (issue.chunk, issue.offset, issue.before, issue.after) == (0, 60, "a" * 40, "b" * 40)
    assert set(KINDS) > {issue.kind}


def test_overlaps_and_gaps_are_judged_by_their_own_edges() -> None:
    document = Analyzed(Document("d", "One lamp is lit. Two lamps are out. Three boats left."))
    spans = [Span(0, 35), Span(17, 53), Span(4, 8), Span(17, 53)]
    kinds = [(issue.kind, issue.chunk, issue.offset) for issue in find_issues(document, spans)]
    assert kinds == [("mid_sentence_start", 2, 4), ("mid_sentence_end", 2, 8)]


def test_nothing_to_cut() -> None:
    assert find_issues(Analyzed(Document("d", "")), [Span(0, 0)]) == []
    assert find_issues(Analyzed(Document("d", " \n ")), [Span(0, 1), Span(1, 3)]) == []
    assert find_issues(Analyzed(Document("d", "Lit.")), []) == []


WORD = "[a-zA-Z0-9é\u0301]"
WORDS = re.compile(rf"{WORD}+(?:(?:['’._-]|(?<=[0-9]),(?=[0-9])){WORD}+)*")
PARTS = ["a", "Boat", "7", "é", "e\u0301", "'", ".", ",", "-", " ", ". ", "\n", "\n\n", "漢", "ก",
         "\U0001f44d\U0001f3fd", "- item\n", "# Top\n", "This "]  # fmt: skip


@st.composite
def cuttings(draw: st.DrawFn) -> tuple[Analyzed, list[Span]]:
    text = "".join(draw(st.lists(st.sampled_from(PARTS), max_size=30)))
    place = st.integers(0, len(text))
    pairs = draw(st.lists(st.tuples(place, place), max_size=6))
    return Analyzed(Document("d", text, format="markdown")), [Span(*sorted(p)) for p in pairs]


def gap(text: str, at: int) -> tuple[int, int] | None:
    """The place between the characters around a cut; None at the document's own edges."""
    left, right = len(text[:at].rstrip()), len(text) - len(text[at:].lstrip())
    return None if left == 0 or right >= len(text) else (left, right)


def naive_mid_sentence(document: Analyzed, at: int) -> bool:
    place = gap(document.text, at)
    if place is None:
        return False
    left, right = place
    inside = any(
        b[1] < left and right < b[2]
        for b in map(document.blocks.__getitem__, range(len(document.blocks)))
    )
    return inside and not any(left <= start <= right for start in document.sentences.tolist())


def naive_repeated(document: Analyzed, before: Span, at: int) -> bool:
    """Whether the chunk before holds the sentence whole that a cut falls in."""
    text, starts = document.text, [*document.sentences.tolist(), len(document.text)]
    right = len(text) - len(text[at:].lstrip())
    for start, end in pairwise(starts):
        if start <= right < end:
            return before.start <= start and len(text[:end].rstrip()) <= before.end
    return False


def naive_mid_word(document: Analyzed, at: int) -> bool:
    text = document.text
    if gap(text, at) != (at, at) or at in document.sentences:
        return False
    return any(word.start() < at < word.end() for word in WORDS.finditer(text))


@given(cuttings())
def test_sentences_agree_with_a_naive_reading(cutting: tuple[Analyzed, list[Span]]) -> None:
    document, spans = cutting
    issues = {(i.kind, i.chunk) for i in find_issues(document, spans)}
    for number, span in enumerate(spans):
        for kind, at in (("mid_sentence_end", span.end), ("mid_sentence_start", span.start)):
            wrong = naive_mid_sentence(document, at)
            if kind == "mid_sentence_start" and number:
                wrong &= not naive_repeated(document, spans[number - 1], at)
            assert ((kind, number) in issues) == wrong


def naive_cut(text: str, spans: list[Span], number: int, is_start: bool) -> int:
    """The edge itself, or the end of the chunk before that holds the start; white space before it moves no cut."""
    own, before = spans[number], spans[number - 1]
    at = own.start if is_start else own.end
    if is_start and number and before.start <= own.start < before.end:
        at = before.end
    return len(text[:at].rstrip())


@given(cuttings())
def test_words_agree_with_a_naive_reading_and_each_cut_is_counted_once(
    cutting: tuple[Analyzed, list[Span]],
) -> None:
    document, spans = cutting
    issues = [i for i in find_issues(document, spans) if i.kind == "mid_word"]
    cuts = {
        naive_cut(document.text, spans, number, is_start)
        for number, span in enumerate(spans)
        for is_start, at in ((True, span.start), (False, span.end))
        if naive_mid_word(document, at)
    }
    assert sum(not i.again for i in issues) == len(cuts)
    told = []
    for number, span in enumerate(spans):
        # A chunk that ends where the one before it does has both of its edges at one place, told by its end.
        places = {
            naive_cut(document.text, spans, number, is_start): at
            for is_start, at in ((True, span.start), (False, span.end))
            if naive_mid_word(document, at)
        }
        told += [(number, at) for at in sorted(places.values())]
    assert [(i.chunk, i.offset) for i in issues] == told


@given(cuttings())
def test_every_issue_lies_at_an_edge_of_its_chunk(cutting: tuple[Analyzed, list[Span]]) -> None:
    document, spans = cutting
    issues = find_issues(document, spans)
    for issue in issues:
        assert issue.offset in spans[issue.chunk]
        assert document.text[: issue.offset].endswith(issue.before)
        assert document.text[issue.offset :].startswith(issue.after)
    order = [(issue.chunk, issue.offset) for issue in issues]
    assert order == sorted(order)


@given(cuttings())
def test_counted_are_the_places_and_chunks_that_are_told(
    cutting: tuple[Analyzed, list[Span]],
) -> None:
    document, spans = cutting
    issues = find_issues(document, spans)
    counts, chunks, cuts = count_issues(document, spans, language_of(document.document))
    assert list(counts) == list(KINDS)
    assert counts == {kind: sum(i.kind == kind and not i.again for i in issues) for kind in KINDS}
    assert chunks == len({issue.chunk for issue in issues})
    assert cuts == len({issue.cut for issue in issues})


def place(document: Document, offset: int) -> tuple[int | None, int | None, int | None]:
    (found,) = located(Analyzed(document), [Issue("mid_word", 0, offset, "", "")])
    return found.line, found.column, found.page


@given(st.text(st.sampled_from("ab\n\r\v\x85\u2028é🙂"), min_size=1, max_size=30), st.data())
def test_equal_to_a_naive_count(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    document = Document("d.txt", text, source="in/d.txt")
    before = [match for match in re.finditer("\r\n|\r|\n", text) if match.end() <= offset]
    start = before[-1].end() if before else 0
    assert place(document, offset) == (len(before) + 1, offset - start + 1, None)


@cases(
    "document, expected",
    [
        (Document("d.md", "a\nbc", source="in/d.md", format="markdown"), (2, 2, None)),
        (Document("in/d.py", "a\nbc", source="/home/in/d.py", format="code"), (2, 2, None)),
        (Document("d.html", "a\nbc", source="in/d.html", format="html"), (None, None, None)),
        (Document("d.pdf", "a\nbc", source="d.pdf", format="pdf", pages=(0, 2)), (None, None, 2)),
        # A record: its text is no part of its file, as it stands there.
        (Document("d.md", "a\nbc", source="corpus.jsonl", format="markdown"), (None, None, None)),
        (Document("c.jsonl#1", "a\nbc", source="in/c.jsonl"), (None, None, None)),
    ],
)
def test_only_texts_that_are_their_file_have_lines(
    document: Document, expected: tuple[int | None, int | None, int | None]
) -> None:
    assert place(document, 3) == expected


def test_no_issue_is_no_work() -> None:
    assert located(Analyzed(Document("d.txt", "", source="d.txt")), []) == []


def test_an_opening_that_repeats_a_sentence_the_chunk_before_holds_whole_is_no_issue() -> None:
    text = "The lamp was lit, and the boat left. Nobody came."
    document, middle = Analyzed(Document("d", text)), text.index("and the boat")
    behind = text.index(" Nobody")
    assert find_issues(document, [Span(0, behind), Span(middle, len(text))]) == []
    # Where no chunk holds the sentence whole, both edges tell.
    kinds = [issue.kind for issue in find_issues(document, [Span(0, middle + 3), Span(middle, 49)])]
    assert kinds == ["mid_sentence_end", "mid_sentence_start"]


def test_a_list_the_chunk_before_holds_whole_is_not_split_by_an_overlap() -> None:
    text = f"Take.\n\n{LIST}\nMix well."
    document, water = Analyzed(Document("d", text, format="markdown")), text.index("- water")
    assert find_issues(document, [Span(0, water + 7), Span(water, len(text))]) == []
