"""The GitHub Action: its steps run as the scripts they are, in a project of their own."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

import chunkwise
from cli.small_corpus import write_corpus, write_questions

pytestmark = pytest.mark.usefixtures("processes")

ROOT = Path(__file__).parents[1]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = ACTION["runs"]["steps"]
INPUT = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")
CONTEXT = re.compile(r"\$\{\{ ([\w.-]+) \}\}")


class Project:
    """A folder, and the environment a runner gives a step."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.github: dict[str, str] = {}
        """What the runner knows of the pull request; empty: the job is of none."""
        self.outputs, self.summary = folder / "outputs", folder / "summary.md"
        command = folder / "bin" / "chunkwise"
        command.parent.mkdir()
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m chunkwise "$@"\n')
        command.chmod(0o755)

    def run(self, **inputs: str) -> tuple[int, dict[str, str], str]:
        """The status of the first step that fails, the outputs, and the log."""
        self.outputs.write_text("")
        known = {
            f"inputs.{name}": str(each.get("default", ""))
            for name, each in ACTION["inputs"].items()
        }
        known.update({f"inputs.{name.replace('_', '-')}": value for name, value in inputs.items()})
        known.update(self.github)
        log, status = "", 0
        for step in STEPS:
            told = self._told()
            known.update({f"steps.compare.outputs.{name}": value for name, value in told.items()})
            condition = step.get("if", "true")
            if "install" in condition or (status and "always()" not in condition):
                continue
            if step["shell"] == "python" and not _does_hold(condition, known):
                continue
            environment = {
                name: CONTEXT.sub(lambda found: known[found[1]], value)
                for name, value in step["env"].items()
            }
            script = self.folder / "step.sh"
            script.write_text(step["run"])
            shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]
            done = subprocess.run(
                [*([sys.executable] if step["shell"] == "python" else shell), str(script)], cwd=self.folder, text=True,
                capture_output=True, timeout=600,
                env={
                    **os.environ, **environment, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
                    "GITHUB_OUTPUT": str(self.outputs), "GITHUB_STEP_SUMMARY": str(self.summary),
                    "GITHUB_ACTIONS": "true", "COLUMNS": "80",
                },
            )  # fmt: skip
            log += done.stdout + done.stderr
            status = status or done.returncode
        return status, self._told(), log

    def _told(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.outputs.read_text().splitlines())


def _does_hold(condition: str, known: dict[str, str]) -> bool:
    """Of a condition that is several joined by `&&`, as GitHub understands them."""
    for each in condition.removeprefix("${{ ").removesuffix(" }}").split(" && "):
        name, is_compared, wanted = each.partition(" == ")
        value = "true" if name == "always()" else known.get(name, "")
        if value != wanted.strip("'") if is_compared else not value:
            return False
    return True


@contextmanager
def github(refused: int = 0) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Comments of one pull request, as GitHub's interface keeps them."""
    kept: list[dict[str, Any]] = [
        {"id": 7, "user": {"type": "User"}, "body": "<!-- chunkwise 00000000 -->\nmine"}
    ]

    class Answers(BaseHTTPRequestHandler):
        def _answer(self, status: int, value: object) -> None:
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _body(self) -> str:
            assert self.headers["Authorization"] == "Bearer t0ken"
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            return str(sent["body"])

        def do_GET(self) -> None:
            assert self.path == "/repos/we/kb/issues/3/comments?per_page=100&page=1"
            self._answer(200, kept)

        def do_POST(self) -> None:
            if refused:
                self._answer(refused, {"message": "Resource not accessible by integration"})
                return
            assert self.path == "/repos/we/kb/issues/3/comments"
            kept.append({"id": 8, "user": {"type": "Bot"}, "body": self._body()})
            self._answer(201, kept[-1])

        def do_PATCH(self) -> None:
            assert self.path == "/repos/we/kb/issues/comments/8"
            kept[1]["body"] = self._body()
            self._answer(200, kept[1])

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", kept
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    write_corpus(tmp_path / "docs")
    write_questions(tmp_path / "queries.json")
    return Project(tmp_path)


