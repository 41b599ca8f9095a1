"""Every verb that takes jobs takes a cluster, and gives the same."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Query, Reference
from chunkwise.options import LoadOptions
from cluster_here import ClusterHere
from hash_embedder import HashEmbedder, PlainHashEmbedder

WORDS = "heron otter badger falcon river forest meadow night winter stone bridge boat".split()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    chance = random.Random(3)
    for folder in ("docs", "docs/sub"):
        (tmp_path / folder).mkdir()
        for number in range(7):
            parts = [
                f"## {chance.choice(WORDS)}\n\n"
                + " ".join(
                    f"The {chance.choice(WORDS)} by the {chance.choice(WORDS)} saw a {chance.choice(WORDS)}."
                    for _ in range(9)
                )
                for _ in range(3)
            ]
            text = f"# Part {number}\n\n" + "\n\n".join(parts)
            (tmp_path / folder / f"{number}.md").write_text(text)
    return tmp_path / "docs"


def _files(folder: Path) -> dict[str, bytes]:
    """Of an index, whatever its generation is called."""
    found = (each for each in folder.rglob("*") if each.is_file())
    return {each.name: each.read_bytes() for each in found}


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize("vectors", ["late", "own", "none"])
def test_an_index_has_the_same_bytes(docs: Path, tmp_path: Path, vectors: Any) -> None:
    model = None if vectors == "none" else HashEmbedder()
    cluster = ClusterHere()
    made = {}
    for name, jobs in (("here", 1), ("there", cluster)):
        # The same document twice has another id the second time.
        source = [docs, docs / "sub" / "1.md"]
        kb = tmp_path / name
        made[name] = chunkwise.index(
            source, "sentences(max_tokens=40)", embedder=model, vectors=vectors, into=kb, jobs=jobs,
            context="headings",
        )  # fmt: skip
    assert str(made["here"].changes) == str(made["there"].changes)
    assert _files(tmp_path / "here") == _files(tmp_path / "there")
    assert cluster.stages == [
        "read, chunk and count words" if vectors == "none" else "read, chunk and embed"
    ]
    assert cluster.groups[0].is_stopped


def test_an_update_by_a_cluster_is_the_same_and_makes_what_is_new(
    docs: Path, tmp_path: Path
) -> None:
    for name, jobs in (("here", 1), ("there", ClusterHere())):
        kb = tmp_path / name
        chunkwise.index(docs, embedder=HashEmbedder(), into=kb, jobs=jobs)
    (docs / "3.md").write_text("# Other\n\nAnother text about boats.")
    (docs / "5.md").unlink()
    for name, jobs in (("here", 1), ("there", ClusterHere())):
        kb = chunkwise.open_index(tmp_path / name, embedder=HashEmbedder())
        changes = kb.update(docs, jobs=jobs)
        assert (changes.changed, changes.removed, changes.unchanged) == (1, 1, 12)
    assert _files(tmp_path / "here") == _files(tmp_path / "there")


def test_a_document_that_ends_its_process_is_told_and_the_rest_is_indexed(docs: Path) -> None:
    problems: list[str] = []
    made = chunkwise.index(
        docs, embedder=PlainHashEmbedder(), vectors="own", jobs=ClusterHere(dies_at="docs/4.md"),
        options=LoadOptions(on_unreadable=lambda each: problems.append(str(each))),
    )  # fmt: skip
    assert len(made) == 13
    assert [each.partition(": ")[2] for each in problems] == [
        "a worker process died during chunking, perhaps for lack of memory"
    ]


def test_a_model_that_cannot_travel_is_asked_here(docs: Path) -> None:
    class Local(HashEmbedder):
        pass

    cluster = ClusterHere()
    made = chunkwise.index(docs, embedder=Local(), jobs=cluster)
    assert len(made) == 14
    assert cluster.stages == ["read and chunk"]


def test_chunks_lint_and_profile_are_the_same(docs: Path) -> None:
    assert list(chunkwise.chunk(docs, jobs=ClusterHere())) == list(chunkwise.chunk(docs))
    assert chunkwise.lint(docs, jobs=ClusterHere()) == chunkwise.lint(docs)
    cluster = ClusterHere()
    source = [docs, docs / "sub" / "1.md"]
    assert chunkwise.profile(source, jobs=cluster) == chunkwise.profile(source)
    assert cluster.stages == ["read, chunk and profile"]


@pytest.mark.usefixtures("processes")
def test_profiles_of_processes_are_the_same(docs: Path) -> None:
    assert chunkwise.profile(docs, jobs=2) == chunkwise.profile(docs)


def _questions(docs: Path) -> list[Query]:
    some = list(chunkwise.read(docs))[:6]
    return [Query(each.id, each.text[30:80], (Reference(each.id, 30, 80),)) for each in some]


def test_an_evaluation_is_the_same(docs: Path) -> None:
    questions = _questions(docs)
    found = [
        chunkwise.evaluate(docs, questions, strategy="sentences(max_tokens=60)", embedder=HashEmbedder(), jobs=jobs)
        for jobs in (1, ClusterHere())
    ]  # fmt: skip
    assert found[0] == found[1]


@pytest.mark.usefixtures("processes")
def test_a_sweep_is_the_same(docs: Path) -> None:
    questions = _questions(docs)
    cluster = ClusterHere()
    found = [chunkwise.tune(docs, questions, embedder="", jobs=jobs).sweep for jobs in (1, cluster)]
    assert found[0].chosen == found[1].chosen
    assert [each.scores for each in found[0].outcomes] == [
        each.scores for each in found[1].outcomes
    ]
    assert set(cluster.stages) == {"configurations"}


def test_no_number_and_no_cluster_is_an_error(docs: Path) -> None:
    for wrong in (0, "2", True):
        with pytest.raises(InvalidParameter, match="jobs is"):
            chunkwise.profile(docs, jobs=wrong)  # type: ignore[arg-type]
