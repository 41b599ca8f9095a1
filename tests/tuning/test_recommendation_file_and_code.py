"""What a sweep recommends, as a file and as code."""

import ast
import shlex
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.documents import options_given
from chunkwise.tuning.recommendation_file_and_code import (
    Recommendation,
    read_recommendation,
    recommendation_of,
    snippets,
    write_recommendation,
)
from chunkwise.tuning.sweep import Configuration, Sweep
from tables import cases

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(
    st.builds(
        Recommendation,
        strategy=_TEXT,
        embedder=_TEXT,
        vectors=st.sampled_from(["late", "own"]),
        retriever=_TEXT,
        k=st.integers(1, 1000),
        budget=st.none() | st.integers(1, 10**9),
        neighbors=st.integers(0, 9),
    ),
    st.text(st.characters(exclude_categories=["Cs"])),
)
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, recommendation: Recommendation, why: str
) -> None:
    path = tmp_path_factory.mktemp("toml") / "recommendation.toml"
    write_recommendation(recommendation, path, why)
    assert read_recommendation(path) == recommendation


def test_words_alone_name_no_model(tmp_path: Path) -> None:
    path = tmp_path / "recommendation.toml"
    write_recommendation(
        Recommendation(strategy="structure", vectors="none", retriever="bm25"),
        path,
        "By words.",
    )
    text = path.read_text()
    assert text.startswith("# By words.\n")
    assert not {"model", "embedder"} & set(tomllib.loads(text))
    assert "embedder" not in read_recommendation(path).changed()


def test_a_reranker_is_named_where_there_is_one(tmp_path: Path) -> None:
    path = tmp_path / "recommendation.toml"
    reranked = Recommendation(strategy="structure", retriever="hybrid", reranker="local")
    write_recommendation(reranked, path, "why")
    assert read_recommendation(path) == reranked
    assert reranked.changed()["reranker"] == "local"
    assert 'reranker="local"' in snippets(reranked)["Python"]


def test_token_vectors_are_named_where_an_index_is_to_have_them(tmp_path: Path) -> None:
    path = tmp_path / "recommendation.toml"
    compared = Recommendation(
        strategy="structure", retriever="multiscale", budget=500, maxsim="colbert-small"
    )
    write_recommendation(compared, path, "why")
    assert read_recommendation(path) == compared
    assert compared.changed()["maxsim"] == "colbert-small"
    assert 'settings=IndexOptions(maxsim="colbert-small")' in snippets(compared)["Python"]


