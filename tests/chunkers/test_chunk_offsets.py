"""Where chunks of others say they stand: what a record states, and a plain reading of what is made of it."""

from itertools import groupby, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chunkwise.chunkers import chunk_offsets
from chunkwise.chunkers.chunk_offsets import (
    KINDS,
    StatedChunk,
    StatedId,
    StatedPlace,
    document_of,
    find_in_own,
    find_texts,
    positions,
    shown_offset,
    stated_id,
    stated_place,
    summary,
    wrong_offset,
)
from chunkwise.core import Document, Span
from chunkwise.documents.document_ids import DocumentNames
from how_many import examples
from tables import cases

TEXT = "Write to us. The lamp is lit. Write to us. The door is shut. Write to us."
TEXTS = [Document("d", TEXT)]


def kind(start: int | None, end: int | None, text: str | None, doc_id: str = "d") -> str:
    return positions([StatedChunk(doc_id, start, end, text)], TEXTS)[0].kind


def test_each_kind_of_offset() -> None:
    lamp = TEXT.index("The lamp")
    assert kind(lamp, lamp + 16, "The lamp is lit.") == "exact"
    assert kind(lamp, None, "The lamp is lit.") == "exact"
    assert kind(None, None, "The lamp is lit.") == "no_offsets"
    assert kind(-1, None, "The lamp is lit.") == "negative"
    assert kind(5000, 5016, "The lamp is lit.") == "outside"
    assert kind(len(TEXT) - 3, None, "The lamp is lit.") == "outside"
    assert kind(lamp + 1, lamp + 17, "The lamp is lit.") == "shifted"
    assert kind(lamp, lamp + 15, "The lamp is lit.") == "shifted", "an end that is included"
    assert kind(lamp, lamp + 17, "The lamp  is lit.") == "changed"
    assert kind(lamp, lamp + 16, "The lamp is lit.", "other") == "unknown_document"
    assert kind(lamp, lamp + 16, None) == "no_text"
    assert kind(9, 9, None) == "outside"
    assert kind(None, 16, None) == "no_offsets"


def test_the_verdict_says_where_the_text_stands() -> None:
    verdict = positions([StatedChunk("d", 3, 19, "The lamp is lit.")], TEXTS)[0]
    assert verdict.place == Span(13, 29)
    assert verdict.detail == "3–19; the text is at 13–29"


def test_texts_without_offsets_are_found_in_their_order() -> None:
    texts = [
        "Write to us.",
        "The lamp is lit.",
        "Write to us.",
        "The door is shut.",
        "Write to us.",
    ]
    found = positions([StatedChunk("d", None, None, text) for text in texts], TEXTS)
    assert [verdict.place.start for verdict in found if verdict.place] == [0, 13, 30, 43, 61]


def test_a_repeated_text_at_another_of_its_places_is_misplaced() -> None:
    """LangChain's fault: the text is at the offset, only it is not that chunk's."""
    rows = [(0, "Write to us."), (13, "The lamp is lit."), (61, "Write to us."), (43, "The door is shut."),
            (61, "Write to us.")]  # fmt: skip
    found = positions([StatedChunk("d", start, None, text) for start, text in rows], TEXTS)
    assert [verdict.kind for verdict in found] == ["exact", "exact", "misplaced", "exact", "exact"]
    assert found[2].place == Span(30, 42)


def test_chunks_in_a_row_that_all_claim_the_first_occurrence_are_misplaced() -> None:
    line, end = "Same line here.\n", "End."
    text = "Intro one. " + line * 400 + end
    rows = [(0, "Intro one. "), *[(11, line * 6)] * 66, (len(text) - 4, end)]
    found = positions(
        [StatedChunk("d", start, None, part) for start, part in rows], [Document("d", text)]
    )
    assert [verdict.kind for verdict in found] == ["exact"] * 2 + ["misplaced"] * 65 + ["exact"]
    places = [verdict.place.start for verdict in found if verdict.place]
    assert places[1:-1] == [11 + 96 * n for n in range(66)]


