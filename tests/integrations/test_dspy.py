"""`chunkwise.dspy` as DSPy calls a retriever (`make test-adapters` installs it)."""

from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise.base.errors import ChunkwiseError
from integrations.small_index import QUESTION, SharedWords, make_index

dspy = pytest.importorskip("dspy")

from chunkwise.dspy import ChunkwiseRM  # noqa: E402


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_index(tmp_path_factory.mktemp("dspy"))


@pytest.mark.parametrize(
    ("settings", "plain"),
    [
        ({}, {}), ({"k": 2}, {"k": 2}), ({"budget": 30}, {"budget": 30}),
        ({"where": "year>=2021"}, {"where": "year>=2021"}),
        ({"k": 2, "reranker": SharedWords()}, {"k": 2, "reranker": SharedWords()}),
    ],
)  # fmt: skip
def test_it_finds_what_the_index_finds(
    place: Path, settings: dict[str, Any], plain: dict[str, Any]
) -> None:
    hits = chunkwise.open_index(place).search(QUESTION, **plain)
    assert hits
    for found in (
        ChunkwiseRM(place, **settings)(QUESTION),
        ChunkwiseRM(chunkwise.open_index(place))(QUESTION, **settings),
    ):
        assert isinstance(found, dspy.Prediction)
        assert found.passages == [hit.shown for hit in hits]
        assert [each["doc_id"] for each in found.metadata] == [hit.doc_id for hit in hits]
        assert [(each["start"], each["end"]) for each in found.metadata] == [
            hit.span for hit in hits
        ]
        assert [each.long_text for each in found] == found.passages
        assert len(found) == len(hits)


def test_it_is_the_retrieval_model_of_dspy_itself(place: Path) -> None:
    rm = ChunkwiseRM(place)
    with dspy.context(rm=rm):
        found = dspy.Retrieve(k=2)(QUESTION)
    assert found.passages == rm(QUESTION, k=2).passages


def test_a_program_holds_it_is_copied_and_saved(place: Path, tmp_path: Path) -> None:
    class Lookup(dspy.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.retrieve = ChunkwiseRM(place, k=1)

        def forward(self, question: str) -> Any:
            return dspy.Prediction(context=self.retrieve(question).passages)

    program = Lookup()
    copied = program.deepcopy()
    assert copied(question=QUESTION).context == program(question=QUESTION).context
    program.retrieve.k = 2
    program.save(tmp_path / "program.json")
    again = Lookup()
    again.load(tmp_path / "program.json")
    assert len(again(question=QUESTION).context) == 2


def test_a_wrong_place_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match="no index"):
        ChunkwiseRM(tmp_path / "nothing")
