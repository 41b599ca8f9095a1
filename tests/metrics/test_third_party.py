"""The metric and the judge of the page about plugins, each a package behind an entry point."""

from __future__ import annotations

import importlib
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import chunkwise
from chunkwise import Document, Query
from chunkwise.base.errors import InvalidParameter, UnknownName
from chunkwise.cli.main import group as main_group
from chunkwise.ext import Evidence, Metric, Score, Targets
from chunkwise.metrics.registry import known_metrics, lower_is_better, remember
from chunkwise.options import SearchOptions

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "extend.md"
FILES = dict(
    re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
)
TEXTS = {
    "boats.md": "# Boats\n\nA boat floats on water. It has a keel.\n\nSails catch the wind.\n",
    "salt.md": "# Salt\n\nSalt is won from sea water. Water dries in the sun.\n",
    "wind.md": "# Wind\n\nWind dries the salt. Wind moves the boat.\n",
}
QUESTIONS = [
    {"query_id": "keel", "query": "does a boat have a keel in water?", "relevant_text": "It has a keel."},
    {"query_id": "salt", "query": "is salt won from water?", "relevant_text": "Salt is won from sea water."},
    {"query_id": "wind", "query": "what does the wind move?", "relevant_text": "Wind moves the boat."},
    {"query_id": "sun", "query": "where does water dry?", "relevant_text": "Water dries in the sun."},
]  # fmt: skip


def install(folder: Path, name: str, code: str, group: str, points: dict[str, str]) -> None:
    """What pip would leave of a package with one module."""
    (folder / f"{name}.py").write_text(code, encoding="utf-8")
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"[{group}]", *(f"{key} = {value}" for key, value in points.items())]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages that Python finds."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    yield folder
    for name in [name for name, each in sys.modules.items() if _is_below(each, folder)]:
        del sys.modules[name]