def test_a_chunk_written_twice_is_where_it_says() -> None:
    rows = [(0, "Write to us."), (13, "The lamp is lit."), (13, "The lamp is lit."), (30, "Write to us."),
            (30, "Write to us."), (43, "The door is shut.")]  # fmt: skip
    found = positions([StatedChunk("d", start, None, text) for start, text in rows], TEXTS)
    assert {verdict.kind for verdict in found} == {"exact"}


def test_a_file_in_another_order_is_not_suspected() -> None:
    rows = [(43, "The door is shut."), (0, "Write to us."), (30, "Write to us."), (13, "The lamp is lit."),
            (61, "Write to us."), (13, "The lamp"), (43, "The door")]  # fmt: skip
    found = positions([StatedChunk("d", start, None, text) for start, text in rows], TEXTS)
    assert {verdict.kind for verdict in found} == {"exact"}


def test_the_summary_counts_every_kind_and_leaves_out_what_has_no_text() -> None:
    rows = [
        StatedChunk("d", 0, 12, "Write to us."),
        StatedChunk("d", -1, None, "The lamp"),
        StatedChunk("d", 0, 4, None),
    ]
    found = summary(positions(rows, TEXTS))
    assert found.score.value == 0.5
    assert set(found.counts) == set(KINDS)
    assert (found.counts["exact"], found.counts["negative"], found.counts["no_text"]) == (1, 1, 1)
    assert found.examples == {"negative": (1,), "no_text": (2,)}


def test_nothing_to_compare_is_no_score() -> None:
    assert summary([]).score.value is None
    assert summary(positions([StatedChunk("d", 0, 4, None)], TEXTS)).score.value is None


@given(st.text("ab \u0301😀", max_size=30), st.data())
def test_true_offsets_are_exact_and_places_always_hold_the_text(
    text: str, data: st.DataObject
) -> None:
    size = len(text)
    offsets = st.one_of(st.none(), st.integers(-2, size + 2))
    rows = []
    for _ in range(data.draw(st.integers(0, 6))):
        low = data.draw(st.integers(0, size))
        high = data.draw(st.integers(low, size))
        part = data.draw(st.sampled_from([text[low:high], "b" + text[low:high]]))
        start = data.draw(st.one_of(st.just(low), offsets))
        rows.append(StatedChunk("d", start, data.draw(st.one_of(st.just(high), offsets)), part))
    for row, verdict in zip(rows, positions(rows, [Document("d", text)]), strict=True):
        said = text[row.start : row.end] if row.start is not None and row.start >= 0 else None
        ends = row.end is None or (row.start or 0) + len(row.text or "") == row.end
        if row.end is None and said is not None:
            said = text[row.start :][: len(row.text or "")]
        if row.text and not row.text.isspace():
            assert (verdict.kind in ("exact", "misplaced")) == (said == row.text and ends)
            assert (
                verdict.place is None or text[verdict.place.start : verdict.place.end] == row.text
            )
            assert (verdict.place is None) == (row.text not in text)


Row = tuple[int | None, int | None, str]
Verdict = tuple[str, Span | None]


