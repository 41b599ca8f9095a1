"""A long text indexed segment by segment has the rows of the whole; lost halfway, it leaves nothing behind."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chunkwise
from chunkwise import ChunkwiseError
from chunkwise.chunkers.chunk_long_texts import SegmentSizes, in_segments
from chunkwise.options import IndexOptions, LoadOptions
from chunkwise.records import encoding
from chunkwise.retrieval.indexing import long_documents
from chunkwise.retrieval.indexing.fingerprint import OnlyNew, document_fingerprint
from chunkwise.retrieval.local.index import LocalIndex
from cluster_here import ClusterHere
from retrieval.postgres_server import new_url
from retrieval.tiny_embedder import Tiny

_WORDS = "harbour pilot tide lantern ledger rope anchor signal berth cargo crane buoy".split()


def _text(seed: int, parts: int) -> str:
    """Markdown with sections, lists, tables and characters of several widths."""
    chance = random.Random(seed)

    def sentence() -> str:
        count = chance.randint(4, 18)
        return " ".join(chance.choices(_WORDS, k=count)).capitalize() + chance.choice(".?!…")

    found = []
    for number in range(parts):
        found.append(f"{'#' * chance.randint(1, 3)} Part {number} 灯台")
        found.append(" ".join(sentence() for _ in range(chance.randint(1, 9))))
        if chance.random() < 0.4:
            found.append("\n".join(f"- {sentence()}" for _ in range(chance.randint(2, 5))))
        if chance.random() < 0.2:
            rows = "\n".join(f"| {chance.choice(_WORDS)} | {number} |" for number in range(6))
            found.append(f"| Thing | Number |\n|---|---|\n{rows}")
    return "\n\n".join(found) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two short documents, and a long one between them."""
    made = tmp_path / "documents"
    made.mkdir()
    (made / "a.md").write_text("# First\n\nThe pilot sees the buoy.\n")
    (made / "b.md").write_text(_text(3, 700))
    (made / "c.md").write_text("# Last\n\nThe crane lifts the anchor.\n")
    return made


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What is long made short; has the chunks of each segment that is cut."""
    found: list[int] = []

    def noted(*given: Any) -> Iterator[Any]:
        for each in in_segments(*given, SegmentSizes(12_000, tail=1_200)):
            found.append(len(each.chunks))
            yield each

    _long_from(monkeypatch, 20_000)
    monkeypatch.setattr("chunkwise.documents.long_texts._HEAD", 4_000)
    monkeypatch.setattr("chunkwise.records.encoding._PIECE", 3_001)  # characters are cut in two
    monkeypatch.setattr(long_documents, "in_segments", noted)
    return found


def _long_from(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr("chunkwise.chunkers.chunk.SMALL", size)
    monkeypatch.setattr("chunkwise.documents.long_texts.SMALL", size)


def _local(index: chunkwise.Index) -> LocalIndex:
    assert isinstance(index.source, LocalIndex)
    return index.source


def _rows(index: chunkwise.Index) -> dict[str, Any]:
    """All that an index holds; sections by their paths, which may be numbered otherwise."""
    arrays = dict(_local(index).arrays)
    found: dict[str, Any] = {
        name: each.tolist()
        for name, each in arrays.items()
        if not name.startswith(("title.", "path.")) and not name.endswith(".section")
    }
    titles = [
        arrays["title.bytes"][lo:hi].tobytes()
        for lo, hi in zip(arrays["title.first"], arrays["title.first"][1:], strict=False)
    ]
    for table in ("chunk", "atom"):
        document = np.repeat(
            np.arange(len(arrays[f"{table}.first"]) - 1), np.diff(arrays[f"{table}.first"])
        )
        number = arrays["path.first"][document] + arrays[f"{table}.section"]
        found[f"{table}.section"] = [titles[each] for each in number.tolist()]
    return found


_KINDS: list[tuple[str, dict[str, Any]]] = [
    ("structure(max_tokens=60)", {"vectors": "none", "context": "headings"}),
    ("structure(max_tokens=60)", {"vectors": "own"}),
    ("sentences(max_tokens=80, overlap=30)", {"vectors": "none"}),
    ("paragraphs", {"vectors": "own"}),
    ("sections", {"vectors": "none", "context": "headings"}),
]


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize(("strategy", "options"), _KINDS)
def test_the_rows_are_those_of_the_whole(
    folder: Path,
    tmp_path: Path,
    seen: list[int],
    monkeypatch: pytest.MonkeyPatch,
    strategy: str,
    options: dict[str, Any],
) -> None:
    if options["vectors"] != "none":
        options = {**options, "embedder": Tiny()}
    made = chunkwise.index(folder, strategy=strategy, into=tmp_path / "kb", **options)
    assert len(seen) > 4
    _long_from(monkeypatch, 1 << 30)
    whole = chunkwise.index(folder, strategy=strategy, into=tmp_path / "whole", **options)
    found, wanted = _rows(made), _rows(whole)
    tokens = np.array([found.pop("atom.tokens"), wanted.pop("atom.tokens")])
    assert found == wanted
    # Where a segment begins, its first word is counted without the space before it.
    assert (tokens[0] != tokens[1]).sum() < len(seen)
    assert np.abs(tokens[0] - tokens[1]).max() <= 3


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize(
    "strategy",
    ["words(max_words=50, overlap=10)", "tokens(max_tokens=60)", "characters", "parent_child"],
)
@pytest.mark.parametrize("vectors", ["none", "both"])
def test_where_segments_meet_nothing_is_lost(
    folder: Path,
    tmp_path: Path,
    seen: list[int],
    monkeypatch: pytest.MonkeyPatch,
    strategy: str,
    vectors: Any,
) -> None:
    given = {"strategy": strategy, "vectors": vectors}
    if vectors != "none":
        given["embedder"] = Tiny()
    made = _rows(chunkwise.index(folder, into=tmp_path / "kb", **given))
    assert len(seen) > 4
    _long_from(monkeypatch, 1 << 30)
    whole = _rows(chunkwise.index(folder, into=tmp_path / "whole", **given))
    same = {
        name
        for name in whole
        if not name.startswith(("atom", "chunk", "title", "context", "span", "summary"))
    }
    assert {name for name in same if made[name] != whole[name]} == set()
    # The atoms tile the text, with one more where a segment ends within one.
    assert set(whole["atom.start"]) <= set(made["atom.start"])
    more = len(made["atom.start"]) - len(whole["atom.start"])
    assert 0 <= more < 2 * len(seen)
    documents = zip(made["atom.first"], made["atom.first"][1:], strict=False)
    for lo, hi in documents:
        assert made["atom.end"][lo : hi - 1] == made["atom.start"][lo + 1 : hi]
    assert sum(made["atom_terms.length"]) == sum(whole["atom_terms.length"])


@pytest.mark.usefixtures("large_inputs")
def test_tokens_compared_one_by_one_are_those_of_the_whole(
    folder: Path, seen: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = chunkwise.index(folder, vectors="none", settings=IndexOptions(maxsim=Tiny()))
    assert len(seen) > 4
    _long_from(monkeypatch, 1 << 30)
    whole = chunkwise.index(folder, vectors="none", settings=IndexOptions(maxsim=Tiny()))
    sizes = [np.diff(_local(each).arrays["token.first"]).tolist() for each in (made, whole)]
    assert sizes[0] == sizes[1]


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize("vectors", ["none", "late"])
def test_a_cluster_makes_the_same_rows(
    folder: Path, tmp_path: Path, seen: list[int], vectors: Any
) -> None:
    given: dict[str, Any] = {"vectors": vectors}
    if vectors != "none":
        given["embedder"] = Tiny()
    cluster: Any = ClusterHere()
    made = chunkwise.index(folder, into=tmp_path / "kb", jobs=cluster, **given)
    assert len(seen) > 4
    here = chunkwise.index(folder, into=tmp_path / "here", **given)
    assert _rows(made) == _rows(here)
    del seen[:]
    again = chunkwise.index(folder, into=tmp_path / "kb", jobs=cluster, **given)
    assert (again.changes.unchanged, seen) == (3, [])


def test_a_cluster_sends_nothing_back_of_a_long_text_that_the_index_has(
    folder: Path, tmp_path: Path, seen: list[int]
) -> None:
    cluster: Any = ClusterHere()
    chunkwise.index(folder, into=tmp_path / "kb", vectors="none", jobs=cluster)
    size = (folder / "b.md").stat().st_size
    # Of one that it has not: all, and never much of it at once.
    answers = cluster.groups[-1].answers
    assert sum(answers) > size
    assert max(answers) < sum(answers) / 5
    again = chunkwise.index(folder, into=tmp_path / "kb", vectors="none", jobs=cluster)
    assert again.changes.unchanged == 3
    assert max(cluster.groups[-1].answers) < size / 20
    (folder / "b.md").rename(folder / "b2.md")
    moved = chunkwise.index(folder, into=tmp_path / "kb", vectors="none", jobs=cluster)
    assert moved.source.ids() == ["a.md", "b2.md", "c.md"]
    assert max(cluster.groups[-1].answers) < size / 20


@pytest.mark.usefixtures("large_inputs")
def test_a_long_text_that_a_cluster_takes_for_another_is_read_again_here(
    folder: Path, tmp_path: Path, seen: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers go by the first half of a fingerprint, which another document of the index may share."""
    given: dict[str, Any] = {"vectors": "none", "into": tmp_path / "kb"}
    chunkwise.index(folder, **given)
    (folder / "b.md").write_text(_text(4, 700))
    monkeypatch.setattr(OnlyNew, "knows", lambda self, fingerprint: True)
    cluster: Any = ClusterHere()
    made = chunkwise.index(folder, jobs=cluster, **given)
    assert (made.changes.changed, made.changes.unchanged) == (1, 2)
    fresh = chunkwise.index(folder, into=tmp_path / "fresh", vectors="none")
    assert _rows(made) == _rows(fresh)