def _is_below(module: object, folder: Path) -> bool:
    return str(getattr(module, "__file__", None) or "").startswith(str(folder))


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    (folder / "handbook").mkdir(parents=True)
    for name, text in TEXTS.items():
        (folder / "handbook" / name).write_text(text, encoding="utf-8")
    (folder / "queries.json").write_text(json.dumps(QUESTIONS), encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def run(*words: str, code: int = 0) -> Result:
    done = CliRunner().invoke(main_group, list(words))
    assert done.exit_code == code, done.output
    return done


def refused(*words: str) -> str:
    """The error that a command ends with."""
    done = CliRunner().invoke(main_group, list(words))
    assert done.exit_code, done.output
    return f"{done.output}{done.exception}"


EVALUATE = ("evaluate", "handbook", "--test-queries", "queries.json", "--retriever", "bm25")


@pytest.fixture
def variety(site: Path) -> Metric:
    own = tomllib.loads(FILES["pyproject.toml"])["project"]["entry-points"]["chunkwise.metrics"]
    install(site, "variety", FILES["variety.py"], "chunkwise.metrics", own)
    made = importlib.import_module("variety").VARIETY
    assert isinstance(made, Metric)
    return made


def test_it_stands_in_the_list_of_metrics(variety: Metric) -> None:
    assert known_metrics()["variety"] is variety
    told = run("list", "metrics", "variety").output
    assert "mine" in told
    assert "variety@k Documents among the hits / hits" in told
    assert "good over 50%, excellent over 80%" in told
    assert "variety" in run("list", "metrics", "--brief").output
    listed = json.loads(run("list", "metrics", "--json").output)
    assert next(each for each in listed if each["name"] == "variety")["objective"] is True
    assert "mine" in run("evaluate", "--help").output


def test_it_stands_in_terminal_page_and_file_and_can_be_a_limit(
    variety: Metric, corpus: Path
) -> None:
    done = run(
        *EVALUATE, "--metrics", "recall,variety,mine", "-k", "3", "--fail-under", "variety=0.01",
        "-o", "first.json", "--html", "page.html",
    )  # fmt: skip
    assert "variety@3" in done.output
    file = json.loads((corpus / "first.json").read_text("utf-8"))
    figure = file["summary"]["variety@3"]
    assert figure["verdict"] in ("good", "excellent", "below")
    assert [each["scores"]["variety@3"] for each in file["questions"]]
    page = (corpus / "page.html").read_text("utf-8")
    assert "variety" in page
    assert variety.help in page
    assert ">Mine<" in page
    run(*EVALUATE, "--metrics", "variety@1", "--fail-over", "variety@1=0.5", code=4)
    every = json.loads(run(*EVALUATE, "--vectors", "none", "--json").output)
    assert "variety@5" in every["summary"]


def test_runs_are_compared_by_it(variety: Metric, corpus: Path) -> None:
    for name, strategy in (("a.json", "sentences(max_tokens=8)"), ("b.json", "sections")):
        run(*EVALUATE, "-s", strategy, "--metrics", "recall,variety", "-o", name)
    told = json.loads(run("compare", "a.json", "b.json", "--metrics", "variety", "--json").output)
    tested = told["contrasts"][0]["metrics"]["variety@5"]
    assert tested["lower_is_better"] is False
    assert "variety@5" in run("compare", "a.json", "b.json", "--metrics", "variety").output


def test_a_sweep_is_decided_by_it(variety: Metric, corpus: Path) -> None:
    (corpus / "sweep.toml").write_text(
        '[sweep]\nsource = "handbook"\nqueries = "queries.json"\nembedder = "none"\n'
        'objective = "variety@2"\nk = 2\n[[sweep.chunkers]]\nstrategy = "sentences"\nmax_tokens = [8, 40]\n'
        '[sweep.retrieval]\nretriever = "bm25"\nneighbors = [0, 1]\n'
    )
    run("tune", "sweep.toml", "-o", "out", "-j", "1", "-q")
    told = json.loads((corpus / "out" / "results.json").read_text("utf-8"))
    assert told["objective"] == "variety@2"
    first = told["outcomes"][0]
    retriever, strategy = (first["configuration"][key] for key in ("retriever", "strategy"))
    alone = chunkwise.evaluate(
        "handbook", "queries.json", strategy=strategy, retriever=retriever, metrics="variety@2", k=2,
        search=SearchOptions(neighbors=first["configuration"]["neighbors"]),
    )  # fmt: skip
    assert first["scores"]["variety@2"] == [each.scores["variety@2"] for each in alone.questions]
    assert "variety@2" in (corpus / "out" / "report.html").read_text("utf-8")


def test_a_metric_of_a_file(tmp_path: Path, corpus: Path) -> None:
    code = FILES["variety.py"].replace('"variety"', '"variety_of_a_file"')
    (corpus / "mine.py").write_text(code, encoding="utf-8")
    told = run(*EVALUATE, "--metrics", "./mine.py:VARIETY@2,recall", "--json")
    assert "variety_of_a_file@2" in json.loads(told.output)["summary"]
    assert "Documents among the hits" in run("list", "metrics", "./mine.py:VARIETY").output
    with pytest.raises(UnknownName, match="has no 'OTHER'"):
        chunkwise.evaluate("handbook", "queries.json", retriever="bm25", metrics="./mine.py:OTHER")
    with pytest.raises(InvalidParameter, match="is function; expected chunkwise"):
        chunkwise.evaluate(
            "handbook", "queries.json", retriever="bm25", metrics="./mine.py:documents_a_hit"
        )
    asked = ("--test-queries", "queries.json", "--objective", "./mine.py:VARIETY")
    assert "from a file, which worker processes and resumed sweeps can" in refused(
        "tune", "handbook", *asked
    )


def test_who_reads_results_need_not_have_the_metric(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        FILES["variety.py"]
        .replace('"variety"', '"sameness"')
        .replace('at="hits"', 'better="lower"')
    )
    (corpus / "mine.py").write_text(code.replace(", targets=Targets(good=0.5, excellent=0.8)", ""))
    for name, strategy in (("a.json", "sentences(max_tokens=8)"), ("b.json", "sections")):
        run(*EVALUATE, "-s", strategy, "--metrics", "recall,./mine.py:VARIETY", "-o", name)
    monkeypatch.setattr("chunkwise.metrics.registry._handed_over", {})
    assert not lower_is_better("sameness")
    found = chunkwise.compare(["a.json", "b.json"])
    assert found.contrasts[0].metrics["sameness"].lower_is_better
    with pytest.raises(UnknownName, match="unknown metric"):
        chunkwise.evaluate("handbook", "queries.json", retriever="bm25", metrics="sameness")
    remember({"odd name": {"help": "x"}, "recall": {"help": "Mine."}, "half": 3})
    assert not {"odd name", "half"} & set(known_metrics())


def test_a_judge_gives_a_metric_of_its_own(site: Path, corpus: Path) -> None:
    points = {"shared_words": "shared_words:SharedWords"}
    install(site, "shared_words", FILES["shared_words.py"], "chunkwise.judges", points)
    assert (
        "retrieval_precision.shared_words" in run("list", "metrics", "retrieval_precision").output
    )
    means = []
    for least in (1, 99):
        judge = f"shared_words(least={least})"
        told = run(*EVALUATE, "--metrics", "retrieval_precision", "--judge", judge, "--json")
        found = json.loads(told.output)
        means.append(found["summary"]["retrieval_precision.shared_words"]["mean"])
    assert means[0] > means[1] == 0
    assert found["configuration"]["judge"] == "shared_words"
    assert "shared_words" in {
        name for each in found["agreement"] for name in (each["first"], each["second"])
    }
    (corpus / "mine.py").write_text(
        FILES["shared_words.py"].replace('"shared_words"', '"in_a_file"')
    )
    shown = run(*EVALUATE, "--judge", "./mine.py:SharedWords", "--vectors", "none")
    assert "in_a_file" in shown.output
    unasked = refused(*EVALUATE, "--metrics", "retrieval_precision.shared_words")
    assert "needs the judge shared_words" in unasked


DOCUMENTS = [Document(name, text, format="markdown") for name, text in TEXTS.items()]
QUERIES = [Query("a", "a keel?"), Query("b", "salt from water?")]


def declared(site: Path, body: str, **more: object) -> None:
    told = "".join(f", {key}={value!r}" for key, value in more.items())
    code = (
        f"from chunkwise.ext import Metric, Score\ndef score(evidence):\n    {body}\n"
        f"M = Metric('odd', 'Odd.', score=score{told})\n"
    )
    install(site, "odd_metric", code, "chunkwise.metrics", {"odd": "odd_metric:M"})


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("raise ValueError('no')", "ValueError: no"),
        ("return [1.0]", "odd returned 1 value for 2 questions"),
        ("return [2.0, 0.5]", "odd returned 2.0; expected 0 to 1"),
        ("return 0.5", "odd returned 0.5; expected one value per question"),
        ("return [float('nan')] * 2", "odd returned NaN"),
        ("return ['no luck', 'no luck']", "no luck"),
        ("return [Score(None, 'not today')] * 2", "not today"),
    ],
)
def test_what_goes_wrong_is_the_reason_and_hurts_nobody_else(
    site: Path, body: str, why: str
) -> None:
    declared(site, body)
    found = chunkwise.evaluate(DOCUMENTS, QUERIES, retriever="bm25", metrics="odd,boundary_issues")
    assert found.summary["odd"].mean is None
    (reason,) = found.summary["odd"].unscored
    assert why in reason
    assert found.summary["boundary_issues"].mean is not None


