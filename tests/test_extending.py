"""The page about plugins, run: every example as a package, as a file, as an object, and checked."""

from __future__ import annotations

import importlib
import json
import re
import runpy
import shlex
import sys
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import chunkwise
from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.registry import Registry
from chunkwise.cli.list.plugins import KINDS
from chunkwise.cli.main import group as main_group
from chunkwise.studio.project import Project
from chunkwise.studio.project_sources import ProjectSources
from studio.made_studio import client_of

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "how-to" / "extend.md").read_text("utf-8")
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", PAGE, re.M | re.S))
COMMANDS = re.findall(r"^    (chunkwise .+)$", PAGE, re.M)
POINTS: dict[str, dict[str, str]] = tomllib.loads(FILES["pyproject.toml"])["project"][
    "entry-points"
]
EXAMPLES = [f"{target.partition(':')[0]}.py" for own in POINTS.values() for target in own.values()]

TEXTS = {
    "harbour.md": "# Harbour\n\n1. The harbour master keeps the log.\n2. Lamps are lit at dusk.\n3. A ship pays.\n",
    "leave.md": "# Leave\n\nLeave is asked for in writing. The office keeps every note for two years.\n",
    "fog.eml": "Subject: Fog\nFrom: a@example.org\n\nWhen there is fog the bell is rung every minute.\n",
}
QUESTIONS = [
    {"query_id": "log", "query": "who keeps the log?", "relevant_text": "The harbour master keeps the log."},
    {"query_id": "bell", "query": "when is the bell rung?", "relevant_text": "the bell is rung every minute."},
    {"query_id": "leave", "query": "how is leave asked for?", "relevant_text": "Leave is asked for in writing."},
]  # fmt: skip

HARBOUR = "harbour-parts 1.0"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a corpus and the files of the page, where somebody works."""
    (tmp_path / "handbook").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "handbook" / name).write_text(text, encoding="utf-8")
    (tmp_path / "queries.json").write_text(json.dumps(QUESTIONS), encoding="utf-8")
    for name, code in FILES.items():
        (tmp_path / name).write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("chunkwise.metrics.registry._handed_over", {})
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def installed(work: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What pip would leave of the page's pyproject.toml, in a folder that Python finds."""
    site = work / "site"
    about = site / "harbour_parts-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: harbour-parts\nVersion: 1.0\n")
    lines = [
        f"[{group}]\n{name} = {target}\n"
        for group, own in POINTS.items()
        for name, target in own.items()
    ]
    (about / "entry_points.txt").write_text("\n".join(lines))
    for name in EXAMPLES:
        (site / name).write_text(FILES[name], encoding="utf-8")
    monkeypatch.syspath_prepend(site)
    return site


def run(command: str) -> str:
    done = CliRunner().invoke(main_group, shlex.split(command)[1:])
    assert done.exit_code == 0, f"{command}: {done.output} {done.exception!r}"
    return done.output


def test_there_is_an_example_of_each_kind_in_under_twenty_lines() -> None:
    assert set(POINTS) == {f"chunkwise.{kind}" for kind in KINDS}
    for name in EXAMPLES:
        lines = [line for line in FILES[name].splitlines() if line.strip()]
        assert len(lines) < 20, name


def test_every_kind_is_listed_by_the_command() -> None:
    declared = {
        group
        for file in (ROOT / "src").rglob("*.py")
        for group in re.findall(
            r'Registry\(\s*"[^"]+",\s*"(chunkwise\.\w+)"', file.read_text("utf-8")
        )
    }
    assert declared == {f"chunkwise.{kind}" for kind in KINDS}


# A sweep takes minutes; tests/metrics/test_third_party.py runs a small one by this metric.
RUN = [each for each in COMMANDS if not each.startswith("chunkwise tune")]


@pytest.mark.usefixtures("large_inputs")
def test_every_command_of_the_page_runs_with_the_package_installed(installed: Path) -> None:
    outputs = {command: run(command) for command in RUN}
    for needle, said in (
        ("list strategies verses", "A chunk is one verse"),
        ("chunk handbook/fog.eml", "fog"),
        ('--retriever "early_first', "log"),
        ("--reranker word_share", "log"),
        ("list metrics variety", "Documents among the hits"),
        ("list metrics ./variety.py", "Documents among the hits"),
        ("compare", "variety@3"),
        ('--judge "shared_words', "shared_words"),
        ("testset calibrate", "shared_words"),
        ("list plugins", HARBOUR),
    ):
        (found, *_) = [text for command, text in outputs.items() if needle in command]
        assert said in found, f"{needle}: {found}"
    told = json.loads(Path("before.json").read_text("utf-8"))
    assert told["configuration"]["embedder"] == "letter_pairs"
    assert told["summary"]["variety@3"]["mean"] is not None


def test_what_is_named_is_what_is_used(installed: Path) -> None:
    for most, count in ((1, 4), (2, 2)):
        assert len(list(chunkwise.chunk("handbook/harbour.md", f"verses(most={most})"))) == count
    (email,) = chunkwise.read("handbook/fog.eml")
    assert (email.title, email.text.split()[:2]) == ("Fog", ["When", "there"])
    told = run("chunkwise chunk handbook/fog.eml --context neighbors --llm first_words --json -q")
    assert json.loads(told)["context"]


@pytest.mark.smoke
@pytest.mark.usefixtures("processes")
def test_files_need_no_package(work: Path) -> None:
    for command in RUN:
        if "./" in command and "kb" not in command.split():
            run(command)
    options = chunkwise.options.LoadOptions(loader="./emails.py:EmailLoader")
    assert [each.title for each in chunkwise.read("handbook/fog.eml", options=options)] == ["Fog"]


