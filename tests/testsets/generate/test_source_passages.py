"""Which passages are asked about: their size and borders, what is left out, how they are spread."""

from collections import Counter
from itertools import islice, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise import Document
from chunkwise.testsets.generate.plan import (
    SHARES,
    parse_types,
    question_tasks,
    spread_passages,
    turns,
)
from chunkwise.testsets.generate.source_passages import (
    MOST,
    find_source_passages,
    is_boilerplate,
    passage_pairs,
    passage_spans,
)
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.tokens.tokenizers import DEFAULT_TOKENIZER, get_tokenizer
from tables import cases

CORPUS = Path(chunkwise.__file__).with_name("corpus")
DOCUMENTS = list(chunkwise.read(CORPUS))
GROUND = find_source_passages(DOCUMENTS)


def test_passages_of_the_corpus_are_of_a_fair_size_and_begin_with_a_sentence() -> None:
    count = get_tokenizer(DEFAULT_TOKENIZER).count
    sizes = [count(each.text) for each in GROUND.passages]
    assert len(sizes) > 150
    assert max(sizes) <= MOST + 5
    assert sum(size >= 50 for size in sizes) > 0.7 * len(sizes)
    starts = {
        each.id: set(Analyzed(each).characters.next_solid(Analyzed(each).atoms()).tolist())
        for each in DOCUMENTS
    }
    for each in GROUND.passages:
        assert each.text == each.text.strip()
        assert each.start in starts[each.document.id]


@given(st.text(alphabet="ab .\n#|-1é漢", max_size=400))
def test_passages_are_disjoint_and_within_the_text(text: str) -> None:
    spans = passage_spans(Analyzed(Document("d", text, format="markdown")))
    assert spans == sorted(spans)
    for before, after in pairwise(spans):
        assert before.end <= after.start
    for start, end in spans:
        assert 0 <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()


def test_a_list_stays_with_the_line_that_announces_it() -> None:
    lead = (
        "The rule about leave in the busy week at the end of summer is waived for all of these reasons, "
        * 5
    )
    text = f"{lead.strip(', ')}:\n\n- a wedding;\n- a court summons.\n"
    (span,) = passage_spans(Analyzed(Document("d", text, format="markdown")))
    assert text[span.start : span.end].endswith("- a court summons.")


def test_contents_and_scraps_are_left_out() -> None:
    contents = "1 Scope ........ 3\n2 Leave ........ 7\n3 Hours ........ 12\n4 Notes ........ 20"
    assert is_boilerplate(contents, ())
    assert is_boilerplate("A word about harbours and lamps.", ("Guide", "Contents"))
    assert is_boilerplate("- [Leave](leave.md)\n- [Hours](hours.md)\n- [Pay](pay.md)", ())
    assert is_boilerplate("| 12 | 14.5 | 16 |\n| 0.3 | 88 | 9 |", ())
    assert not is_boilerplate(
        "In 2019 the office counted 41 fog days, 12 more than in 2018.", ("Fog",)
    )


def test_what_stands_in_every_document_is_not_asked_about() -> None:
    notice = "This page is confidential and may not be shown to anybody outside the harbour cooperative of the island."
    own = (
        "The lamp at the north pier is lit at dusk by the warden who keeps the key to the oil store.",
        "Salt from the seventh pan is skimmed by hand and never sold to the curers across the sound.",
    )
    documents = [
        Document(f"{at}", f"# One\n\n{text}\n\n# Two\n\n{notice}\n", format="markdown")
        for at, text in enumerate(own)
    ]
    texts = {each.text for each in find_source_passages(documents).passages}
    assert not any("confidential" in text for text in texts)
    assert len(texts) == 2


def test_every_document_has_a_turn_and_large_ones_have_more() -> None:
    order = spread_passages(GROUND.passages)
    assert sorted(each.number for each in order) == list(range(len(GROUND.passages)))
    first = [each.document.id for each in order[: len(DOCUMENTS)]]
    assert sorted(first) == sorted(each.id for each in DOCUMENTS)
    often = Counter(each.document.id for each in order[:80])
    size = Counter({each.id: len(each.text) for each in DOCUMENTS})
    assert often.most_common(1)[0][0] == size.most_common(1)[0][0]
    sections = [each.section for each in order if each.document.id == "handbook-leave-and-hours.md"]
    assert len(set(sections[:8])) == 8


def test_the_seed_decides() -> None:
    def first(seed: int) -> list[int]:
        return [
            each.passages[0].number for each in islice(question_tasks(GROUND, SHARES, seed), 40)
        ]

    assert first(1) == first(1)
    assert first(1) != first(2)


def test_kinds_come_by_their_shares_and_passages_suit_them() -> None:
    planned = list(islice(question_tasks(GROUND, SHARES), 60))
    counts = Counter(task.kind for task in planned)
    assert abs(counts["single-concept"] - 24) <= 1
    assert abs(counts["numeric"] - 12) <= 1
    for task in planned:
        assert len(task.passages) == (2 if task.kind == "cross-document" else 1)
        if task.kind == "numeric":
            assert any(map(str.isdigit, task.passages[0].text))
    asked = [(task.kind, task.passages[0].number) for task in question_tasks(GROUND, SHARES)]
    assert len(set(asked)) == len(asked)


def test_pairs_are_of_different_documents_and_share_rare_words() -> None:
    found = passage_pairs(GROUND)
    assert len(found) > 10
    used = [each.number for pair in found for each in pair]
    assert len(set(used)) == len(used)
    for one, other in found:
        assert one.document.id != other.document.id
        shared = set(GROUND.terms_of(one).tolist()) & set(GROUND.terms_of(other).tolist())
        assert len(shared) >= 2


def test_types_by_name_and_share() -> None:
    assert parse_types("numeric, list=3") == {"list": 3.0, "numeric": 1.0}
    assert list(islice(turns({"list": 3, "numeric": 1}), 8)).count("list") == 6


@cases("wrong", ["", "numbers", "list=x", "list=-1", "list=0", "list,list"])
def test_types_that_are_none(wrong: str) -> None:
    with pytest.raises(chunkwise.ChunkwiseError, match=r"type|share"):
        parse_types(wrong)
