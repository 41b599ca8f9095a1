"""`chunkwise.tune` as a script or a notebook calls it."""

import json
import re
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

import chunkwise
from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.evaluation.scoring import Listeners
from chunkwise.models.llm.language_model import Completion, Request
from chunkwise.options import IndexOptions, RankingOptions, TuneOptions
from chunkwise.report.report import ValueTable, all_parts
from chunkwise.report.tuning_report import tuning_report
from chunkwise.tuning.sweep_result import Outcome
from hash_embedder import HashEmbedder
from tables import cases

_THINGS = ("crane", "lamp", "rope", "gate", "winch")


def _sentence(number: int, thing: str) -> str:
    return f"The {thing} of pier {number} is kept by keeper {number * 7 + len(thing)}."


DOCUMENTS = [
    chunkwise.Document(
        f"duties-{number}",
        "\n\n".join(f"{_sentence(number, thing)} No more is known." for thing in _THINGS),
    )
    for number in range(4)
]


def _query(document: chunkwise.Document, thing: str) -> chunkwise.Query:
    number = document.id[-1]
    passage = _sentence(int(number), thing)
    start = document.text.index(passage)
    place = chunkwise.Reference(document.id, start, start + len(passage))
    return chunkwise.Query(
        f"{thing}-{number}", f"Who keeps the {thing} of pier {number}?", (place,)
    )


QUERIES = [_query(document, thing) for document in DOCUMENTS for thing in _THINGS]


@pytest.mark.usefixtures("large_inputs")
def test_documents_and_questions_that_are_there_already() -> None:
    seen: list[Outcome] = []
    tuned = chunkwise.tune(
        DOCUMENTS, QUERIES, embedder="", listeners=Listeners(on_outcome=seen.append)
    )
    assert isinstance(tuned, chunkwise.TuneResult)
    assert str(tuned) == tuned.sweep.sentence
    assert tuned.sweep.chosen
    assert tuned.recommendation is not None
    assert tuned.recommendation.vectors == "none"
    assert "index.search(" in tuned.code()
    assert "from chunkwise.langchain import" in tuned.code("LangChain")
    with pytest.raises(InvalidParameter, match="use is 'Java'; allowed: Command line, Python"):
        tuned.code("Java")
    assert all(
        0 <= each.expected <= 1 for each in tuned.sweep.standings if each.expected is not None
    )
    assert {each.configuration.key for each in seen} == {
        each.configuration.key for each in tuned.sweep.outcomes
    }
    html = tuned._repr_html_()
    assert html.startswith('<div class="chunkwise-report">')
    assert "<script" not in html
    assert re.search(r"recall@", html)


