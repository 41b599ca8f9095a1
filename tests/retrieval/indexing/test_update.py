"""Updates of an index: documents that stay though they are not read again, and what a user is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import chunkwise
from chunkwise import ChunkwiseError, Document, index
from chunkwise.base.errors import InvalidParameter
from chunkwise.core import Block
from chunkwise.documents import LoadOptions
from chunkwise.ext import get_strategy
from chunkwise.models.embed.onnx import Long
from chunkwise.models.embed.pretrained import minilm
from chunkwise.retrieval.indexing.fingerprint import (
    OnlyNew,
    RunningFingerprint,
    document_fingerprint,
    fingerprint_heads,
    unfinished_fingerprint,
)
from chunkwise.retrieval.indexing.update import DocumentNaming
from chunkwise.retrieval.local.manifest import MANIFEST_NAME
from how_many import examples
from retrieval.postgres_server import new_url
from retrieval.tiny_embedder import Tiny, WholeTexts
from tables import cases

Put = Callable[..., chunkwise.Index]


@pytest.fixture(params=["folder", "postgres"])
def put(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Put:
    """Brings one index, of words alone, up to date with these inputs; what is skipped is on its `skipped`."""
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "kb" if request.param == "folder" else new_url()

    def put(inputs: Any, **options: Any) -> chunkwise.Index:
        options.setdefault("options", LoadOptions(on_unreadable=lambda _: None))
        return chunkwise.index(inputs, into=place, vectors="none", **options)

    return put


def texts(index: chunkwise.Index) -> dict[str, str]:
    numbers = index.source.document_numbers()
    return {each.id: each.text for each in map(index.source.document, numbers)}


def lines(*records: dict[str, str] | str) -> str:
    return "".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in records)


def record(id: str, text: str = "") -> dict[str, str]:
    return {"id": id, "text": text or f"The plum of {id}."}


def test_a_record_that_is_broken_once_keeps_its_document(put: Put, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(lines(record("a"), record("b"), record("c")))
    (tmp_path / "other.txt").write_text("Another plum.")
    put(["corpus.jsonl", "other.txt"])
    corpus.write_text(lines(record("a"), '{"id": "b", "te', record("c", "A new plum.")))
    (tmp_path / "more.txt").write_text("One more plum.")
    index = put(["corpus.jsonl", "more.txt"])
    assert str(index.changes) == "1 added, 1 changed, 1 removed, 2 unchanged, 1 skipped"
    assert index.changes is not None
    [note] = index.changes.notes
    assert re.match(r"1 document .*: b\Z", note)
    assert texts(index)["b"] == "The plum of b."
    assert [hit.doc_id for hit in index.search("plum of b", k=1)] == ["b"]
    # It is still broken the next time, and then whole again.
    assert str(put(["corpus.jsonl", "more.txt"]).changes) == "4 unchanged, 1 skipped"
    corpus.write_text(lines(record("a"), record("b", "Mended."), record("c")))
    index = put(["corpus.jsonl", "more.txt"])
    assert str(index.changes) == "2 changed, 2 unchanged"
    assert index.changes is not None
    assert index.changes.notes == ()
    corpus.write_text(lines(record("a")))
    assert str(put(["corpus.jsonl"]).changes) == "3 removed, 1 unchanged"


@cases("bad", [{"id": "b", "text": None}, record("a"), {"id": "x", "n": "1"}])
def test_a_record_that_was_read_and_is_no_document_keeps_nothing(
    put: Put, tmp_path: Path, bad: dict[str, str]
) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(lines(record("a"), record("b"), record("c")))
    put("corpus.jsonl")
    corpus.write_text(lines(record("a"), *[bad] * 30))
    index = put("corpus.jsonl")
    assert index.changes is not None
    assert (index.changes.removed, index.changes.unchanged, index.changes.notes) == (2, 1, ())


def test_a_file_that_was_read_and_has_no_text_any_more_keeps_nothing(
    put: Put, tmp_path: Path
) -> None:
    page, other = tmp_path / "page.html", tmp_path / "other.md"
    page.write_text("<p>Purple whales sing.")
    other.write_text("Otters swim.")
    assert len(texts(put(["page.html", "other.md"]))) == 2
    page.write_text("<p> </p>")
    index = put(["page.html", "other.md"])
    assert list(texts(index).values()) == ["Otters swim."]
    assert index.changes is not None
    assert index.changes.notes == ()


def test_a_json_list_and_an_archive_keep_theirs_too(put: Put, tmp_path: Path) -> None:
    import zipfile

    def write(bad: object, line: str) -> None:
        (tmp_path / "c.json").write_text(json.dumps([record("a"), bad]))
        with zipfile.ZipFile(tmp_path / "z.zip", "w") as packed:
            packed.writestr("d/c.jsonl", lines(record("x"), line))

    write(record("b"), json.dumps(record("y")))
    assert str(put(["c.json", "z.zip"]).changes) == "4 added"
    write(7, "nothing")
    index = put(["c.json", "z.zip"])
    assert str(index.changes) == "4 unchanged, 2 skipped"
    assert index.changes is not None
    assert index.changes.notes[0].endswith("may belong to them: b, y")


def test_added_documents_stand_beside_the_others(put: Put, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "deep").mkdir(parents=True)
    (home / "a.txt").write_text("The first plum.")
    (home / "deep" / "b.txt").write_text("The second plum.")
    put("home")
    (tmp_path / "new.txt").write_text("A new plum.")
    index = put("new.txt", keep_others=True)
    assert str(index.changes) == "1 added, 2 unchanged"
    # The file is known by its source, under whatever folder it was named.
    (home / "deep" / "b.txt").write_text("The second plum, changed.")
    index = put(["home/deep/b.txt", tmp_path / "new.txt"], keep_others=True)
    assert str(index.changes) == "1 changed, 2 unchanged"
    assert texts(index) == {
        "a.txt": "The first plum.",
        "deep/b.txt": "The second plum, changed.",
        "new.txt": "A new plum.",
    }
    assert {hit.doc_id for hit in index.search("plum", k=9)} == set(texts(index))
    # Without it the index is one of exactly the inputs, as before.
    assert str(put("home").changes) == "1 removed, 2 unchanged"


def test_a_namesake_takes_nobodys_place(put: Put, tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "read.me").write_text(f"The plum of {name}.")
    put("one")
    assert str(put("two", keep_others=True).changes) == "1 added, 1 unchanged"
    assert str(put("two/read.me", keep_others=True).changes) == "2 unchanged"
    (tmp_path / "two" / "read.me").write_text("The plum of two, changed.")
    index = put(["three", "two"], keep_others=True)
    assert str(index.changes) == "1 added, 1 changed, 1 unchanged"
    assert texts(index) == {
        "read.me": "The plum of one.",
        "two/read.me": "The plum of two, changed.",
        "three/read.me": "The plum of three.",
    }


def test_records_are_added_to_those_of_their_file(put: Put, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(lines(record("a"), record("b"), {"text": "No id."}))
    put("corpus.jsonl")
    corpus.write_text(lines(record("c"), record("b", "Another."), {"text": "Now with an id."}))
    index = put("corpus.jsonl", keep_others=True)
    assert str(index.changes) == "1 added, 2 changed, 1 unchanged"
    assert sorted(texts(index)) == ["a", "b", "c", "corpus.jsonl#3"]


def test_what_cannot_be_added_changes_nothing(put: Put, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The first plum.")
    put("a.txt")
    for inputs in ("missing.txt", []):
        with pytest.raises(ChunkwiseError, match="the index is unchanged, with 1 document"):
            put(inputs, keep_others=True)
    (tmp_path / "b.txt").write_text("The second plum.")
    (tmp_path / "a.txt").write_text("")
    index = put(["b.txt", "a.txt"], keep_others=True)
    assert str(index.changes) == "1 added, 1 unchanged, 1 skipped"
    assert texts(index)["a.txt"] == "The first plum."
    with pytest.raises(InvalidParameter, match="exclude each other"):
        put("b.txt", keep_others=True, rebuild=True)


def test_a_first_document_makes_the_index(put: Put) -> None:
    assert str(put([Document("a", "A plum.")], keep_others=True).changes) == "1 added"


def test_adding_what_is_there_writes_nothing(tmp_path: Path) -> None:
    documents = [Document(name, f"The plum of {name}.") for name in "abcd"]
    chunkwise.index(documents, into=tmp_path / "kb", vectors="none")
    before = (tmp_path / "kb" / MANIFEST_NAME).stat().st_mtime_ns
    index = chunkwise.open_index(tmp_path / "kb")
    assert str(index.update(documents[2:3], keep_others=True)) == "4 unchanged"
    assert (tmp_path / "kb" / MANIFEST_NAME).stat().st_mtime_ns == before
    assert (
        str(index.update([Document("c", "Changed.")], keep_others=True)) == "1 changed, 3 unchanged"
    )
    assert index.source.ids() == ["c", "a", "b", "d"]
    index.verify()


def test_a_third_document_of_a_name_is_numbered() -> None:
    naming, taken = DocumentNaming(dict, bool), set[str]()
    for id in ("a", "a~2", "a~3"):
        taken.add(naming.id_of(Document("a", "A plum."), taken.__contains__))
        assert id in taken


def test_a_document_of_the_same_file_is_known_by_the_end_of_its_id() -> None:
    naming = DocumentNaming(lambda: {"deep/hours.txt": "in", "a/x/read.me": "in"}, bool)
    for id, known in [("hours.txt", "deep/hours.txt"), ("a/y/read.me", "a/y/read.me")]:
        assert naming.id_of(Document(id, "A plum.", source="in"), set().__contains__) == known


DOCUMENTS = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from(["Plums.", "Pears.", "A fig."])),
    min_size=1,
    unique_by=lambda pair: pair[0],
)


@settings(max_examples=examples(20), suppress_health_check=list(HealthCheck))
@given(st.lists(DOCUMENTS, min_size=1, max_size=4))
def test_an_index_in_memory_is_what_a_mapping_would_be(
    steps: list[list[tuple[str, str]]],
) -> None:
    expected: dict[str, str] = {}
    index: chunkwise.Index | None = None
    for step in steps:
        documents = [Document(id, text) for id, text in step]
        if index is None:
            index = chunkwise.index(documents, vectors="none")
        else:
            index.update(documents, keep_others=True)
        # What is new or changed comes first.
        changed = {id: text for id, text in step if expected.get(id) != text}
        expected = changed | {id: text for id, text in expected.items() if id not in changed}
        assert list(texts(index).items()) == list(expected.items())
        found = {hit.doc_id for hit in index.search("plums", k=9)}
        assert found == {id for id, text in expected.items() if text == "Plums."}


NOTES = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.integers(0, 4)), min_size=1, unique_by=lambda pair: pair[0]
).map(lambda rows: [Document(f"{id}.md", SAID[number], title=f"Of {number}") for id, number in rows])  # fmt: skip
SAID = [
    "Plums.", "# Pears\n\nAnna Orme ate a pear. Anna Orme slept.\n\n## Figs\n\nA fig.",
    "| a | b |\n|---|---|\n| fig | plum |\n", "Anna Orme has a fig tree. " * 30, "\n\n", "Übel \ud83d Obst.",
]  # fmt: skip


@settings(max_examples=examples(20), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(NOTES, min_size=2, max_size=3), st.sampled_from(["none", "own", "both"]))
def test_an_index_brought_up_to_date_is_the_one_made_anew(
    steps: list[list[Document]], vectors: Any
) -> None:
    options: dict[str, Any] = {
        "vectors": vectors, "embedder": None if vectors == "none" else Tiny(), "context": "headings",
        "settings": chunkwise.options.IndexOptions(graph=True),
    }  # fmt: skip
    made = chunkwise.index(steps[0], "sentences(max_tokens=20)", **options)
    for step in steps[1:]:
        made.update(step)
    anew = chunkwise.index(steps[-1], "sentences(max_tokens=20)", **options)
    assert made.source.ids() == anew.source.ids()
    assert made.settings == anew.settings
    ours, theirs = made.source.arrays, anew.source.arrays  # type: ignore[attr-defined]
    assert set(ours) == set(theirs)
    for name, values in theirs.items():
        np.testing.assert_array_equal(ours[name], values, name)


DESCRIBED = Document(
    "a", "A plum.", title="ab", format="own", language="en", blocks=(), pages=(0, 2)
)


@cases(
    "other",
    [
        {"text": "A plum. "}, {"title": "a"}, {"title": "a", "format": "bown"}, {"format": "ow", "language": "nen"},
        {"language": "de"}, {"blocks": None, "format": "text"}, {"pages": (0, 3)}, {"pages": ()},
        {"blocks": (Block("paragraph", 0, 2),)},
    ],
)  # fmt: skip
def test_what_an_index_is_made_from_makes_another_fingerprint(other: dict[str, Any]) -> None:
    assert document_fingerprint(replace(DESCRIBED, **other)) != document_fingerprint(DESCRIBED)


@given(st.lists(st.text(max_size=4), max_size=5), st.integers(-1, 1))
def test_a_text_in_pieces_has_the_fingerprint_of_the_whole(parts: list[str], more: int) -> None:
    whole = replace(DESCRIBED, id="b", text="".join(parts), source="there", metadata={"a": 1})
    size = len(whole.text.encode("utf-8", "surrogatepass")) + more
    running = RunningFingerprint(replace(DESCRIBED, text=""), max(size, 0))
    assert list(running.over(parts)) == parts
    expected = document_fingerprint(replace(whole, id="c", source="", metadata={}))
    assert running.found() == (expected if size >= 0 and not more else None) or size < 0
    missing = unfinished_fingerprint(expected)
    assert missing != expected
    assert (len(missing), unfinished_fingerprint(missing)) == (len(expected), expected)


@given(st.sets(st.integers(0, 30)), st.sets(st.integers(0, 30)))
def test_documents_that_are_known_are_passed_over(known: set[int], asked: set[int]) -> None:
    documents = [Document(str(number), f"The plum of {number}.") for number in range(31)]
    prints = [document_fingerprint(each) for each in documents]
    strategy = get_strategy("sentences")
    new = OnlyNew(strategy, fingerprint_heads(prints[number] for number in known))
    assert new.of_all.label == strategy.label
    for number in asked:
        assert new.knows(prints[number]) == (number in known)
        own = list(new.chunks(documents[number]))
        assert own == ([] if number in known else list(strategy.chunks(documents[number])))


LONG_TEXTS_DOCUMENTS = [
    Document(
        "long.txt", "The harbour master keeps a list of all lamps and who lit them at dusk. " * 2
    ),
    Document("short.txt", "A rope."),
]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))


def _notes(window: int, long: Long = "windows", **more: object) -> tuple[str, ...]:
    model = minilm(window=window, long=long)
    made = index(
        LONG_TEXTS_DOCUMENTS, "sentences(max_tokens=20)", embedder=model, vectors="own", **more
    )  # type: ignore[arg-type]
    assert made.changes is not None
    return made.changes.notes


def test_texts_that_are_read_in_windows_are_counted() -> None:
    for _ in range(2):  # the second time from the cache
        (note,) = _notes(12)
        assert note.startswith("2 of 3 texts are longer than minilm")
        assert note.endswith("'s window of 12 tokens: embedded in windows and averaged")


def test_texts_that_are_cut_off_are_counted() -> None:
    (note,) = _notes(12, "truncate")
    assert note.endswith("window of 12 tokens: truncated after 12 tokens")


def test_the_context_counts_and_what_fits_is_not_told() -> None:
    assert _notes(24) == ()
    titled = [
        Document(each.id, each.text, title="Of lamps and ropes")
        for each in LONG_TEXTS_DOCUMENTS[:1]
    ]
    made = index(
        titled,
        "sentences(max_tokens=20)",
        embedder=minilm(window=20),
        vectors="own",
        context="headings",
    )
    assert made.changes is not None
    assert made.changes.notes[0].startswith("2 of 2 texts are")


def test_late_vectors_and_models_that_cannot_tell_say_nothing() -> None:
    for made in (
        index(LONG_TEXTS_DOCUMENTS, embedder=minilm(window=12), vectors="late"),
        index(LONG_TEXTS_DOCUMENTS, embedder=Tiny(), vectors="own"),
        index(LONG_TEXTS_DOCUMENTS, embedder=WholeTexts(), vectors="own"),
        index(LONG_TEXTS_DOCUMENTS, vectors="none"),
    ):
        assert made.changes is not None
        assert made.changes.notes == ()


def test_nothing_is_fetched_to_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _notes(12)
    monkeypatch.setenv("CHUNKWISE_MODELS", str(tmp_path / "none"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    assert _notes(12) == ()


class EnglishOnly(Tiny):
    languages = ("en",)


_SAID = {
    "de": "Der Hafenmeister führt eine Liste aller Lampen, und wer sie am Abend angezündet hat, steht auch darin. ",
    "en": "The harbour master keeps a list of all lamps and of those who lit them in the evening. ",
    "zh": "港务长保存着所有灯的清单，以及傍晚点灯的人的名字。每天早上他都会检查这些灯。",
}


def _told_of_languages(*languages: str, embedder: Tiny | None = None) -> tuple[str, ...]:
    documents = [
        Document(f"{number}.txt", _SAID[language] * 3) for number, language in enumerate(languages)
    ]
    made = index(documents, "sentences", embedder=embedder or EnglishOnly())
    assert made.changes is not None
    return made.changes.notes


def test_documents_that_the_model_was_not_made_for_are_told_in_a_line() -> None:
    (note,) = _told_of_languages("de", "en", "zh", "de")
    assert note.startswith("3 of 4 documents are in a language that")
    assert "(de or zh)" in note
    assert "--embedder use-multi" in note
    assert "\n" not in note


def test_no_model_is_recommended_that_does_not_know_the_language_either() -> None:
    greek = (
        "Ο λιμενάρχης κρατά έναν κατάλογο με όλες τις λάμπες και όσους τις άναψαν το βράδυ. " * 3
    )
    made = index([Document("1.txt", greek)], "sentences", embedder=EnglishOnly())
    assert made.changes is not None
    (note,) = made.changes.notes
    assert "--embedder" in note
    assert "use-multi" not in note


def test_a_model_that_knows_the_language_or_does_not_say_is_left_in_peace() -> None:
    assert _told_of_languages("en", "en") == ()
    assert _told_of_languages("de", "zh", embedder=Tiny()) == ()
    assert _told_of_languages(*["en"] * 11, "de") == ()
