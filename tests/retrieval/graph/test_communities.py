"""Communities of passages: the same every time, linear, summarized level on level; and questions about the whole."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chunkwise
from chunkwise import Document
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.models.home_folder import HOME_VARIABLE
from chunkwise.models.llm.client import DegradingClient, LlmClient
from chunkwise.models.llm.language_model import Completion, Request
from chunkwise.options import SearchOptions
from chunkwise.retrieval.filters import Filter
from chunkwise.retrieval.graph.build_graph import name_graph
from chunkwise.retrieval.graph.communities import (
    CommunityWriter,
    PassageSizes,
    communities_estimate,
    hierarchy,
    partition,
)
from chunkwise.retrieval.searchable import Communities
from chunkwise.text.analyzed import Analyzed
from how_many import examples
from rule_summarizer import FirstSentences
from tables import cases

THEMES = {"sea": "Port Velsay", "mountain": "Hal Ridge", "city": "Mount Corso"}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))


class Reader(FirstSentences):
    """Reads no relations, and summarizes by repeating first sentences."""

    def complete(self, request: Request, stop: Any = None) -> Completion:
        if request.schema is not None:
            return Completion(json.dumps({"names": [], "relations": []}), 1, 1)
        if self.stumble and self.stumble in request.user:
            return Completion("", 1, 1, refusal="not about that")
        return super().complete(request, stop)


def _document(theme: str, number: int) -> Document:
    text = f"The {theme} number {number} is told of. It is seen from {THEMES[theme]} all year."
    return Document(f"{theme}/{number}", text, metadata={"theme": theme})


DOCUMENTS = [_document(theme, number) for number in range(4) for theme in THEMES]


def make(documents: list[Document], model: Any, **given: Any) -> chunkwise.Index:
    return chunkwise.index(documents, vectors="none", graph=True, llm=LlmClient(model), **given)


@settings(max_examples=examples(60))
@given(
    st.lists(
        st.tuples(st.integers(0, 20), st.integers(0, 12), st.sampled_from([0.1, 0.5, 1.0])), max_size=60
    )
)  # fmt: skip
def test_every_row_has_a_label_of_a_row_and_the_same_again(
    entries: list[tuple[int, int, float]],
) -> None:
    row, column, weight = (np.array([each[at] for each in entries]) for at in range(3))
    args = row.astype(np.int64), column.astype(np.int64), weight.astype(np.float64), 21
    label = partition(*args)
    assert ((label >= 0) & (label < 21)).all()
    assert (partition(*args) == label).all()
    bare = np.setdiff1d(np.arange(21), row)
    assert (label[bare] == bare).all()


def test_rows_that_share_columns_go_together() -> None:
    row = np.repeat(np.arange(6), 3)
    column = np.array([0, 1, 2] * 3 + [3, 4, 5] * 3)
    label = partition(row, column, np.ones(18), 6)
    assert len(set(label[:3])) == len(set(label[3:])) == 1
    assert label[0] != label[3]


@settings(max_examples=examples(30))
@given(
    st.lists(
        st.lists(st.sampled_from(sorted(THEMES)), min_size=1, max_size=4), min_size=1, max_size=40
    )
)
def test_the_hierarchy_holds_every_passage_once_a_level_and_ends_in_one(
    texts: list[list[str]],
) -> None:
    documents = [
        Document(str(at), " ".join(f"We saw {THEMES[theme]} at noon." for theme in own) * 40)
        for at, own in enumerate(texts)
    ]
    source = chunkwise.index(documents, vectors="none", graph=True).source
    graph = name_graph(source.atom_table())
    levels = hierarchy(graph, source.atom_table())
    below = graph.passages
    for groups in levels:
        assert sorted(at for group in groups for at in group) == list(range(below))
        assert sum(len(group) == 1 for group in groups) <= 1
        assert max(map(len, groups)) <= 6
        below = len(groups)
    assert below == 1
    # So many summaries at most as there are passages: what is asked grows with the text and no faster.
    assert sum(len(group) > 1 for groups in levels for group in groups) <= max(graph.passages, 1)


def test_themes_are_communities_and_the_last_is_of_all() -> None:
    index = make(DOCUMENTS, Reader())
    found = index.source.communities().found
    first = [own for own in found if own.level == 1]
    for own in first:
        ids = {index.source.document(place.document).id for place in own.places}
        assert len({id.partition("/")[0] for id in ids}) == 1
    assert len(first) == len(THEMES)
    assert {place.document for place in found[-1].places} == set(range(len(DOCUMENTS)))
    for own in found:
        for place in own.places:
            assert 0 <= place.start < place.end <= len(index.source.document(place.document).text)


def test_a_question_about_the_whole_is_answered_from_the_whole() -> None:
    index = make(DOCUMENTS, Reader())
    (hit, *_) = index.search("what are the main themes?", retriever="communities", k=3)
    assert hit.text == index.source.communities().found[-1].summary
    assert {place.doc_id for place in hit.places} == {each.id for each in DOCUMENTS}
    assert {row["doc_id"] for row in hit.to_dict()["elsewhere"]} | {hit.doc_id} == {
        each.id for each in DOCUMENTS
    }
    (hit, *_) = index.search("the mountain", retriever="communities(breadth=0)", k=3)
    assert "mountain" in hit.text
    for budget in (1, 20, 60, 500):
        hits = index.search("the mountain", retriever="communities", budget=budget)
        assert sum(hit.token_count for hit in hits) <= budget


def test_a_summary_of_what_a_filter_keeps_out_is_not_shown() -> None:
    index = make(DOCUMENTS, Reader())
    for only in (Filter(documents=("sea/*",)), Filter(where={"theme": "sea"})):  # type: ignore[arg-type]
        hits = index.search(
            "what are the main themes?",
            retriever="communities",
            k=9,
            options=SearchOptions(**only.changed()),
        )
        assert hits
        for hit in hits:
            assert all(place.doc_id.startswith("sea/") for place in hit.places)
            assert "mountain" not in hit.text
    only = Filter(documents=("sea/1",))
    assert (
        index.search("sea", retriever="communities", k=9, options=SearchOptions(**only.changed()))
        == []
    )


def test_an_index_without_summaries_says_how_to_make_them() -> None:
    index = chunkwise.index(DOCUMENTS, vectors="none", graph=True)
    with pytest.raises(InvalidParameter, match="--graph --llm NAME"):
        index.search("what is it about?", retriever="communities", k=2)
    assert index.source.communities() == Communities()


def test_what_is_unchanged_is_not_asked_again_and_what_is_missing_is(tmp_path: Path) -> None:
    model = Reader()
    make(DOCUMENTS, model, into=tmp_path / "kb")
    asked = len(model.asked)
    assert asked == 4  # three themes, and the whole
    make(DOCUMENTS, model, into=tmp_path / "kb")
    assert len(model.asked) == asked
    more = _document("sea", 4)
    index = make([*DOCUMENTS, more], model, into=tmp_path / "kb")
    assert 0 < len(model.asked) - asked <= 2  # the sea, and the whole
    assert more.id in {
        index.source.document(place.document).id
        for place in index.source.communities().found[-1].places
    }
    stumbling = Reader(stumble="mountain", name="stumbling")
    broken = make(DOCUMENTS, stumbling, into=tmp_path / "broken")
    assert broken.source.communities().missing
    assert broken.changes is not None
    [note] = (note for note in broken.changes.notes if note.startswith("1 summary"))
    assert "refused" in note
    stumbling.stumble = ""
    whole = make(DOCUMENTS, stumbling, into=tmp_path / "broken")
    assert not whole.source.communities().missing
    opened = chunkwise.open_index(tmp_path / "broken")
    assert opened.source.communities() == whole.source.communities()
    opened.verify()


def test_a_model_that_is_gone_stops_a_new_index_and_no_update() -> None:
    source = chunkwise.index(DOCUMENTS, vectors="none", graph=True).source
    model = Reader()
    model.stop_after = 0
    with pytest.raises(ChunkwiseError, match="switched off"):
        CommunityWriter(LlmClient(model), "o200k_base").write(source.atom_table(), source.document)
    writer = CommunityWriter(DegradingClient(LlmClient(model)), "o200k_base")
    assert writer.write(source.atom_table(), source.document).missing


def test_what_it_will_take_is_told_beforehand() -> None:
    client = LlmClient(Reader())
    assert communities_estimate(client, PassageSizes()).calls == 0
    small, large = (
        communities_estimate(client, PassageSizes(count, 200 * count)) for count in (100, 1000)
    )
    assert 100 / 6 < small.calls < 100
    assert 9 < large.calls / small.calls < 11


UNBROKEN = Document("picture", "x" * 300_000)


def test_a_passage_without_an_end_is_read_from_its_beginning() -> None:
    """A picture in base64 is one sentence: it costs little, and stops no index."""
    model = Reader()
    model.window = 32_000
    index = make([*DOCUMENTS, UNBROKEN], model)
    assert not index.source.communities().missing
    assert max(len(request.user) for request in model.asked) < 30_000
    picture = index.source.ids().index("picture")
    assert picture in {place.document for place in index.source.communities().found[-1].places}


@pytest.mark.usefixtures("large_inputs")
@cases("documents", [DOCUMENTS, [UNBROKEN], [*DOCUMENTS, UNBROKEN] * 2])
def test_an_estimate_counts_the_passages_that_there_will_be(documents: list[Document]) -> None:
    named = [replace(each, id=str(at)) for at, each in enumerate(documents)]
    sizes = PassageSizes()
    for each in named:
        sizes = sizes.and_those_of(Analyzed(each), "o200k_base")
    model = Reader()
    index = make(named, model)
    assert sizes.passages == name_graph(index.source.atom_table()).passages
    held = PassageSizes().and_those_in(index.source.atom_table(), range(len(named)))
    assert held.passages == sizes.passages
    assert 0.5 < held.tokens / sizes.tokens < 2
    assert PassageSizes().and_those_in(index.source.atom_table(), []) == PassageSizes()
    estimate = communities_estimate(LlmClient(model), sizes)
    assert estimate.prompt_tokens < 2_000 * len(named)


def test_what_a_model_cannot_hold_is_missing_and_no_error() -> None:
    model = Reader()
    model.window = 600
    long = [Document(f"long {at}", f"Hal Ridge {at} is " + "y" * 5_000) for at in range(6)]
    index = make([*DOCUMENTS, *long], model)
    found = index.source.communities()
    assert found.missing
    assert found.found
    assert index.changes is not None
    assert any("too much text to summarize at once" in note for note in index.changes.notes)


def test_text_that_says_nothing_is_not_asked_about() -> None:
    model = Reader()
    index = make([Document("a", "   \n  "), Document("b", "")], model)
    assert index.source.communities().found == ()
    assert model.asked == []


def test_what_could_not_be_summarized_is_no_place_of_the_summary_above() -> None:
    index = make(DOCUMENTS, Reader(stumble="mountain"))
    found = index.source.communities().found
    assert found[-1].level > 1
    for own in found:
        ids = {index.source.document(place.document).id for place in own.places}
        assert not any(id.startswith("mountain") for id in ids)