@pytest.mark.unwatched
def test_a_base_is_made_then_held_against_and_a_worse_run_fails(project: Project) -> None:
    common = {"test_queries": "queries.json", "source": "docs\n", "retriever": "bm25"}
    status, told, log = project.run(**common, arguments="--metrics 'recall,mrr' -k 3")
    assert (status, told["outcome"]) == (0, "no base"), log
    assert (project.folder / told["results"]).exists()
    (project.folder / told["results"]).rename(project.folder / "base.json")
    status, told, log = project.run(
        **common, base="base.json", arguments="--metrics recall,mrr -k 3"
    )
    assert (status, told["outcome"]) == (0, "passed"), log
    assert "▲ Passed" in (project.folder / told["comment"]).read_text()
    assert "▲ Passed" in project.summary.read_text()
    status, told, log = project.run(
        **{**common, "retriever": "./none.py:search"},
        base="base.json",
        arguments="--metrics recall,mrr -k 3",
    )
    assert status == 2
    (project.folder / "worse.py").write_text("def search(query): return []\n")
    status, told, log = project.run(
        **{**common, "retriever": "./worse.py:search"}, base="base.json", no_new_zero="true",
        arguments="--metrics recall,mrr -k 3",
    )  # fmt: skip
    assert (status, told["outcome"]) == (4, "failed"), log
    assert "::error title=chunkwise%3A recall@3 is worse::" in log
    suite = ElementTree.parse(project.folder / told["junit"]).getroot()[0]
    assert suite.get("failures") == "2"
    write_questions(project.folder / "queries.json", count=20)
    status, told, log = project.run(
        **common, base="base.json", arguments="--metrics recall,mrr -k 3"
    )
    assert (status, told["outcome"]) == (5, "not comparable"), log
    status, told, log = project.run(
        **common,
        base="base.json",
        accept="questions, documents",
        arguments="--metrics recall,mrr -k 3",
    )
    assert (status, told["outcome"]) == (0, "passed"), log


def test_no_input_becomes_part_of_a_script() -> None:
    assert [step["name"] for step in STEPS if "${{" in step.get("run", "")] == []
    used = {name for step in STEPS for name in INPUT.findall(str(step))}
    used |= {
        name for step in STEPS for name in re.findall(r"inputs\.([\w-]+) ==", step.get("if", ""))
    }
    assert used == {*ACTION["inputs"]}


def test_versions_are_pinned() -> None:
    assert ACTION["inputs"]["version"]["default"] == chunkwise.__version__
    used = [step["uses"] for step in STEPS if "uses" in step]
    assert used
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", each) for each in used)


@pytest.mark.unwatched
def test_words_of_an_input_are_no_commands(project: Project) -> None:
    status, _, log = project.run(
        test_queries="queries.json", source="docs", retriever="$(touch hacked)",
        arguments="--metrics recall; touch hacked `touch hacked`",
    )  # fmt: skip
    assert status == 2, log
    assert not (project.folder / "hacked").exists()


@pytest.mark.unwatched
def test_an_input_that_cannot_be_read_ends_the_step_before_anything_is_measured(
    project: Project,
) -> None:
    kept = project.folder / "chunkwise-results" / "results.json"
    kept.parent.mkdir()
    kept.write_text("{}")
    common = {"test_queries": "queries.json", "source": "docs", "retriever": "bm25"}
    status, told, log = project.run(**common, arguments="--metrics recall 'k 3")
    assert (status, told) == (2, {}), log
    assert "a quote is opened and not closed" in log
    for value in ("yes", "1", "", "true\n::set-env::"):
        status, told, log = project.run(**common, no_new_zero=value)
        assert (status, told) == (2, {}), log
        assert "no-new-zero is neither true nor false" in log
        assert "set-env" not in log