def test_lower_is_better_and_figures_of_a_whole_chunking(site: Path) -> None:
    declared(site, "return len(evidence.index) / 100", better="lower", per="chunking")
    found = chunkwise.evaluate(DOCUMENTS, QUERIES, retriever="bm25", metrics="odd")
    assert found.summary["odd"].mean == 0.03
    assert found.summary["odd"].low is None
    assert lower_is_better("odd")


def test_a_name_of_ours_is_ours(site: Path) -> None:
    code = "from chunkwise.ext import Metric\nM = Metric('recall', 'Mine.', score=lambda evidence: [])\n"
    install(site, "taken", code, "chunkwise.metrics", {"recall": "taken:M"})
    with pytest.warns(UserWarning, match="which is a built-in metric"):
        assert known_metrics()["recall"].help != "Mine."


def test_evidence_offers_what_the_page_says() -> None:
    made = Evidence(QUERIES, [[], []], DOCUMENTS)
    assert made.texts["salt.md"] == TEXTS["salt.md"]
    assert made.index is None
    assert made.answers == {}
    assert Targets(0.5, 0.8).lower_is_better is Targets(0.5, 0.5).lower_is_better is False
    assert made.verdicts("anybody") == [[], []]
    assert made.once("key", lambda: Score(1.0)) is made.once("key", lambda: Score(0.0))
