"""The pages of promptfoo and Phoenix beside the studio's, each with as many runs of the same questions.

npm install --prefix peers promptfoo
python3 -m venv peers/phoenix && peers/phoenix/bin/pip install arize-phoenix
PEERS=peers python -m benchmarks.studio peers
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.studio_process import CORPUS, studio
from benchmarks.tables import table

RUNS = 20
QUESTIONS = Path(__file__).resolve().parents[1] / "src" / "chunkwise" / "corpus_questions.json"
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
PATIENCE = 300
"""Seconds until a server is given up."""

_EXPERIMENTS = """
import json, sys
from phoenix.client import Client
client = Client(base_url=sys.argv[1])
rows = json.load(open(sys.argv[2], encoding="utf-8"))
made = client.datasets.create_dataset(
    name="questions", inputs=[{"question": each["query"]} for each in rows],
    outputs=[{"answer": each["answer"] or ""} for each in rows],
)
def task(input):
    return input["question"]
def has_words(output):
    return float(bool(output))
for number in range(int(sys.argv[3])):
    client.experiments.run_experiment(
        dataset=made, task=task, evaluators=[has_words], experiment_name=f"run {number}", print_summary=False
    )
print(made.id)
"""


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def _server(command: list[str], address: str, env: dict[str, str]) -> Iterator[float]:
    """Runs until the block ends; seconds until its first page was answered whole."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command, env={**os.environ, **env}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        while True:
            try:
                urllib.request.urlopen(address).read()
                break
            except OSError:
                if process.poll() is not None or time.perf_counter() - began > PATIENCE:
                    raise
                time.sleep(0.02)
        yield time.perf_counter() - began
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _painted(browser: Any, address: str, ready: str) -> list[str]:
    """Best of three: the first contentful paint, and until what the page is about is there."""
    found = []
    for _ in range(3):
        browser.open("about:blank")
        began = time.perf_counter()
        browser.open(address, f"({ready}) && {PAINT} > 0")
        found.append((browser.run(PAINT), (time.perf_counter() - began) * 1000))
    return [f"{min(each[0] for each in found):,.0f}", f"{min(each[1] for each in found):,.0f}"]


def _ours(browser: Any, folder: Path) -> list[list[str]]:
    runs = []
    for number in range(RUNS):
        runs.append(str(folder / f"{number:02}.json"))
        command = [
            sys.executable,
            "-m",
            "chunkwise",
            "evaluate",
            str(CORPUS),
            "--queries",
            str(QUESTIONS),
        ]
        command += [
            "--retriever",
            "bm25",
            "--strategy",
            f"sentences(max_tokens={100 + 10 * number})",
        ]
        subprocess.run([*command, "--quiet", "-o", runs[-1]], check=True, stdout=subprocess.DEVNULL)
    with studio(str(CORPUS), *runs, "--queries", str(QUESTIONS)) as made:
        made.wait()
        browser.open(made.address)
        rows = f"document.querySelectorAll('.runs-table tbody tr').length === {RUNS}"
        return [
            ["chunkwise", "the runs", f"{made.first_page:.1f}", *_painted(browser, f"{made.root}/runs", rows)],
            ["chunkwise", "two runs, question by question", "",
             *_painted(browser, f"{made.root}/compare?first=1&second=2", "document.querySelector('main table')")],
        ]  # fmt: skip


def _promptfoo(browser: Any, folder: Path, peers: Path) -> list[list[str]]:
    program = peers / "node_modules" / ".bin" / "promptfoo"
    if not program.exists():
        return [["promptfoo", "not installed here", "", "", ""]]
    home = folder / "promptfoo"
    home.mkdir()
    env = {
        "PROMPTFOO_CONFIG_DIR": str(home),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
    }
    questions = [each["query"] for each in json.loads(QUESTIONS.read_text("utf-8"))]
    tests = [
        {"vars": {"question": each}, "assert": [{"type": "contains", "value": each.split()[-1]}]}
        for each in questions
    ]
    config = home / "config.json"
    config.write_text(
        json.dumps({"prompts": ["{{question}}"], "providers": ["echo"], "tests": tests})
    )
    for _ in range(RUNS):
        command = [str(program), "eval", "-c", str(config), "--no-progress-bar", "--no-table"]
        subprocess.run(command, check=True, env={**os.environ, **env}, capture_output=True)
    port = _free_port()
    address = f"http://127.0.0.1:{port}"
    with _server([str(program), "view", "--port", str(port), "--no"], address, env) as started:
        first = "document.querySelectorAll('[role=row], tbody tr').length > 5"
        return [
            ["promptfoo", "the runs", f"{started:.1f}", *_painted(browser, f"{address}/evals", first)],
            ["promptfoo", "the last run, question by question", "",
             *_painted(browser, f"{address}/eval", "document.querySelectorAll('tbody tr').length > 5")],
        ]  # fmt: skip


def _phoenix(browser: Any, folder: Path, peers: Path) -> list[list[str]]:
    programs = peers / "phoenix" / "bin"
    if not (programs / "phoenix").exists():
        return [["Phoenix", "not installed here", "", "", ""]]
    port = _free_port()
    address = f"http://127.0.0.1:{port}"
    env = {
        "PHOENIX_WORKING_DIR": str(folder / "phoenix"), "PHOENIX_PORT": str(port), "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_GRPC_PORT": str(_free_port()), "PHOENIX_TELEMETRY_ENABLED": "false",
    }  # fmt: skip
    command = [str(programs / "phoenix"), "serve"]
    with _server(command, address, env):
        script = [str(programs / "python"), "-c", _EXPERIMENTS, address, str(QUESTIONS), str(RUNS)]
        done = subprocess.run(
            script, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        dataset = done.stdout.split()[-1]
    with _server(command, address, env) as started:  # with the runs there, as ours
        page = f"{address}/datasets/{dataset}/experiments"
        ready = "document.querySelectorAll('tbody tr').length > 5"
        return [["Phoenix", "the runs", f"{started:.1f}", *_painted(browser, page, ready)]]


def peers() -> str:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from real_browser import opened_browser

    where = Path(os.environ.get("PEERS", "peers")).resolve()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with opened_browser() as browser:
            browser.size(1400)
            rows = [
                *_ours(browser, folder),
                *_promptfoo(browser, folder, where),
                *_phoenix(browser, folder, where),
            ]
    heads = ["", "page", "start to first page, s", "first paint, ms", "what it is about, ms"]
    count = len(json.loads(QUESTIONS.read_text("utf-8")))
    return (
        f"{RUNS} runs of {count} questions in each, made by its own means: ours by BM25, promptfoo's by its provider "
        "`echo`, Phoenix's by a task that gives the question back. The best of three loads in the same browser.\n\n"
        f"{table(heads, rows)}"
    )