@pytest.mark.usefixtures("large_inputs")
def test_a_long_text_is_gone_through_three_times_and_twice_where_the_index_has_it(
    folder: Path, tmp_path: Path, seen: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.md").unlink()
    (folder / "c.md").unlink()
    read: list[int] = []
    decoded = encoding.decoded

    def noted(*given: Any) -> Iterator[str]:
        for piece in decoded(*given):
            read.append(len(piece))
            yield piece

    size = len((folder / "b.md").read_text())
    for module in ("documents.long_texts", "records.encoding"):
        monkeypatch.setattr(f"chunkwise.{module}.decoded", noted)
    chunkwise.index(folder, into=tmp_path / "kb", vectors="none")
    assert 3 * size <= sum(read) < 3.1 * size  # its encoding, its fingerprint, its chunks
    del read[:]
    chunkwise.index(folder, into=tmp_path / "kb", vectors="none")
    assert 2 * size <= sum(read) < 2.1 * size
    # Beside another of its name it gets another id, which is no reason to read it once more.
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.md").write_text((folder / "b.md").read_text() + "The lamp is out.\n")
    del read[:]
    made = chunkwise.index(other, into=tmp_path / "kb", vectors="none", keep_others=True)
    assert len(made.source.ids()) == 2
    assert 3 * size <= sum(read) < 3.1 * size


def test_segments_have_no_fingerprints_of_their_own(
    folder: Path, seen: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def noted(document: Any) -> str:
        made.append(document.id)
        return document_fingerprint(document)

    monkeypatch.setattr("chunkwise.retrieval.indexing.build.document_fingerprint", noted)
    chunkwise.index(folder, vectors="none")
    assert len(seen) > 4
    assert set(made) == {"a.md", "c.md"}


def test_what_is_told_here_need_not_travel(folder: Path, seen: list[int]) -> None:
    held = threading.Lock()  # no process can be sent one

    def note(*given: Any) -> None:
        held.acquire(blocking=False)

    cluster: Any = ClusterHere()
    options = chunkwise.options.LoadOptions(on_passed_over=note, on_renamed=note)
    made = chunkwise.index(folder, vectors="none", jobs=cluster, options=options)
    assert (len(made.source.ids()), len(seen) > 4) == (3, True)


def test_what_a_machine_of_a_cluster_loses_halfway_is_told(
    folder: Path, seen: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    _breaking(monkeypatch, 3)
    told: list[str] = []
    cluster: Any = ClusterHere()
    made = chunkwise.index(
        folder,
        vectors="none",
        jobs=cluster,
        options=LoadOptions(on_unreadable=lambda each: told.append(str(each))),
    )
    assert told == [f"{folder / 'b.md'}: input/output error"]
    assert list(made.source.ids()) == ["a.md", "c.md"]


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("place", ["memory", "folder", "postgres"])
def test_every_place_takes_a_long_text(
    folder: Path, tmp_path: Path, seen: list[int], place: str
) -> None:
    into = {"memory": None, "folder": tmp_path / "kb", "postgres": None}[place]
    target: Any = new_url() if place == "postgres" else into
    made = chunkwise.index(folder, into=target, vectors="none")
    assert len(seen) > 4
    numbers = made.source.document_numbers()
    documents = list(map(made.source.document, numbers))
    assert [each.id for each in documents] == ["a.md", "b.md", "c.md"]
    assert documents[1].text == (folder / "b.md").read_text()
    (hit,) = made.search("part 137", k=1)
    assert "Part 137" in " ".join((*hit.section, hit.text))
    if place != "memory":
        del seen[:]
        again = chunkwise.index(folder, into=target, vectors="none")
        assert (again.changes.unchanged, seen) == (3, [])


@pytest.mark.usefixtures("large_inputs")
def test_a_long_text_that_changed_takes_the_place_of_what_it_was(
    folder: Path, tmp_path: Path, seen: list[int]
) -> None:
    chunkwise.index(folder, into=tmp_path / "kb", vectors="none")
    (folder / "b.md").write_text(_text(4, 700))
    made = chunkwise.index(folder, into=tmp_path / "kb", vectors="none")
    assert (made.changes.changed, made.changes.unchanged) == (1, 2)
    (folder / "b.md").rename(folder / "other.md")
    del seen[:]
    made = chunkwise.index(folder, into=tmp_path / "kb", vectors="none")
    assert seen == []  # the text is known under another name
    assert list(made.source.ids()) == ["a.md", "c.md", "other.md"]


def _breaking(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """What is cut is not what was read before: the file ends in an error after some pieces."""
    read = long_documents.LongDocument.segments

    def broken(self: Any, *given: Any) -> Iterator[Any]:
        for number, each in enumerate(read(self, *given)):
            if number == after:
                raise chunkwise.ext.UnreadableDocument(self.document.source, "input/output error")
            yield each

    monkeypatch.setattr(long_documents.LongDocument, "segments", broken)


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize("into", ["kb", None])
@pytest.mark.parametrize("after", [0, 3])
def test_nothing_stays_of_a_text_that_is_lost_halfway(
    folder: Path,
    tmp_path: Path,
    seen: list[int],
    monkeypatch: pytest.MonkeyPatch,
    into: str | None,
    after: int,
) -> None:
    _breaking(monkeypatch, after)
    told: list[str] = []
    made = chunkwise.index(
        folder,
        into=tmp_path / into if into else None,
        vectors="none",
        options=LoadOptions(on_unreadable=lambda each: told.append(str(each))),
    )
    assert told == [f"{folder / 'b.md'}: input/output error"]
    assert made.changes.skipped == 1
    (folder / "b.md").unlink()
    other = chunkwise.index(folder, into=tmp_path / "other" if into else None, vectors="none")
    assert _rows(made) == _rows(other)
    if into:
        assert chunkwise.open_index(tmp_path / into).verify() is None


def test_a_text_that_is_written_to_meanwhile_is_told(
    folder: Path, tmp_path: Path, seen: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = long_documents.in_segments

    def grown(*given: Any) -> Iterator[Any]:
        with (folder / "b.md").open("a") as file:
            file.write("\nOne more line.\n")
        yield from real(*given)

    monkeypatch.setattr(long_documents, "in_segments", grown)
    told: list[str] = []
    made = chunkwise.index(
        folder,
        vectors="none",
        options=LoadOptions(on_unreadable=lambda each: told.append(str(each))),
    )
    assert told == [f"{folder / 'b.md'}: changed while it was read"]
    assert made.source.ids() == ["a.md", "c.md"]


def test_a_long_text_without_a_word_is_empty(tmp_path: Path, seen: list[int]) -> None:
    path = tmp_path / "blank.txt"
    path.write_text("\n" * 60_000)
    with pytest.raises(ChunkwiseError, match="empty"):
        chunkwise.index(path, vectors="none")


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.parametrize("options", [{"graph": True}, {"strategy": "semantic"}])
def test_what_is_of_the_whole_is_made_of_the_whole(
    folder: Path, seen: list[int], options: dict[str, Any]
) -> None:
    made = chunkwise.index(folder, vectors="none", **options)
    assert (len(made.source.document_numbers()), seen) == (3, [])


class Cutting(Tiny):
    """Tells what it does not read to its end."""

    long = "truncate"

    def count_long(self, texts: Sequence[str]) -> int:
        return sum(len(text.split()) > 12 for text in texts)


def test_texts_too_long_for_the_model_are_counted_in_all_segments(
    folder: Path, seen: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = []
    for size in (20_000, 1 << 30):
        _long_from(monkeypatch, size)
        made = chunkwise.index(folder, "sections", vectors="own", embedder=Cutting())
        assert made.changes is not None
        notes.append(made.changes.notes)
    assert len(seen) > 4
    assert notes[0] == notes[1] != ()


def test_the_work_is_told_to_its_end(folder: Path, seen: list[int]) -> None:
    told: list[int] = []
    chunkwise.index(folder, vectors="none", advance=lambda amount, note: told.append(amount))
    assert sum(told) == sum(len(path.read_text()) for path in folder.iterdir())
    assert len(told) > 4