def naive(rows: list[Row], text: str) -> list[Verdict]:
    """What is said of each chunk of one document, from lists of all the places of its text."""
    found: list[Verdict] = []
    spots = [
        [at for at in range(len(text)) if part and text.startswith(part, at)] for *_, part in rows
    ]
    behind = 0
    for (start, end, part), own in zip(rows, spots, strict=True):
        last = (start or 0) + len(part) if end is None else end
        fault = ""
        if start is None:
            fault = "no_offsets"
        elif start < 0 or last < 0:
            fault = "negative"
        elif not start < last <= len(text):
            fault = "outside"
        if not part:
            place = None if fault or start is None or end is None else Span(start, end)
            found.append((fault or "no_text", place))
        elif not fault and start in own and last == start + len(part):
            found.append(("exact", Span(start, last)))
        elif own:
            at = next((at for at in own if at >= behind), own[0])
            found.append((fault or "shifted", Span(at, at + len(part))))
        else:
            found.append(("changed", None))
        behind = behind if (place := found[-1][1]) is None else place.start + 1
    # Those with a text that stands somewhere.
    numbers = [n for n, (*_, part) in enumerate(rows) if part and found[n][1] is not None]

    def place_of(n: int) -> Span:
        place = found[n][1]
        assert place is not None
        return place

    groups = [list(group) for _, group in groupby(numbers, lambda n: (place_of(n), rows[n][2]))]
    begun = [place_of(group[0]) for group in groups]
    for at, group in enumerate(groups):
        limit = begun[at + 1].end if at + 1 < len(groups) else len(text)
        place = begun[at]
        for n in group[1:]:
            fitting = [spot for spot in spots[n] if spot + len(rows[n][2]) <= limit]
            fitting = [spot for spot in fitting if spot >= place.end] or [
                spot for spot in fitting if spot > place.start
            ]
            if not fitting or found[n][0] != "exact":
                break
            place = Span(fitting[0], fitting[0] + len(rows[n][2]))
            found[n] = ("misplaced", place)
    starts = [place_of(n).start for n in numbers]
    if 4 * sum(a > b for a, b in pairwise(starts)) > len(starts):
        return found
    for at in range(1, len(starts) - 1):
        n, low, high = numbers[at], starts[at - 1], starts[at + 1]
        between = [spot for spot in spots[n] if low <= spot <= high]
        if found[n][0] == "exact" and between and starts[at] not in between:
            starts[at] = between[0]
            found[n] = ("misplaced", Span(between[0], between[0] + len(rows[n][2])))
    return found


@st.composite
def stated_rows(draw: st.DrawFn) -> tuple[str, list[Row]]:
    """Slices of a text, mostly in its order, with the offsets that tools give them: true, the first, or any."""
    text = draw(st.text("ab", min_size=1, max_size=14))
    spans = st.tuples(st.integers(0, len(text)), st.integers(0, 4))
    rows: list[Row] = []
    for low, length in sorted(draw(st.lists(spans, max_size=9))):
        part = text[low : low + length] + ("" if draw(st.integers(0, 19)) else "b")
        first, last = text.find(part), text.rfind(part)
        start = draw(st.sampled_from([low, low, low, first, last, last, None, low - 1, -1, 20]))
        end = None if start is None else start + len(part)
        rows.append((start, draw(st.sampled_from([end, end, end, None, -1, 20, low])), part))
    if rows and not draw(st.integers(0, 3)):
        rows.append(rows[0])
    return text, rows


AT_THE_START = [(0, "ab"), (3, "ab"), (2, "c"), (3, "a"), (4, "b")]


@settings(max_examples=examples(300))
@example(("abcab", [(start, None, part) for start, part in AT_THE_START]), 1)
@given(stated_rows(), st.sampled_from([1, 2, 3, 5, 99]))
def test_verdicts_are_those_of_a_plain_reading(made: tuple[str, list[Row]], near: int) -> None:
    text, rows = made
    chunks = [StatedChunk("d", *row) for row in rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            chunk_offsets, "_NEAR", near
        )  # what stands further away is looked for at once
        found = positions(chunks, [Document("d", text)])
    assert [(each.kind, each.place) for each in found] == naive(rows, text)
    assert [each.claimed for each in found] == [row[:2] for row in rows]


def test_documents_are_read_apart() -> None:
    rows = [(0, None, "ab"), (0, None, "ab"), (6, None, "ab"), (2, None, "b")]
    texts = {"d": "ab ab ab", "e": "xb ab ab"}
    both = [StatedChunk(name, *row) for row in rows for name in texts]
    documents = [Document(name, text) for name, text in texts.items()]
    found = positions(both, documents)
    for at, name in enumerate(texts):
        alone = positions([StatedChunk(name, *row) for row in rows], documents)
        assert found[at::2] == alone
        assert [(each.kind, each.place) for each in alone] == naive(rows, texts[name])