@pytest.mark.usefixtures("large_inputs")
def test_a_folder_keeps_what_is_done_and_gets_the_files(tmp_path: Path) -> None:
    documents, queries = DOCUMENTS[:2], QUERIES[:10]
    first = chunkwise.tune(documents, queries, embedder="", output=tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    # What is only in memory cannot be gone on with from a plan.
    assert names == {".chunkwise-sweep", "recommendation.toml", "results.json", "report.html"}
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["sentence"] == first.sweep.sentence
    again = chunkwise.tune(documents, queries, embedder="", output=tmp_path / "out")
    assert again == first
    with pytest.raises(ChunkwiseError, match="its documents differ"):
        chunkwise.tune(documents[:1], queries[:5], embedder="", output=tmp_path / "out")


@pytest.mark.usefixtures("large_inputs")
class _Scribe:
    """A language model that knows nothing and says where it is."""

    identity = "scribe"
    price_name = "local"
    window = None
    concurrency = 2
    speed = (1000.0, 100.0)

    def __init__(self) -> None:
        self.asked: list[Request] = []

    def complete(self, request: Request, stop: Event | None = None) -> Completion:
        self.asked.append(request)
        pier = re.search(r"pier (\d)", request.user)
        return Completion(f"This passage is about pier {pier[1] if pier else 9}.", 1, 1)


def test_a_language_model_writes_contexts_for_the_best_and_methods_are_compared_by_type() -> None:
    asked = [
        replace(each, types=("lamps" if "lamp" in each.id else "other",), answer="keeper 9")
        for each in QUERIES
    ]
    scribe = _Scribe()
    found = chunkwise.tune(DOCUMENTS, asked, embedder="none", llm=scribe).sweep
    tried = {each.configuration.context for each in found.outcomes if not each.error}
    assert tried == {"none", "headings", "neighbors", "document"}
    kept = [each for each in found.methods if "recall@1000t" in each.figures["all"]]
    assert kept[0].name == "choice"
    assert {name for each in kept for name in each.figures} == {"all", "lamps", "other"}
    methods = found.methods[len(kept) :]
    names = [each.name for each in methods]
    assert names[:4] == [f"context {way}" for way in ("none", "headings", "neighbors", "document")]
    assert len(names) > 4
    for each in methods:
        assert each.figures.keys() == {"all", "lamps", "other"}
        assert each.figures["all"].keys() == {"failure@20", "answer_correctness.words"}
        assert each.figures["all"]["failure@20"].mean is not None
    shown = [part for part in all_parts(tuning_report(found).parts) if isinstance(part, ValueTable)]
    tables = {table.title: [column.title for column in table.columns] for table in shown}
    assert sorted(tables["failure@20 by question type"][1:]) == ["all", "drop", "lamps", "other"]
    assert "answer_correctness.words by question type" in tables


def test_files_a_plan_and_what_is_said_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for document in DOCUMENTS:
        (folder / f"{document.id}.txt").write_text(document.text)
    rows = [
        {
            "id": query.id,
            "question": query.text,
            "references": [
                {"doc_id": f"{place.doc_id}.txt", "start": place.start, "end": place.end}
                for place in query.references
            ],
        }
        for query in QUERIES
    ]
    (tmp_path / "queries.json").write_text(json.dumps(rows))
    usual = chunkwise.tune(
        folder, tmp_path / "queries.json", embedder="", output=tmp_path / "usual"
    )
    assert (tmp_path / "usual" / "sweep.toml").is_file()
    assert usual.sweep.objective == "recall@1000t"
    plan = tmp_path / "sweep.toml"
    plan.write_text(
        '[sweep]\nsource = "docs"\nqueries = "queries.json"\nembedder = "none"\n'
        '[[sweep.chunkers]]\nstrategy = "sentences"\nmax_tokens = 30\n[sweep.retrieval]\nretriever = "bm25"\n'
    )
    tuned = chunkwise.tune(plan, objective="ndcg", k=3, time="10 min")
    assert tuned.sweep.objective == "ndcg@3"
    assert tuned.recommendation is not None
    assert tuned.recommendation.budget is None
    assert len(tuned.sweep.outcomes) == 3  # the one asked for, and the two defaults


@pytest.mark.usefixtures("large_inputs")
def test_a_model_of_ones_own() -> None:
    model = HashEmbedder()
    tuned = chunkwise.tune(DOCUMENTS[:2], QUERIES[:10], embedder=model)
    assert not any(each.error for each in tuned.sweep.outcomes)
    assert {"late", "none"} == {each.configuration.vectors for each in tuned.sweep.outcomes}


def test_without_questions_scores_do_not_choose() -> None:
    tuned = chunkwise.tune(DOCUMENTS, embedder="")
    assert tuned.sweep.grade == "early"
    assert tuned.recommendation is not None
    chosen = {each.key: each.expected for each in tuned.sweep.standings}[tuned.sweep.chosen]
    assert chosen is not None
    assert "is found with any configuration" in str(tuned)
    by_people = chunkwise.tune(DOCUMENTS, QUERIES, embedder="")
    assert "is found with any configuration" not in str(by_people)


def test_without_any_question_public_results_recommend() -> None:
    tuned = chunkwise.tune(chunkwise.Document("short.md", "Lamps."), embedder="")
    assert tuned.sweep.grade == "early"
    assert tuned.recommendation is not None
    assert str(tuned).startswith("Use ")
    assert "nothing was measured" in tuned._repr_html_()
    without = chunkwise.tune(
        chunkwise.Document("short.md", "Lamps."), embedder="", sweep=TuneOptions(prior=False)
    )
    with pytest.raises(InvalidParameter, match="no code"):
        without.code()
    assert without.recommendation is None
    assert "No recommendation" in str(without)


def test_the_documents_of_an_index_are_compared_with_how_it_is_searched(tmp_path: Path) -> None:
    search = RankingOptions(retriever="bm25", k=5)
    kb = str(tmp_path / "kb")
    chunkwise.index(
        DOCUMENTS, "recursive(max_tokens=30)", into=kb,
        settings=IndexOptions(embedder="none", search=search),
    )  # fmt: skip
    tuned = chunkwise.tune(kb, QUERIES, embedder="none", objective="recall@50t").sweep
    defaults = [each.configuration for each in tuned.outcomes if each.configuration.baseline]
    assert [(each.strategy, each.retriever) for each in defaults] == [
        ("recursive(max_tokens=30, overlap=0)", "bm25")
    ]
    assert {each.key for each in tuned.against} <= {defaults[0].key}
    assert "your index" in tuned.sentence
    early = chunkwise.tune(kb, embedder="none", objective="recall@50t").sweep
    assert early.grade == "early"
    assert [each.configuration.key for each in early.outcomes if each.configuration.baseline] == [
        defaults[0].key
    ]


def test_documents_that_fit_the_budget_keep_the_default() -> None:
    texts = [
        f"Lamp {color} stands at the {place} and is lit by the keeper of {place} every day at dusk."
        for color, place in (("red", "pier"), ("green", "mole"), ("white", "harbor office"))
    ]
    documents = [chunkwise.Document(f"{at}.txt", text) for at, text in enumerate(texts)]
    tuned = chunkwise.tune(documents, embedder="")
    assert str(tuned).startswith("Keep your default, such as recursive 1000/200 characters")
    assert tuned.recommendation is not None
    assert "1000" in str(tuned.recommendation.strategy)


def test_what_is_wrong_is_said_at_once() -> None:
    with pytest.raises(InvalidParameter, match="one source is"):
        chunkwise.tune([3])  # type: ignore[list-item]
    with pytest.raises(ChunkwiseError, match="unknown metric"):
        chunkwise.tune(DOCUMENTS, QUERIES, objective="good")
    with pytest.raises(InvalidParameter, match="time is"):
        chunkwise.tune(DOCUMENTS, QUERIES, time="3 EUR")
    with pytest.raises(ChunkwiseError, match="no documents given"):
        chunkwise.tune([])
    with pytest.raises(ChunkwiseError, match="does not exist"):
        chunkwise.tune(DOCUMENTS, "missing.json")


_FILMS = [
    f"{a} {b}"
    for a in ("Silent", "Copper", "Winter", "Hollow")
    for b in ("Harbour", "Orchard", "Ledger", "Ferry")
]
_MAKERS = [
    f"{a} {b}"
    for a in ("Anna", "Bertil", "Clara", "Edda")
    for b in ("Orme", "Hallgren", "Venn", "Pask")
]


def _two_hops() -> tuple[list[chunkwise.Document], list[chunkwise.Query]]:
    """Questions whose second passage shares a name with the first alone."""
    documents, queries = [], []
    for number, (film, maker) in enumerate(zip(_FILMS, _MAKERS, strict=True)):
        told = f"{film} is a film of 19{10 + number}. It was directed by {maker}."
        life = f"{maker} grew up by a river. She passed away in 19{60 + number} in the north."
        documents += [
            chunkwise.Document(f"film{number}", told), chunkwise.Document(f"life{number}", life)
        ]  # fmt: skip
        places = [
            chunkwise.Reference(f"film{number}", 0, len(told)),
            chunkwise.Reference(f"life{number}", 0, len(life)),
        ]
        text = f"In which year did the director of the film {film} die?"
        queries.append(chunkwise.Query(f"q{number}", text, tuple(places)))
    weather = [
        chunkwise.Document(f"other{at}", f"Report {at} tells of the year, of rain and of a film festival in summer.")
        for at in range(30)
    ]  # fmt: skip
    return [*documents, *weather], queries


@pytest.mark.usefixtures("large_inputs")
def test_a_choice_that_walks_along_names_is_shown_question_by_question(tmp_path: Path) -> None:
    documents, queries = _two_hops()
    folder = tmp_path / "docs"
    folder.mkdir()
    for each in documents:
        (folder / f"{each.id}.txt").write_text(each.text)
    rows = [
        {
            "id": query.id, "question": query.text,
            "references": [{"doc_id": f"{r.doc_id}.txt", "start": r.start, "end": r.end} for r in query.references],
        }
        for query in queries
    ]  # fmt: skip
    (tmp_path / "queries.json").write_text(json.dumps(rows))
    plan = tmp_path / "sweep.toml"
    plan.write_text(
        '[sweep]\nsource = "docs"\nqueries = "queries.json"\nembedder = "none"\nobjective = "all_found@60t"\n'
        '[[sweep.chunkers]]\nstrategy = "structure"\nmax_tokens = 400\n'
        '[sweep.retrieval]\nretriever = ["bm25", "graph(dense=0)"]\n'
    )
    said: list[str] = []
    tuned = chunkwise.tune(plan, output=tmp_path / "out", listeners=Listeners(on_bad=said.append))
    assert tuned.recommendation is not None
    assert tuned.recommendation.retriever.startswith("graph")
    assert said == []
    page = (tmp_path / "out" / "report.html").read_text()
    assert ">Questions<" in page
    assert all(query.text in page for query in queries)


@cases("retriever", ["graph", "multiscale(graph=0.5)"])
def test_documents_are_evaluated_by_their_names(retriever: str) -> None:
    documents, queries = _two_hops()
    found = chunkwise.evaluate(
        documents,
        queries,
        retriever=retriever,
        budget=60,
        metrics="all_found",
        index=IndexOptions(vectors="none"),
    )
    assert found.summary["all_found@60t"].mean == 1.0
