"""What fits into a budget: never more, nothing twice, in the order it came."""

from itertools import pairwise

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.core import Block, Document, Span
from chunkwise.options import SearchOptions
from chunkwise.retrieval.search.budget import fill_budget
from chunkwise.retrieval.search.index_reader import IndexReader
from chunkwise.retrieval.search.search import search
from chunkwise.retrieval.searchable import CandidateSpan
from chunkwise.testkit.hostile import hostile_documents
from chunkwise.text.tokens.tokenizers import get_tokenizer
from how_many import examples
from retrieval.tiny_index import TinyIndex, documents

PROSE = "The lamp is lit at dusk. It burns till dawn! Who trims it? Nobody knows, but for the keeper.\n\n"
TEXTS = [
    PROSE * 6,
    "Grüße aus München 👩‍👩‍👧 und नमस्ते दुनिया। " * 12,
    "- one\n- two\n- three\n" * 20,
    "nospace" * 200,
    "a\u0301\u0302\u0303" * 50,
]
TINY = {
    name: TinyIndex(documents(*TEXTS), "tokens(max_tokens=20, overlap=5)", "none", name)
    for name in ("o200k_base", "words", "characters")
}
PLACES = st.lists(
    st.tuples(st.integers(0, len(TEXTS) - 1), st.integers(0, 500), st.integers(1, 300)), max_size=10
)