@cases(
    "fields, place",
    [
        ({}, StatedPlace((), None, None, None)),
        ({"text": "T", "doc_id": "a", "start": 3, "end": "5"}, StatedPlace(("a",), 3, 5, "T")),
        ({"page_content": "T", "metadata": {"source": "a", "start_index": 3.0}}, StatedPlace(("a",), 3, None, "T")),
        ({"kwargs": {"page_content": "T", "metadata": {"source": "a"}}}, StatedPlace(("a",), None, None, "T")),
        (
            {"node": {"text": "T", "start_char_idx": 3, "end_char_idx": 5,
                      "relationships": {"1": {"node_id": "r"}, "2": {"node_id": "x"}}}},
            StatedPlace((), 3, 5, "T", (), ("r",)),
        ),
        ({"relationships": {"2": {"node_id": "x"}}}, StatedPlace((), None, None, None)),
        ({"relationships": {"1": "r"}}, StatedPlace((), None, None, None)),
        (
            {"content": "T", "split_idx_start": 0, "url": "u", "source_id": "s",
             "metadata": {"url": "v", "ref_doc_id": "r"}},
            StatedPlace((), 0, None, "T", ("u", "v"), ("s", "r")),
        ),
        # What stands further out goes before, and each name stands once, in the order of what is likely.
        (
            {"file": "f", "doc_id": "a", "start": 1, "text": "T",
             "document": {"doc_id": "b", "path": "f", "start": 2, "end": 4, "text": "U"}},
            StatedPlace(("a", "f", "b"), 1, 4, "T"),
        ),
        ({"doc_id": "", "source": None, "start": "x", "end": True, "text": 5}, StatedPlace((), None, None, "5")),
        ({"doc_id": 7, "start": 2.5}, StatedPlace(("7",), None, None, None)),
    ],
)  # fmt: skip
def test_what_a_record_states(fields: dict[str, Any], place: StatedPlace) -> None:
    assert stated_place(fields) == place


def test_records_inside_one_another_are_read_to_a_depth() -> None:
    record: dict[str, Any] = {"doc_id": "deep"}
    for depth in range(2, 20):
        record = {"metadata": record}
        assert stated_place(record).names == (("deep",) if depth <= 16 else ())


@cases(
    "fields, found",
    [
        ({}, (None, False)),
        ({"id": "a"}, ("a", False)),
        ({"id": "a", "metadata": {"chunk_id": "b"}}, ("b", True)),
        ({"_id": "a", "id_": "c", "metadata": {"id": "d"}}, ("c", False)),
        ({"metadata": {"id": "d"}}, ("d", False)),
        ({"chunk_index": 0, "node_id": "n"}, ("n", True)),
    ],
)
def test_the_id_of_a_chunk(fields: dict[str, Any], found: tuple[str | None, bool]) -> None:
    assert stated_id(fields) == StatedId(*found)


@cases(
    "place, number",
    [
        (StatedPlace(("a.md",), None, None, None), 0),
        (StatedPlace(("nobody", "b.md"), None, None, None), 1),
        (StatedPlace((), None, None, None, ("https://x/b.md?v=1#top",)), 1),
        (StatedPlace((), None, None, None, ("https://x/a.md",), ("b.md",)), 1),
        (StatedPlace(("nobody",), None, None, None, (), ("made-up", "a.md")), 0),
        (StatedPlace((), None, None, None, ("https://x/c",), ("made-up",)), None),
        (StatedPlace((), None, None, None), None),
    ],
)
def test_the_document_a_place_is_in(place: StatedPlace, number: int | None) -> None:
    documents = [Document(f"{n}.md", n, source=f"https://x/{n}.md") for n in "ab"]
    assert document_of(place, DocumentNames(documents)) == number