@cases(
    "text, said",
    [
        ("strategy = ", "is not TOML"),
        ('strategy = "a"\nsize = 3', "'size'"),
        ('strategy = "a"\nk = "3"', ": k is"),
        ('strategy = "a"\nk = true', ": k is"),
        ('strategy = "a"\nk = 0', ": k is"),
        ('strategy = "a"\nk = 2.5', ": k is"),
        ('strategy = "a"\nbudget = -1', ": budget is"),
        ('strategy = "a"\nneighbors = -1', ": neighbors is"),
        ('strategy = "a"\nk = ' + "9" * 5000, "is not TOML"),
        ('format = "something"\nstrategy = "a"', "isn't a recommendation"),
        ('[sweep]\nsource = "d"', "is a plan, not a recommendation; create one: chunkwise tune"),
        ("a = " + "[" * 5000, "nested too deeply"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "r.toml"
    path.write_text(text)
    with pytest.raises(ChunkwiseError) as error:
        read_recommendation(path)
    assert said in str(error.value)
    assert len(str(error.value)) < 600


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match="cannot read"):
        read_recommendation(tmp_path / "missing.toml")
    (tmp_path / "latin.toml").write_bytes(b'strategy = "\xff"')
    with pytest.raises(ChunkwiseError, match="is not TOML"):
        read_recommendation(tmp_path / "latin.toml")
    (tmp_path / "marked.toml").write_bytes(b'\xef\xbb\xbfstrategy = "words"')
    assert read_recommendation(tmp_path / "marked.toml").strategy == "words"


def test_a_budget_takes_the_place_of_a_number_of_hits() -> None:
    sweep = Sweep(("d",), None, (), (), objective="recall@500t", k=7)
    chunks = Configuration("sentences", "bm25", vectors="none")
    assert recommendation_of(chunks, sweep).changed()["budget"] == 500
    by_k = recommendation_of(chunks, replace(sweep, objective="ndcg@7"))
    assert by_k.changed()["k"] == 7
    assert "budget" not in by_k.changed()
    several = recommendation_of(Configuration("", "multiscale"), replace(sweep, objective="ndcg@7"))
    assert several.changed()["budget"] == 1000
    assert several.strategy == "structure"


CHOICES = {
    "words": Recommendation(
        strategy="sentences(max_tokens=20)", vectors="none", retriever="bm25", k=2
    ),
    "headings": Recommendation(
        strategy="sections", context="headings", vectors="none", retriever="bm25", neighbors=1
    ),
    "sizes": Recommendation(
        strategy="structure", vectors="none", retriever="multiscale(dense=0)", budget=12
    ),
    "vectors": Recommendation(strategy="sentences", retriever="hybrid(dense=1, fusion='rrf')", k=1),
}


@pytest.mark.unwatched
@pytest.mark.parametrize("name", CHOICES)
def test_the_code_runs_and_does_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choice = CHOICES[name]
    (tmp_path / "documents").mkdir()
    text = "# Lamps\n\nLamps are lit at dusk. Ask the keeper.\n\n# Ropes\n\nYour question is old.\n"
    (tmp_path / "documents" / "a.md").write_text(text)
    monkeypatch.chdir(tmp_path)
    code = snippets(choice)
    ran: dict[str, object] = {}
    exec(compile(code["Python"], "snippet", "exec"), ran)
    index = chunkwise.index(
        "documents", choice.strategy, vectors=choice.vectors, context=choice.context
    )
    same = index.search("your question", options=choice.search_options())
    hits = ran["hits"]
    assert isinstance(hits, list)
    assert [(hit.start, hit.end) for hit in hits] == [(hit.start, hit.end) for hit in same]
    assert hits
    assert {"LangChain", "LlamaIndex"} < set(code)
    command, *others = code.values()
    assert command.startswith(
        "chunkwise index documents/ --config recommendation.toml --into kb/\n"
    )
    for each in others:
        ast.parse(each)
        assert max(map(len, each.splitlines())) <= 120


@cases("choice", CHOICES.values())
def test_a_choice_is_what_index_and_search_take(choice: Recommendation, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "# Ferry\n\nThe ferry sails at dawn. The mate sleeps.\n", "utf-8"
    )
    made = chunkwise.index(tmp_path / "a.md", **choice.index_options())
    assert made.search("When does the ferry sail?", options=choice.search_options())


def test_a_pipeline_of_ones_own_is_neither_indexed_nor_searched_here() -> None:
    own = Recommendation(retriever="./mine.py:build")
    for options in (own.index_options, own.search_options):
        with pytest.raises(InvalidParameter, match="your own pipeline"):
            options()


def test_chunks_alone_are_offered_only_where_they_are_all_there_is() -> None:
    offered = {
        name: any("store" in each for each in snippets(own)) for name, own in CHOICES.items()
    }
    assert offered == {"words": True, "headings": False, "sizes": False, "vectors": True}


def test_the_code_names_the_users_own_documents() -> None:
    names = ("my notes/", 'b"; rm')
    command, *others = snippets(CHOICES["words"], names, "out dir/recommendation.toml").values()
    told = shlex.split(command.splitlines()[0])
    assert told[2:6] == [*names, "--config", "out dir/recommendation.toml"]
    for code in others:
        assert '["my notes/", "b\\"; rm"]' in code
        ast.parse(code)


def test_a_name_cannot_break_out_of_the_code() -> None:
    hostile = Recommendation(strategy='x"); import os; ("\n', retriever='"""')
    for code in list(snippets(hostile).values())[1:]:
        tree = ast.parse(code)
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
        assert [ast.unparse(each) for each in imports] == ["import chunkwise"]


def test_the_code_reads_the_documents_that_were_measured() -> None:
    reading = chunkwise.options.LoadOptions(
        include=["ffi/*", "*.md"],
        exclude=("old drafts",),
        encoding="latin-1",
        keep_boilerplate=True,
    )
    command, *others = snippets(
        CHOICES["words"], ("docs",), reading=options_given(reading)
    ).values()
    told = shlex.split(command.splitlines()[0])
    assert told[2 : told.index("--config")] == [
        "docs", "--include", "ffi/*", "--include", "*.md", "--exclude", "old drafts",
        "--encoding", "latin-1", "--keep-boilerplate",
    ]  # fmt: skip
    for code in others:
        ast.parse(code)
        said = code[code.index("chunkwise.options.LoadOptions(") :]
        made = eval(said[: said.index(")") + 1], {"chunkwise": chunkwise})
        assert made == reading


@cases(
    "retriever, names",
    [("graph", True), ("multiscale(graph=0.5)", True), ("multiscale", False), ("bm25", False)],
)
def test_who_follows_names_gets_an_index_that_has_them(retriever: str, names: bool) -> None:
    sweep = Sweep(("d",), None, (), (), objective="recall@500t")
    recommended = recommendation_of(Configuration("structure", retriever), sweep)
    assert (recommended.graph is True) is names
    assert any("graph=True" in each for each in snippets(recommended).values()) is names