@settings(max_examples=examples(40))
@given(PLACES, st.integers(1, 200), st.sampled_from(sorted(TINY)), st.sampled_from([None, 1, 3]))
def test_never_over_the_budget_and_nothing_twice(
    spans: list[tuple[int, int, int]], budget: int, tokenizer: str, most: int | None
) -> None:
    reader = IndexReader(TINY[tokenizer])
    places = []
    for rank, (document, start, size) in enumerate(spans):
        start = min(start, len(TEXTS[document]) - 1)
        end = min(start + size, len(TEXTS[document]))
        core = Span((start + end) // 2, end) if rank % 2 else None
        places.append(CandidateSpan(document, start, end, float(-rank), core=core))
    found = fill_budget(reader, places, budget, most).candidates
    count = get_tokenizer(tokenizer).count
    texts = [TEXTS[place.document][place.start : place.end] for place in found]
    assert sum(map(count, texts)) <= budget
    assert most is None or len(found) <= most
    assert [place.score for place in found] == sorted((p.score for p in found), reverse=True)
    seen: set[tuple[int, int]] = set()
    for place in found:
        assert place.start < place.end
        covered = {(place.document, at) for at in range(place.start, place.end)}
        assert not covered & seen
        seen |= covered
        source = places[int(-place.score)]
        assert source.start <= place.start
        assert place.end <= source.end
    # Where one lies inside another a word may be parted, and be two.
    wanted = sum(count(TEXTS[p.document][p.start : p.end]) + 2 for p in places)
    if wanted <= budget and most is None:
        everything = {(p.document, at) for p in places for at in range(p.start, p.end)}
        assert all(TEXTS[number][at].isspace() for number, at in everything - seen)


def test_the_last_one_ends_with_a_sentence() -> None:
    reader = IndexReader(TinyIndex(documents(PROSE)))
    place = CandidateSpan(0, 0, len(PROSE), 1.0, chunk=0)
    (cut,) = fill_budget(reader, [place], 15).candidates
    assert PROSE[cut.start : cut.end].rstrip() == "The lamp is lit at dusk. It burns till dawn!"
    assert cut.chunk is None
    (whole,) = fill_budget(reader, [place], 100).candidates
    assert whole == place


TABLE = "# Lamps\n\nLamps burn at night.\n\n## Faults\n\n| Fault | Cost |\n|---|---|\n| Ring | 24 |\n| Arm | 12 |\n"


def test_a_cut_does_not_end_with_a_heading_or_a_header_of_a_table() -> None:
    reader = IndexReader(TinyIndex([Document("d.md", TABLE, format="markdown")]))
    place = CandidateSpan(0, 0, len(TABLE), 1.0)
    sentence, row = TABLE.index("##"), TABLE.index("| Arm")
    ends = {0, sentence, row, len(TABLE)}
    for budget in range(reader.count(0, 0, sentence), 60):
        (cut,) = fill_budget(reader, [place], budget).candidates
        assert cut.end in ends
        assert cut.end == max(end for end in ends if reader.count(0, 0, end) <= budget)
    # Nothing but a heading fits: alone it is shown, behind another place it is not.
    (alone,) = fill_budget(reader, [place], 4).candidates
    assert TABLE[: alone.end].rstrip() == "# Lamps"
    (part,) = fill_budget(reader, [place], 1).candidates
    assert TABLE[part.start : part.end] == "#"
    (text,) = fill_budget(reader, [place], reader.count(0, 0, sentence) - 1).candidates
    assert TABLE[text.start : text.end].rstrip() == "Lamps burn at night."
    (row,) = fill_budget(
        reader, [CandidateSpan(0, TABLE.index("| Fault"), row, 1.0)], 10
    ).candidates
    assert TABLE[row.start : row.end].rstrip() == "| Ring | 24 |"
    first, rest = CandidateSpan(0, 0, sentence, 1.0), CandidateSpan(0, sentence, len(TABLE), 0.5)
    found = fill_budget(reader, [first, rest], reader.count(0, 0, sentence) + 12)
    assert found.candidates == [first]
    assert found.full


def test_a_cut_knows_the_layout_that_a_format_declares() -> None:
    text = "Lamps burn at night.\nFaults\nThe ring is dead, and nobody knows why that may be."
    heading = Block("heading", 21, 27, 1)
    blocks = (Block("paragraph", 0, 20), heading, Block("paragraph", 28, len(text)))
    for layout in (blocks, (heading,)):
        reader = IndexReader(TinyIndex([Document("d", text, format="docx", blocks=layout)]))
        (cut,) = fill_budget(reader, [CandidateSpan(0, 0, len(text), 1.0)], 9).candidates
        assert text[: cut.end].rstrip() == "Lamps burn at night."


def test_whole_sentences_count_from_where_the_part_starts() -> None:
    """The part begins in the middle of a long sentence: what stands before it costs nothing."""
    long = "alpha " + "and so on " * 40 + "to the end. "
    text = long + "The lamp sleeps. The lamp eats. The lamp runs far over the hills."
    reader = IndexReader(TinyIndex(documents(text)))
    place = CandidateSpan(0, text.index("the end"), len(text), 1.0)
    (cut,) = fill_budget(reader, [place], 9).candidates
    assert text[cut.start : cut.end].rstrip() == "the end. The lamp sleeps."
    (cut,) = fill_budget(reader, [place], 4).candidates
    assert text[cut.start : cut.end].rstrip() == "the end."


@given(st.integers(0, 500), st.integers(1, 60), st.sampled_from(sorted(TINY)))
def test_no_sentence_is_cut_where_a_whole_one_fits(start: int, budget: int, tokenizer: str) -> None:
    index = TINY[tokenizer]
    reader = IndexReader(index)
    text = TEXTS[0]
    places = fill_budget(reader, [CandidateSpan(0, start, len(text), 1.0)], budget).candidates
    ends = index.atoms(0).end.tolist()
    count = get_tokenizer(tokenizer).count
    following = next(end for end in ends if end > start)
    if count(text[start:following]) <= budget:
        (cut,) = places
        assert cut.end in ends


def test_only_the_very_first_is_cut_inside_a_sentence() -> None:
    reader = IndexReader(TinyIndex(documents(PROSE)))
    (cut,) = fill_budget(reader, [CandidateSpan(0, 0, 90, 1.0)], 3).candidates
    assert PROSE[: cut.end] == "The lamp is"
    first = CandidateSpan(0, 25, 44, 1.0)
    found = fill_budget(reader, [first, CandidateSpan(0, 60, 95, 0.5)], reader.count(0, 25, 44) + 2)
    assert found.candidates == [first]
    assert found.full


def test_a_cut_does_not_lose_what_was_found() -> None:
    """A parent is too large, and the chunk that was found stands at its end."""
    reader = IndexReader(TinyIndex(documents(PROSE)))
    whole = CandidateSpan(0, 0, len(PROSE), 1.0, core=Span(45, 58))
    (cut,) = fill_budget(reader, [whole], 6).candidates
    assert PROSE[cut.start : cut.end].rstrip() == "Who trims it?"
    (cut,) = fill_budget(reader, [whole], 22).candidates
    assert PROSE[cut.start : cut.end].rstrip().endswith("Who trims it?")
    assert cut.start == 0
    (cut,) = fill_budget(reader, [whole], 2).candidates
    assert PROSE[cut.start : cut.end] == "Who trims"
    last = whole._replace(core=Span(PROSE.index("Nobody"), PROSE.index("Nobody") + 7))
    (cut,) = fill_budget(reader, [last], 16).candidates
    assert PROSE[cut.start : cut.end].startswith("Who trims it? Nobody knows")
    assert cut.end == len(PROSE)


def test_a_larger_hit_shows_what_is_new_on_both_sides() -> None:
    reader = IndexReader(TinyIndex(documents(PROSE)))
    small, large = CandidateSpan(0, 25, 44, 1.0), CandidateSpan(0, 0, 59, 0.5)
    found = fill_budget(reader, [small, large, small], 1000)
    shown = [PROSE[place.start : place.end] for place in found.candidates]
    assert shown == ["It burns till dawn!", "The lamp is lit at dusk.", "Who trims it?"]
    assert not found.full


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
@pytest.mark.parametrize("document", hostile_documents(), ids=lambda document: document.id[:40])
def test_hostile_documents_stay_within_the_budget(document: Document) -> None:
    text = document.text[:20_000]
    short = Document(document.id, text, format=document.format, language=document.language)
    index = TinyIndex([short], "tokens(max_tokens=50, overlap=10)", "none")
    count = get_tokenizer("o200k_base").count
    for budget in (1, 30, 400):
        for asked in ("the a lamp x 1", text[:50]):
            hits = search(index, asked, SearchOptions(budget=budget, retriever="bm25"))[0]
            assert sum(count(hit.text) for hit in hits) <= budget
            assert sum(count(hit.shown) for hit in hits) <= budget
            assert all(hit.token_count == count(hit.shown) for hit in hits)


JOINED = [
    "e\u0301" * 40,
    "👩‍👩‍👧" * 20,
    "🇩🇪🇫🇷" * 15,
    "क्षत्रिय" * 20,
    "\r\n".join(["각각", "a\u0301\u0302\u0303"] * 20),
    " \u0301 \u0301b c\u0308 \u0301" * 20,
]
JOINED_TINY = {
    name: TinyIndex(documents(*JOINED), "tokens(max_tokens=20, overlap=5)", "none", name)
    for name in ("o200k_base", "characters")
}


@settings(max_examples=examples(40))
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 60), st.integers(1, 30)), max_size=4),
    st.integers(1, 60),
    st.sampled_from(sorted(JOINED_TINY)),
)
def test_no_cut_parts_what_is_seen_as_one_character(
    spans: list[tuple[int, int, int]], budget: int, tokenizer: str
) -> None:
    breaks = [[m.start() for m in regex.finditer(r"\X", text)] + [len(text)] for text in JOINED]
    places = []
    for rank, (number, first, size) in enumerate(spans):
        own = breaks[number]
        first = min(first, len(own) - 2)
        start, end = own[first], own[min(first + size, len(own) - 1)]
        places.append(CandidateSpan(number, start, end, float(-rank)))
    reader = IndexReader(JOINED_TINY[tokenizer])
    found = fill_budget(reader, places, budget).candidates
    assert all({p.start, p.end} <= set(breaks[p.document]) for p in found)
    assert sum(reader.count(p.document, p.start, p.end) for p in found) <= budget


