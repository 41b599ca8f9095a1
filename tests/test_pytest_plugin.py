"""The plug-in for pytest, in projects of its own."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import chunkwise
from chunkwise.metrics.registry import known_metrics
from cli.small_corpus import write_corpus, write_questions
from made_results import of_questions, question

pytest_plugins = ["pytester"]
# A run inside this process forgets the modules that it imported first; metrics that were listed must stay those in use.
known_metrics()
ROOT = Path(__file__).parents[1]
PLUGIN = ("-p", "chunkwise.pytest_plugin", "-p", "no:cacheprovider", "-p", "no:randomly")
TEST = """
import pytest

def search(query):
    import re
    from pathlib import Path
    wanted = set(re.findall(r"\\w+", query))
    files = sorted(Path("docs").glob("*.md"))
    texts = [(file.name, text) for file in files for text in file.read_text().split("\\n\\n")]
    ranked = sorted(texts, key=lambda each: -len(wanted & set(re.findall(r"\\w+", each[1]))))
    return [{"source": name, "text": text} for name, text in ranked[:LIMIT]]

LIMIT = 3

@pytest.mark.chunkwise(source="docs", queries="queries.json", retriever=search, metrics="recall")
def test_quality(chunkwise_run, assert_not_worse):
    run = chunkwise_run()
    assert run is chunkwise_run()
    assert run.summary["recall@5"].mean > 0.9
    assert_not_worse(run, "base.json", metrics=["recall"], min_effect=0.02)
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    write_corpus(pytester.path / "docs")
    write_questions(pytester.path / "queries.json")
    return pytester


def test_quality_is_measured_where_it_is_asked_for(project: pytest.Pytester) -> None:
    project.makepyfile(TEST)
    project.runpytest(*PLUGIN, "--strict-markers").assert_outcomes(skipped=1)
    missing = project.runpytest(*PLUGIN, "--chunkwise")
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(
        ["*baseline *base.json doesn't exist; create it: pytest --chunkwise --chunkwise-update*"]
    )
    project.runpytest(*PLUGIN, "--chunkwise", "--chunkwise-update").assert_outcomes(passed=1)
    assert (
        json.loads((project.path / "base.json").read_text())["summary"]["recall@5"]["mean"] == 1.0
    )
    passed = project.runpytest(*PLUGIN, "--chunkwise", "--chunkwise-output", "runs")
    passed.assert_outcomes(passed=1)
    passed.stdout.fnmatch_lines(["*test_quality: passed", "  recall@5: *"])
    (kept,) = (project.path / "runs").iterdir()
    assert kept.name.endswith("-test_quality.json")


def test_every_run_is_kept_under_a_name_of_its_own(project: pytest.Pytester) -> None:
    body = """
        def test_quality(chunkwise_run):
            for at in (2, 3):
                chunkwise_run("docs", "queries.json", retriever=lambda query: [], k=at, metrics="recall")
    """
    project.makepyfile(test_one=body, test_two=body.replace("2, 3", "4, 5"))
    project.runpytest(*PLUGIN, "--chunkwise-output", "runs").assert_outcomes(passed=2)
    assert sorted(each.name for each in (project.path / "runs").iterdir()) == [
        "test_one-test_quality-2.json", "test_one-test_quality.json",
        "test_two-test_quality-2.json", "test_two-test_quality.json",
    ]  # fmt: skip


def test_paths_are_those_of_the_tests_folder_then_of_the_root(pytester: pytest.Pytester) -> None:
    quality = pytester.mkdir("quality")
    write_corpus(quality / "docs")
    write_questions(pytester.path / "queries.json")
    (quality / "test_here.py").write_text(
        "import pytest\n"
        "@pytest.mark.chunkwise(source='docs', queries='queries.json', retriever=lambda query: [], metrics='recall')\n"
        "def test_here(chunkwise_run): assert chunkwise_run().summary['recall@5'].mean == 0\n"
    )
    pytester.runpytest(*PLUGIN, "--chunkwise", "--rootdir", ".").assert_outcomes(passed=1)