def test_why_a_place_is_in_no_document_is_what_its_first_name_says() -> None:
    names = DocumentNames([Document("a.md", "A"), Document("b.md", "B")])
    said = document_of(StatedPlace(("one", "two"), None, None, None, (), ("three",)), names)
    assert said == names.find("one")
    assert isinstance(said, str)


@cases(
    "fields, is_wrong",
    [
        ({"start": 3, "end": "4"}, False),
        ({"start": None, "end": ""}, False),
        ({"start": "x"}, True),
        ({"start": 1, "end": 2.5}, True),
        ({"start": 1, "metadata": {"end_char_idx": []}}, True),
        ({"begin": True}, True),
        ({"first": "x"}, False),
    ],
)
def test_an_offset_is_a_whole_number(fields: dict[str, Any], is_wrong: bool) -> None:
    assert bool(wrong_offset(fields)) == is_wrong


def test_an_offset_of_thousands_of_digits_is_not_written_out() -> None:
    assert shown_offset(10**15 - 1) == str(10**15 - 1)
    assert len(shown_offset(10**15)) < 16
    assert shown_offset(-(10**15)) == shown_offset(10**15) == shown_offset(10**5000)
    assert len({shown_offset(each) for each in (None, "", "None", 0, 10**15)}) == 5
    assert len(shown_offset("x" * 500)) < 60


def test_every_place_of_a_text_is_known_by_how_much_it_differs() -> None:
    documents = [
        Document("a", "The lamp. the lamp. The  lamp."),
        Document("b", "A **big** door. The lamp."),
    ]
    found = find_texts(
        ["The lamp.", "A big door.", "THE LAMP.", " ", "gone", "The lamp."], documents
    )
    assert set(found) == {"The lamp.", "A big door.", "THE LAMP."}
    lamp = found["The lamp."]
    assert lamp.tolerance == "exact"
    places = zip(lamp.document.tolist(), lamp.start.tolist(), lamp.end.tolist(), strict=True)
    assert list(places) == [(0, 0, 9), (1, 16, 25)]
    assert found["THE LAMP."].start.tolist() == [0, 10, 20, 16]
    assert found["A big door."].nearest(None) == (1, 0, 15)
    assert len({each.tolerance for each in found.values()}) == 3
    own = find_in_own([(1, "The lamp."), (0, "A big door."), (0, "The lamp.")], documents)
    assert {key: each.start.tolist() for key, each in own.items()} == {
        (1, "The lamp."): [16],
        (0, "The lamp."): [0],
    }
    assert {key: set(each.document.tolist()) for key, each in own.items()} == {
        (1, "The lamp."): {1},
        (0, "The lamp."): {0},
    }


@given(st.lists(st.integers(0, 30), min_size=1, unique=True), st.integers(-2, 32))
def test_the_nearest_place_and_the_next_one(starts: list[int], start: int) -> None:
    starts = sorted(starts)
    places = chunk_offsets.TextPlaces(
        "exact", np.arange(len(starts)), np.array(starts), np.array(starts) + 3
    )
    near = min(starts, key=lambda own: abs(own - start))
    assert places.nearest(start) == (starts.index(near), near, near + 3)
    assert places.nearest(None) == (0, starts[0], starts[0] + 3)
    following = next((own for own in starts if own >= start), starts[0])
    assert places.next_from(start) == (following, following + 3)


@given(st.lists(st.sampled_from(list(KINDS))), st.integers(1, 4))
def test_the_summary_is_a_count(kinds: list[str], some: int) -> None:
    found = summary([chunk_offsets.PositionVerdict(kind, None) for kind in kinds], some)
    judged = [kind for kind in kinds if kind != "no_text"]
    share = judged.count("exact") / len(judged) if judged else None
    assert (found.score.value, bool(found.score.reason)) == (share, share is None)
    assert found.counts == {kind: kinds.count(kind) for kind in KINDS}
    assert found.examples == {
        kind: tuple([n for n, each in enumerate(kinds) if each == kind][:some])
        for kind in KINDS
        if kind != "exact" and kind in kinds
    }