@pytest.mark.unwatched
def test_what_an_earlier_run_left_is_no_result_of_this_one(project: Project) -> None:
    kept = project.folder / "chunkwise-results" / "results.json"
    kept.parent.mkdir()
    kept.write_text("{}")
    status, told, log = project.run(test_queries="none.json", source="docs", retriever="bm25")
    assert (status, told) == (1, {}), log
    assert not kept.exists()


@pytest.mark.unwatched
def test_a_search_that_fails_on_nearly_every_question_is_no_pass(project: Project) -> None:
    (project.folder / "mine.py").write_text(
        "from pathlib import Path\n"
        "asked = []\n"
        "def search(query):\n"
        "    asked.append(query)\n"
        "    if Path('down').exists() and len(asked) > 1: raise RuntimeError('index is gone')\n"
        "    return [{'source': each.name, 'text': each.read_text()} for each in Path('docs').glob('*.md')]\n"
    )
    common = {
        "test_queries": "queries.json", "source": "docs", "retriever": "./mine.py:search",
        "arguments": '--metrics recall -k "3"',
    }  # fmt: skip
    status, told, log = project.run(**common)
    assert status == 0, log
    (project.folder / told["results"]).rename(project.folder / "base.json")
    status, told, log = project.run(**common, base="base.json", no_new_zero="False")
    assert (status, told["outcome"]) == (0, "passed"), log
    (project.folder / "down").touch()
    status, told, log = project.run(**common, base="base.json")
    assert (status, told["outcome"]) == (5, "not comparable"), log
    assert "have none in b" in log
    assert "index is gone" in (project.folder / told["comment"]).read_text()
    status, told, log = project.run(**common, base="base.json", no_new_zero="True")
    assert (status, told["outcome"]) == (4, "failed"), log


@pytest.mark.unwatched
def test_the_pull_request_has_one_comment_which_the_next_push_writes_anew(project: Project) -> None:
    (project.folder / "all.py").write_text(
        "from pathlib import Path\n"
        "def search(query):\n"
        "    return [{'source': each.name, 'text': each.read_text()} for each in Path('docs').glob('*.md')]\n"
    )
    (project.folder / "none.py").write_text("def search(query): return []\n")
    common = {
        "test_queries": "queries.json", "source": "docs", "arguments": "--metrics recall -k 9",
    }  # fmt: skip
    good, bad = ({**common, "retriever": f"./{name}.py:search"} for name in ("all", "none"))
    with github() as (address, kept):
        project.github = {
            "github.api_url": address, "github.repository": "we/kb", "github.token": "t0ken",
            "github.event.pull_request.number": "3",
        }  # fmt: skip
        status, told, log = project.run(**good)
        assert (status, len(kept)) == (0, 1), log  # nothing to be held against, nothing to say
        (project.folder / told["results"]).rename(project.folder / "base.json")
        status, told, log = project.run(**good, base="base.json")
        assert (status, len(kept)) == (0, 2), log
        assert "▲ Passed" in kept[1]["body"]
        status, told, log = project.run(**bad, base="base.json")
        assert (status, len(kept)) == (4, 2), log
        assert "▼ Failed: worse by 1 metric" in kept[1]["body"]
        assert kept[1]["body"].endswith((project.folder / told["comment"]).read_text())
        assert kept[0]["body"].endswith("mine")
        status, told, log = project.run(**good, base="base.json", comment="false")
        assert "Failed" in kept[1]["body"], log
    with github(refused=403) as (address, kept):
        project.github["github.api_url"] = address
        status, told, log = project.run(**good, base="base.json")
        assert (status, told["outcome"], len(kept)) == (0, "passed", 1), log
        assert "::warning title=chunkwise::the pull request has no comment (HTTP Error 403" in log
        assert "t0ken" not in log
