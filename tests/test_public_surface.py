"""The public surface: the same thing has the same name in every verb, and old names work for one release."""

import importlib.util
import inspect
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise.base.renamed import renamed
from chunkwise.core import Document, Query
from chunkwise.evaluation.results_file import read_results, write_results
from hash_embedder import HashEmbedder
from made_results import results as run

ROOT = Path(__file__).parents[1]
VERBS: dict[str, Callable[..., Any]] = {
    name: getattr(chunkwise, name)
    for name in chunkwise.__all__
    if inspect.isfunction(getattr(chunkwise, name))
} | {f"Index.{name}": getattr(chunkwise.Index, name) for name in ("search", "update", "export")}
TAKE_SOURCE = ("ask", "chunk", "evaluate", "generate_questions", "index", "lint", "open_index", "profile", "read",
               "tune", "Index.update")  # fmt: skip
OLD = {
    "inputs": "source", "documents": "source", "place": "source", "test_queries": "queries", "questions": "queries",
    "model": "embedder", "rerank": "reranker", "language_model": "llm", "out": "output", "on_skip": "on_unreadable",
}  # fmt: skip
"""Names that a verb had, or might get by mistake, and the one it is to have."""
DOCUMENTS = [
    Document(
        "keeper.md", "# Lamps\n\nThe keeper lights the lamps at dusk. He trims them at dawn.\n"
    ),
    Document("bread.md", "# Bread\n\nBread is baked before dawn. The oven is cold by noon.\n"),
]


def parameters(name: str) -> list[str]:
    return [each for each in inspect.signature(VERBS[name]).parameters if each != "self"]


@pytest.mark.parametrize("name", TAKE_SOURCE)
def test_what_is_read_comes_first_and_is_called_source(name: str) -> None:
    assert parameters(name)[0] == "source"


@pytest.mark.parametrize("name", VERBS)
def test_no_verb_has_a_name_of_its_own_for_what_others_have_too(name: str) -> None:
    own = parameters(name)
    assert not [f"{old} is called {OLD[old]}" for old in own if old in OLD]
    takes_files = any(each in own for each in ("options", "on_unreadable"))
    assert not takes_files or {"source", "on_unreadable"} <= {*own}


def test_one_parameter_means_one_thing_whoever_takes_it() -> None:
    """Types of a name differ by what a verb cannot take, never by what it is."""
    allowed = {
        "source": 3,
        "queries": 2,
        "strategy": 2,
        "llm": 2,
        "context": 2,
        "metrics": 2,
        "tokenizer": 2,
    }
    seen: dict[str, set[str]] = {}
    for verb in VERBS.values():
        for each in inspect.signature(verb).parameters.values():
            if each.name != "self":
                seen.setdefault(each.name, set()).add(str(each.annotation).removesuffix(" | None"))
    assert {name: kinds for name, kinds in seen.items() if len(kinds) > allowed.get(name, 1)} == {}


@pytest.mark.parametrize("name", chunkwise.__all__)
def test_every_public_name_is_there_and_says_what_it_is(name: str) -> None:
    found = getattr(chunkwise, name)
    assert inspect.getdoc(found)
    assert f"### chunkwise.{name}\n" in (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


def test_the_page_of_the_api_is_what_the_code_says() -> None:
    spec = importlib.util.spec_from_file_location("api_page", ROOT / "scripts" / "api_page.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert module.api_page() == page, "docs/api.md is stale; run: make docs"


def made(**given: Any) -> chunkwise.Index:
    return chunkwise.index(DOCUMENTS, "sentences(max_tokens=20)", **given)


QUERIES = [Query("1", "who lights the lamps?")]
OLD_CALLS: dict[str, Callable[[], object]] = {
    "index(): the parameter model is called embedder now": lambda: made(model=HashEmbedder()),
    "search(): the parameter rerank is called reranker now": lambda: made(vectors="none").search(
        "lamps", rerank=None
    ),
    "evaluate(): the parameter test_queries is called queries now": lambda: chunkwise.evaluate(
        DOCUMENTS, test_queries=QUERIES, retriever="bm25"
    ),
    "tune(): the parameter model is called embedder now": lambda: chunkwise.tune(
        DOCUMENTS, model=""
    ),
    "chunkwise.Tuned is called TuneResult now": lambda: chunkwise.Tuned,
    "Index.model is called embedder now": lambda: made(vectors="none").model,
}


@pytest.mark.parametrize("told", OLD_CALLS)
def test_an_old_name_works_and_says_the_new_one_once(told: str) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        OLD_CALLS[told]()
    assert [str(each.message) for each in seen if each.category is DeprecationWarning] == [told]
    here = [each for each in seen if each.category is DeprecationWarning]
    assert here[0].filename == __file__, "the line that is to be changed is the caller's"


def test_an_old_name_does_the_same() -> None:
    with pytest.warns(DeprecationWarning, match="embedder"):
        old = made(model=HashEmbedder())
    assert old.settings == made(embedder=HashEmbedder()).settings
    with pytest.warns(DeprecationWarning, match="TuneResult"):
        assert chunkwise.Tuned is chunkwise.TuneResult


def test_both_names_at_once_are_refused() -> None:
    @renamed(old="new")
    def verb(new: int) -> int:
        return new

    with pytest.raises(TypeError, match="got old and new, which are the same; give new"):
        verb(old=1, new=2)  # type: ignore[call-arg]


def test_results_of_an_older_file_have_the_new_names(tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    write_results(run(), file)
    value = json.loads(file.read_text(encoding="utf-8"))
    value["configuration"] |= {"model": "minilm", "rerank": "maxsim"}
    for question in value["questions"]:
        for hit in question["hits"]:
            hit["tokens"] = hit.pop("token_count")
    file.write_text(json.dumps(value), encoding="utf-8")
    found = read_results(file)
    assert found.questions == run().questions
    assert (found.configuration["embedder"], found.configuration["reranker"]) == (
        "minilm",
        "maxsim",
    )
    assert not {"model", "rerank"} & {*found.configuration}


@pytest.mark.parametrize("queries", [[{"query": "leave"}], ["leave"], 3, [None]])
def test_what_is_no_question_is_told_with_what_would_be_one(queries: Any) -> None:
    documents = [chunkwise.Document("a", "Leave is asked for in writing.")]
    for verb in (chunkwise.evaluate, chunkwise.tune):
        with pytest.raises(chunkwise.ChunkwiseError, match=r"Query"):
            verb(documents, queries)  # type: ignore[operator]


def test_results_as_a_dict_are_what_the_file_holds(tmp_path: Path) -> None:
    documents = [chunkwise.Document("a", "Leave is asked for in writing.")]
    query = chunkwise.Query("1", "leave", (chunkwise.Reference("a", 0, 5),))
    results = chunkwise.evaluate(documents, [query], retriever="bm25", vectors="none")
    kept, dumped = tmp_path / "kept.json", tmp_path / "dumped.json"
    chunkwise.write_results(results, kept)
    dumped.write_text(json.dumps(results.to_dict()), "utf-8")
    assert chunkwise.read_results(dumped) == chunkwise.read_results(kept) == results