def test_a_budget_smaller_than_one_character_shows_nothing() -> None:
    index = TinyIndex(documents("👩‍👩‍👧 lamp"), "tokens(max_tokens=20)", "none", "characters")
    assert search(index, "lamp", SearchOptions(budget=4, retriever="bm25")) == [[]]
    ((hit,),) = search(index, "lamp", SearchOptions(budget=5, retriever="bm25"))
    assert hit.text == "👩‍👩‍👧"


HEADED = "# Lamps and all their faults\n\n## Faults\n\n" + TABLE + "\n" + PROSE + TABLE
HEADED_TINY = TinyIndex([Document("d.md", HEADED, format="markdown")], "tokens(max_tokens=20)")


@settings(max_examples=examples(40))
@given(st.lists(st.tuples(st.integers(0, 17), st.integers(1, 12)), max_size=5), st.integers(1, 90))
def test_headed_texts_stay_within_the_budget_and_are_shown_once(
    spans: list[tuple[int, int]], budget: int
) -> None:
    """Only a place that is shown to its end, or one that comes alone, may end with what heads nothing."""
    reader = IndexReader(HEADED_TINY)
    edges = [*HEADED_TINY.atoms(0).start.tolist(), len(HEADED)]
    places = [
        CandidateSpan(0, edges[at], edges[min(at + size, len(edges) - 1)], 1.0)
        for at, size in spans
    ]
    found = fill_budget(reader, places, budget).candidates
    assert sum(reader.count(0, place.start, place.end) for place in found) <= budget
    shown = sorted((place.start, place.end) for place in found)
    assert all(one[1] <= other[0] for one, other in pairwise(shown))
    # What others showed may end a place, too, and the space before it is left out then.
    whole = {
        len(HEADED[:edge].rstrip()) for edge in {p.end for p in places} | {p.start for p in found}
    }
    for place in found[1:]:
        end = place.start + len(HEADED[place.start : place.end].rstrip())
        line = HEADED[HEADED.rfind("\n", 0, end) + 1 :]
        assert end in whole or not line.startswith(("#", "|--")), HEADED[place.start : end]
