import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.chunkers import chunk_offsets
from chunkwise.chunkers.chunk_offsets import KINDS, StatedChunk, TextFinder, positions, summary
from chunkwise.core import Document, Span

TEXT = "Write to us. The lamp is lit. Write to us. The door is shut. Write to us."
TEXTS = {"d": TEXT}


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
    assert verdict.detail == "3–19; the text stands at 13–29"


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
    """LangChain's fault: the text stands at the offset, only it is not that chunk's."""
    rows = [(0, "Write to us."), (13, "The lamp is lit."), (61, "Write to us."), (43, "The door is shut."),
            (61, "Write to us.")]  # fmt: skip
    found = positions([StatedChunk("d", start, None, text) for start, text in rows], TEXTS)
    assert [verdict.kind for verdict in found] == ["exact", "exact", "misplaced", "exact", "exact"]
    assert found[2].place == Span(30, 42)


def test_chunks_in_a_row_that_all_claim_the_first_occurrence_are_misplaced() -> None:
    line, end = "Same line here.\n", "End."
    text = "Intro one. " + line * 400 + end
    rows = [(0, "Intro one. "), *[(11, line * 6)] * 66, (len(text) - 4, end)]
    found = positions([StatedChunk("d", start, None, part) for start, part in rows], {"d": text})
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
    for row, verdict in zip(rows, positions(rows, {"d": text}), strict=True):
        said = text[row.start : row.end] if row.start is not None and row.start >= 0 else None
        ends = row.end is None or (row.start or 0) + len(row.text or "") == row.end
        if row.end is None and said is not None:
            said = text[row.start :][: len(row.text or "")]
        if row.text:
            assert (verdict.kind in ("exact", "misplaced")) == (said == row.text and ends)
            assert (
                verdict.place is None or text[verdict.place.start : verdict.place.end] == row.text
            )
            assert (verdict.place is None) == (row.text not in text)
    # In long texts, all chunks are sought at once, and stand where they are found one by one.
    unknown = StatedChunk("other", 0, 1, "a")
    rows += [StatedChunk("d", None, None, part) for part in ("nowhere", text[-1:], text[:1], None)]
    rows = [*(row for row in rows if not (row.text or "").isspace()), unknown]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunk_offsets, "_NEAR", data.draw(st.sampled_from([2, size])))
        finder = TextFinder(rows, [Document("d", text)])
        assert positions(rows, {"d": text}, finder) == positions(rows, {"d": text})