def write_runs(folder: Path) -> None:
    text = "\x1b[31m::error::mine\nwho?"
    rows = [question(n, {"recall@5": 1.0}, text=text) for n in range(40)]
    of_questions(tuple(rows)).save(folder / "base.json")
    worse = [question(n, {"recall@5": 0.0 if n < 20 else 1.0}, text=text) for n in range(40)]
    of_questions(tuple(worse)).save(folder / "worse.json")
    rows[3] = question(3, {"recall@5": 0.0}, text=text)
    of_questions(tuple(rows)).save(folder / "one.json")
    lost = [question(n, {"recall@5": None if n else 1.0}, text=text) for n in range(40)]
    of_questions(tuple(lost)).save(folder / "lost.json")
    of_questions((question(99, {"recall@5": 1.0}),)).save(folder / "other.json")


def test_a_run_that_is_worse_fails_without_the_flag_too(pytester: pytest.Pytester) -> None:
    write_runs(pytester.path)
    pytester.makepyfile('''
        def test_worse(assert_not_worse): assert_not_worse("worse.json", "base.json", metrics=["recall"])
        def test_other(assert_not_worse): assert_not_worse("other.json", metrics=["recall"])
        def test_lost(assert_not_worse): assert_not_worse("lost.json", metrics=["recall"])
        def test_one(assert_not_worse): assert_not_worse("one.json", metrics=["recall"])
        def test_zero(assert_not_worse): assert_not_worse("one.json", metrics=["recall"], no_new_zero=True)
    ''')  # fmt: skip
    found = pytester.runpytest(*PLUGIN, "--chunkwise-baseline", "base.json")
    found.assert_outcomes(failed=4, passed=1)
    found.stdout.fnmatch_lines([
        "*recall@5: b is significantly worse than a: −50.0 pts*",
        "*not comparable: *no question in common*",
        "*not comparable: 39 of the 40 questions with a score by recall@5 in a have none in b*",
        "*recall@5*zero: q03: ::error::mine who[?]",
    ])  # fmt: skip
    assert "\x1b[31m::error" not in found.stdout.str()


def test_what_is_missing_is_told(pytester: pytest.Pytester) -> None:
    pytester.makepyfile('''
        def test_nothing(chunkwise_run): chunkwise_run()
        def test_no_baseline(assert_not_worse): assert_not_worse("a.json")
    ''')  # fmt: skip
    found = pytester.runpytest(*PLUGIN)
    found.assert_outcomes(failed=2)
    found.stdout.fnmatch_lines(["*chunkwise_run() has nothing to evaluate*"])
    found.stdout.fnmatch_lines(["*assert_not_worse: no baseline; pass a results file*"])


@pytest.mark.usefixtures("processes")
@pytest.mark.unwatched
def test_the_example_of_the_page_works_as_it_stands(pytester: pytest.Pytester) -> None:
    package = Path(chunkwise.__file__).parent
    shutil.copytree(package / "corpus", pytester.path / "handbook")
    shutil.copyfile(package / "corpus_questions.json", pytester.path / "questions.json")
    page = (ROOT / "docs" / "how-to" / "ci.md").read_text("utf-8")
    (code,) = re.findall(r"<!-- file: test_quality.py -->\n```\w+\n(.*?)^```$", page, re.M | re.S)
    (pytester.path / "test_quality.py").write_text(code, encoding="utf-8")
    # Each in a process of its own: within one, pytester forgets the modules that a run has imported, and NumPy's and
    # SciPy's compiled ones cannot be imported a second time.
    written = pytester.runpytest_subprocess(*PLUGIN, "--chunkwise", "--chunkwise-update")
    written.assert_outcomes(passed=1)
    pytester.runpytest_subprocess(*PLUGIN, "--chunkwise").assert_outcomes(passed=1)


@pytest.mark.usefixtures("processes")
def test_a_project_that_does_not_use_it_pays_nothing() -> None:
    program = (
        "import sys, chunkwise.pytest_plugin; "
        "print([name for name in sys.modules if name.startswith('chunkwise.') or name in ('numpy', 'click')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert (
        done.stdout.strip()
        == "['chunkwise.base', 'chunkwise.base.lazy_names', 'chunkwise.pytest_plugin']"
    )


def test_it_is_an_entry_point_that_can_be_named_as_well() -> None:
    """By the name of its module: who names it with -p and has it installed loads it once."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    assert declared["pytest11"] == {"chunkwise.pytest_plugin": "chunkwise.pytest_plugin"}