def test_objects_are_handed_over(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(work)
    made = runpy.run_path("objects.py")
    assert made["hits"][0].document.id.endswith("harbour.md")
    assert {"retrieval_precision.shared_words", "variety@5"} <= made["results"].summary.keys()
    options = chunkwise.options.LoadOptions(loader=runpy.run_path("emails.py")["EmailLoader"]())
    assert [each.title for each in chunkwise.read("handbook/fog.eml", options=options)] == ["Fog"]


def test_the_test_of_the_page_passes(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(work)
    runpy.run_path("test_harbour_parts.py")["test_harbour_parts"]()


def test_a_part_that_is_broken_is_listed_with_its_reason(installed: Path) -> None:
    about = installed / "bad-2.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 2.0\n")
    (installed / "bad_parts.py").write_text(
        "from chunkwise.ext import Metric\nTAKEN = Metric('recall', 'Mine.', score=len)\nclass Empty: ...\n"
    )
    (about / "entry_points.txt").write_text(
        "[chunkwise.loaders]\ngone = no_such_module:X\nempty = bad_parts:Empty\ntext = bad_parts:Empty\n"
        "[chunkwise.metrics]\ntaken = bad_parts:TAKEN\nempty = bad_parts:Empty\n"
        "[chunkwise.judges]\nshared_words = bad_parts:Empty\n"
    )
    told = json.loads(run("chunkwise list plugins --json"))
    problems = {
        (kind, part["name"], part["package"]): part["problem"]
        for kind, found in told.items()
        for part in found["parts"]
        if part["package"] != "chunkwise"
    }
    assert "ModuleNotFoundError" in problems["loaders", "gone", "bad 2.0"]
    assert "it comes with bad 2.0" in problems["loaders", "gone", "bad 2.0"]
    assert problems["loaders", "empty", "bad 2.0"] == "not a valid loader: it has no `load`"
    assert problems["loaders", "text", "bad 2.0"] == "ignored: 'text' is a built-in name"
    assert "which is a built-in metric" in problems["metrics", "taken", "bad 2.0"]
    assert "not a valid metric" in problems["metrics", "empty", "bad 2.0"]
    assert problems["judges", "shared_words", "bad 2.0"] == "not a valid judge: it has no `judge`"
    assert (
        problems.pop(("judges", "shared_words", HARBOUR))
        == "ignored: bad 2.0 also provides 'shared_words'"
    )
    assert not any(problem for (_, _, whose), problem in problems.items() if whose == HARBOUR)
    shown = run("chunkwise list plugins loaders")
    assert "gone  bad 2.0, no_such_module:X" in shown
    assert "chunkers" not in shown
    wrong = CliRunner().invoke(main_group, ["list", "plugins", "tokenizers"])
    assert wrong.exit_code == 2
    assert "unknown kind 'tokenizers'; known: loaders" in wrong.output


def test_a_broken_part_is_one_warning_for_all_and_an_error_by_name(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = installed / "harbour_parts-1.0.dist-info" / "entry_points.txt"
    groups = "".join(f"[chunkwise.{kind}]\ngone = no_such_module:X\n" for kind in KINDS)
    file.write_text(groups)
    for kind, place in KINDS.items():
        module, _, attribute = place.partition(":")
        registry: Registry = getattr(importlib.import_module(module), attribute)
        said = f"the {registry.kind} 'gone' cannot be loaded: ModuleNotFoundError: .*; it comes with {HARBOUR}"
        with pytest.raises(ChunkwiseError, match=said):
            registry.get("gone")
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("default")
            for _ in range(3):
                registry.all()
        assert len([each for each in seen if re.match(said, str(each.message))]) == 1, kind


def test_the_studio_offers_what_the_package_adds(installed: Path) -> None:
    project = Project(ProjectSources(documents=("handbook",)))
    for document in chunkwise.read("handbook/harbour.md"):
        project.corpus.add(document)
    project.index = chunkwise.index("handbook/harbour.md", vectors="none")
    asking = client_of(project)
    found = asking.get(
        "/api/search", params={"q": "who keeps the log?", "retriever": "early_first"}
    )
    told = found.json()
    assert told["retrievers"] == ["multiscale", "bm25", "early_first"]
    (side,) = told["sides"]
    assert (side["problem"], bool(side["hits"])) == ("", True)
    strategies = asking.get("/api/strategies").json()
    assert "verses" in json.dumps(strategies)


def test_a_retriever_of_a_package_that_fails_leaves_the_other_sides_of_a_search(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (installed / "failing_retriever.py").write_text(
        "class Failing:\n    def rank(self, *given, **more):\n        raise ValueError('no lamp')\n"
    )
    file = installed / "harbour_parts-1.0.dist-info" / "entry_points.txt"
    file.write_text(
        "[chunkwise.retrievers]\nfailing = failing_retriever:Failing\ngone = no_such_module:X\n"
    )
    project = Project(ProjectSources(documents=("handbook",)))
    for document in chunkwise.read("handbook/harbour.md"):
        project.corpus.add(document)
    project.index = chunkwise.index("handbook/harbour.md", vectors="none")
    asked = {"q": "who keeps the log?", "retriever": ["bm25", "failing"]}
    told = client_of(project).get("/api/search", params=asked).json()
    assert told["retrievers"] == ["multiscale", "bm25", "failing"]  # `gone` cannot be used
    words, failing = told["sides"]
    assert (words["problem"], bool(words["hits"])) == ("", True)
    assert failing["problem"] == "the retriever failing failed: ValueError: no lamp"
