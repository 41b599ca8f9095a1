"""An index that takes the place of another keeps what nobody said otherwise."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise import ChunkwiseError, Document
from chunkwise.base.errors import InvalidOption, InvalidParameter
from chunkwise.chunkers.context_writer import prompt_version
from chunkwise.core import WRITTEN_CONTEXTS
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.language_model import Completion, Request
from chunkwise.models.llm.prompt import load_prompt
from chunkwise.options import IndexOptions
from chunkwise.retrieval.indexing.lazy_models import LazyLlm, NamedClient
from chunkwise.retrieval.indexing.relations import PROMPT
from chunkwise.retrieval.indexing.resolve_settings import resolve_for_rebuild, resolve_settings
from chunkwise.retrieval.local.manifest import MANIFEST_NAME
from retrieval.tiny_embedder import Tiny, WholeTexts
from tables import cases

DOCUMENTS = [
    Document(f"{number}.md", f"# Note {number}\n\nThe {word} is here.\n")
    for number, word in enumerate(["heron", "otter", "badger"])
]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kb"


def _made(folder: Path) -> chunkwise.Index:
    return chunkwise.index(
        DOCUMENTS, "sentences(max_tokens=25)", into=folder, vectors="none", context="headings",
        settings=IndexOptions(language="en", tokenizer="cl100k_base"),
    )  # fmt: skip


def test_the_settings_stay(folder: Path) -> None:
    first = _made(folder)
    anew = chunkwise.index(DOCUMENTS[:1], into=folder, rebuild=True)
    assert anew.settings == first.settings
    other = chunkwise.index(
        DOCUMENTS, into=folder, embedder=Tiny(), settings=IndexOptions(language="de"), rebuild=True
    )
    assert (other.settings.vectors, other.settings.language) == ("late", "de")
    assert other.settings.strategy == first.settings.strategy


def test_what_a_language_model_wrote_is_written_again_and_no_more(folder: Path) -> None:
    first = replace(_made(folder).settings, context="document", llm="openai:gpt-5")
    for before in ("", "names", "relations"):
        for requested in (None, False, True, "names", "relations"):
            if requested is None or (requested is True and before):
                expected = before
            else:
                expected = {False: "", True: "names"}.get(requested, requested)
            options = IndexOptions(graph=requested)  # type: ignore[arg-type]
            made = resolve_for_rebuild(options, replace(first, graph=before)).settings
            assert (made.context, made.llm, made.graph) == ("document", first.llm, expected)


def test_those_of_an_older_version_too(folder: Path) -> None:
    first = _made(folder)
    manifest = json.loads((folder / MANIFEST_NAME).read_text())
    manifest["settings"]["gone"] = 3
    (folder / MANIFEST_NAME).write_text(json.dumps(manifest | {"format": 1}))
    anew = chunkwise.index(DOCUMENTS, into=folder, rebuild=True)
    assert anew.settings == first.settings
    assert anew.changes is not None
    assert anew.changes.notes == ()


@pytest.mark.parametrize("settings", [{}, {"strategy": 3}, {"strategy": "x", "vectors": "all"}, 7])
def test_what_cannot_be_read_is_told(folder: Path, settings: object) -> None:
    _made(folder)
    manifest = json.loads((folder / MANIFEST_NAME).read_text())
    (folder / MANIFEST_NAME).write_text(json.dumps(manifest | {"settings": settings}))
    anew = chunkwise.index(DOCUMENTS, into=folder, embedder=Tiny(), rebuild=True)
    assert anew.settings.strategy == "structure(max_tokens=400, overlap=0)"
    assert anew.changes is not None
    assert "unreadable" in anew.changes.notes[0]


def test_a_model_of_ones_own_has_to_be_passed_again(folder: Path) -> None:
    chunkwise.index(DOCUMENTS, into=folder, embedder=Tiny())
    with pytest.raises(ChunkwiseError, match=r"'tiny-16'.*pass it"):
        chunkwise.index(DOCUMENTS, into=folder, rebuild=True)
    assert len(chunkwise.open_index(folder)) == len(DOCUMENTS)
    anew = chunkwise.index(DOCUMENTS, into=folder, embedder=WholeTexts(), rebuild=True)
    assert anew.settings.vectors == "late"  # of any other model


@pytest.mark.parametrize("said", [{"strategy": "sentenses"}, {"embedder": "minilmm"}])
def test_a_slip_is_not_laid_at_the_door_of_the_index_before(
    folder: Path, said: dict[str, str]
) -> None:
    chunkwise.index(DOCUMENTS, into=folder, embedder=Tiny())
    with pytest.raises(ChunkwiseError) as caught:
        chunkwise.index(DOCUMENTS, into=folder, rebuild=True, **{"embedder": Tiny(), **said})
    assert "was built with" not in str(caught.value)
    assert next(iter(said.values())) in str(caught.value)


def test_what_was_embedded_chunk_by_chunk_stays_so_until_told_otherwise(folder: Path) -> None:
    chunkwise.index(DOCUMENTS, into=folder, embedder=WholeTexts(), vectors="own")
    anew = chunkwise.index(DOCUMENTS, into=folder, embedder=Tiny(), rebuild=True)
    assert anew.settings.vectors == "own"
    again = chunkwise.index(DOCUMENTS, into=folder, embedder=Tiny(), vectors="late", rebuild=True)
    assert again.settings.vectors == "late"


def test_no_embedder_is_words_alone_in_every_verb(folder: Path) -> None:
    made = chunkwise.index(DOCUMENTS, into=folder, embedder="none")
    assert (made.settings.vectors, made.settings.embedder) == ("none", "")
    again = chunkwise.index(DOCUMENTS, into=folder, embedder="none")
    assert again.changes is not None
    assert again.changes.unchanged == len(DOCUMENTS)
    asked = [chunkwise.Query("q", "otter", (chunkwise.Reference("1.md", 12, 28),))]
    results = chunkwise.evaluate(DOCUMENTS, asked, embedder="none")
    assert results.configuration["vectors"] == "none"
    with pytest.raises(InvalidOption) as caught:
        chunkwise.index(DOCUMENTS, embedder="none", vectors="late")
    assert caught.value.field == "vectors"


class Silent:
    """A language model that nobody asks."""

    price_name, window, concurrency = "local", None, 1

    def __init__(self, identity: str = "silent") -> None:
        self.identity = identity

    def complete(self, request: Request, stop: Any = None) -> Completion:
        raise AssertionError(request)


def silent(identity: str = "silent") -> LlmClient:
    return LlmClient(Silent(identity))


CONTEXTS = (None, "none", "headings", *WRITTEN_CONTEXTS)


@cases("context", CONTEXTS)
@cases("graph", [None, False, True, "names", "relations"])
@cases("has_llm", [False, True])
def test_a_new_index_asks_a_model_for_what_is_asked_for(
    context: Any, graph: Any, has_llm: bool
) -> None:
    llm = silent() if has_llm else None
    requested = IndexOptions(vectors="none", context=context, graph=graph, llm=llm)
    kind = (
        graph if isinstance(graph, str) else ("relations" if has_llm else "names") if graph else ""
    )
    writes = context in WRITTEN_CONTEXTS
    if has_llm != (writes or kind == "relations") and not (writes and kind != "relations"):
        with pytest.raises(InvalidParameter):
            resolve_settings(requested, None)
        return
    found = resolve_settings(requested, None)
    settings = found.settings
    assert settings.context == (("headings" if writes and not llm else context) or "none")
    assert settings.graph == kind
    assert (settings.llm, settings.llm_identity) == (("silent",) * 2 if llm else ("", ""))
    assert bool(found.notes) == (writes and not llm)
    assert bool(settings.prompt) == (found.contexts is not None) == (writes and has_llm)
    assert bool(settings.graph_prompt) == (found.relations is not None) == (kind == "relations")
    assert found.requested_again().llm is llm
    # The same again is what it was, and whoever wrote the contexts goes on.
    again = resolve_settings(requested, settings)
    assert again.settings == settings
    assert (again.contexts is None, again.relations is None) == (
        found.contexts is None,
        found.relations is None,
    )


@cases("context", ["headings", *WRITTEN_CONTEXTS])
@cases("graph", ["", "names", "relations"])
def test_other_wordings_write_to_no_index(context: Any, graph: Any) -> None:
    first = resolve_settings(IndexOptions(vectors="none"), None).settings
    written = prompt_version(context) if context in WRITTEN_CONTEXTS else ""
    stated = load_prompt(PROMPT).version if graph == "relations" else ""
    settings = replace(
        first, context=context, graph=graph, llm="silent", llm_identity="silent", prompt=written, graph_prompt=stated
    )  # fmt: skip
    found = resolve_settings(IndexOptions(), settings)
    assert bool(found.contexts) == bool(written)
    assert bool(found.relations) == bool(stated)
    if not written and not stated:
        return
    for other in ({"prompt": "other"}, {"graph_prompt": "other"}):
        with pytest.raises(InvalidParameter):
            resolve_settings(IndexOptions(), replace(settings, **other))
    # Another model is an error at once where its name says so, else as soon as it is asked.
    assert resolve_settings(IndexOptions(llm=silent()), settings).settings == settings
    with pytest.raises(InvalidParameter):
        resolve_settings(IndexOptions(llm=silent("other")), settings)
    named = NamedClient("silent", lambda: silent("other"))
    asking = resolve_settings(IndexOptions(llm=named), settings).asking.llm
    assert asking is not None
    with pytest.raises(InvalidParameter):
        asking.check()


KEPT: list[tuple[dict[str, Any], dict[str, Any], list[Any], list[Any]]] = [
    # What it was built with; what may be asked for again, and what is another thing.
    ({"language": "en"}, {}, [{"language": "en"}], [{"language": "de"}, {"language": "auto"}]),
    ({"tokenizer": "cl100k_base"}, {}, [{"tokenizer": "cl100k_base"}], [{"tokenizer": "o200k_base"}]),
    ({}, {}, [{"context": "none"}, {"graph": False}, {"maxsim": "none"}, {"names": "none"}], [{"context": "headings"}]),
    ({}, {}, [{"vectors": "none"}], [{"vectors": "own"}, {"embedder": Tiny()}, {"llm": silent()}]),
    ({}, {}, [], [{"maxsim": "colbert"}, {"names": "gliner"}]),
    ({"context": "headings"}, {}, [{"context": "document"}, {"context": "headings"}], [{"context": "none"}]),
    ({"graph": "names"}, {}, [{"graph": True}, {"graph": "names"}], [{"graph": False}, {"graph": "relations"}]),
    ({"graph": "names"}, {}, [{"graph": None}], [{"graph": True, "llm": silent()}, {"names": "gliner"}]),
    ({}, {"strategy": "sections"}, [{"strategy": "sections"}], [{"strategy": "sentences"}]),
    ({}, {"strategy": "sections"}, [], [{"strategy": "sections(max_tokens=9)"}]),
    ({}, {"vectors": "own", "embedder": Tiny()}, [{"vectors": "own"}], [{"embedder": Tiny(8)}, {"vectors": "late"}]),
]  # fmt: skip


@cases("options, more, kept, others", KEPT)
def test_an_index_keeps_what_it_was_made_with(
    options: dict[str, Any], more: dict[str, Any], kept: list[Any], others: list[Any]
) -> None:
    first = IndexOptions(**{"vectors": "none", **options, **more})
    own = {"embedder": more["embedder"]} if "embedder" in more else {}
    before = resolve_settings(first, None).settings
    for asked in ({}, *kept):
        assert resolve_settings(IndexOptions(**{**own, **asked}), before).settings == before
    for asked in others:
        with pytest.raises(InvalidParameter):
            resolve_settings(IndexOptions(**{**own, **asked}), before)


def test_a_client_is_made_when_it_is_needed_and_once() -> None:
    made: list[LlmClient] = []

    def make() -> LlmClient:
        made.append(silent())
        return made[-1]

    named = NamedClient("by name", make)
    lazy = LazyLlm(named)
    assert (lazy.name, named.made, made) == ("by name", None, [])
    assert lazy.client is lazy.client is named.client() is named.made is made[0]
    assert len(made) == 1
    assert (LazyLlm("local").name, LazyLlm(silent("mine")).name) == ("local", "mine")
