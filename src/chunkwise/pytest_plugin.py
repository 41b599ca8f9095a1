"""Quality as tests: `pytest --chunkwise`, the marker `chunkwise`, the fixtures `chunkwise_run` and `assert_not_worse`.

pytest loads this in every project that has chunkwise installed, so nothing of ours is imported until it is used.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from chunkwise.evaluation.gate import Gate
    from chunkwise.evaluation.results import Results

_PATHS = ("source", "queries", "hits", "chunks", "answers")
"""Arguments of `evaluate` that may be paths, from the folder of the test, else from the root of the project."""
_RUNS = pytest.StashKey[dict[str, "Results"]]()
_TOLD = pytest.StashKey[list[str]]()
_NAMES = pytest.StashKey[dict[str, int]]()
"""How many runs were written under each name."""
_LONGEST_NAME = 200
"""Bytes: a file system takes 255."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("chunkwise", "quality of retrieval")
    group.addoption(
        "--chunkwise", action="store_true",
        help="Run tests marked with chunkwise, which measure retrieval quality (skipped by default).",
    )  # fmt: skip
    group.addoption(
        "--chunkwise-baseline", metavar="FILE",
        help="Default baseline of assert_not_worse, a file written by chunkwise evaluate -o.",
    )  # fmt: skip
    group.addoption(
        "--chunkwise-update", action="store_true",
        help="Write runs to their baselines instead of comparing them.",
    )  # fmt: skip
    group.addoption(
        "--chunkwise-output", metavar="FOLDER", help="Write the results of every run into this folder."
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "chunkwise(source, queries, **settings): a quality test, run with --chunkwise; the "
        "arguments are defaults of chunkwise_run().",
    )
    config.stash[_RUNS] = {}
    config.stash[_TOLD] = []
    config.stash[_NAMES] = {}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--chunkwise"):
        return
    skip = pytest.mark.skip(reason="quality test: run with --chunkwise")
    for item in items:
        if item.get_closest_marker("chunkwise") is not None:
            item.add_marker(skip)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    messages = config.stash.get(_TOLD, [])
    if messages:
        terminalreporter.section("chunkwise")
        for line in messages:
            terminalreporter.write_line(line)


@pytest.fixture
def chunkwise_run(request: pytest.FixtureRequest) -> Callable[..., Results]:
    """Evaluates as `chunkwise.evaluate` does, the same only once a session.

    Without arguments it evaluates what the marker `chunkwise` of the test says. Paths are from the folder of the test's
    file, or, where nothing is there, from the root of the project.
    """
    config = request.config

    def run(*given: Any, **settings: Any) -> Results:
        marker = request.node.get_closest_marker("chunkwise")
        if marker is not None:
            given = given or marker.args
            settings = {**marker.kwargs, **settings}
        named = dict(zip(("source", "queries"), given, strict=False))
        arguments = {**settings, **named}
        if "source" not in arguments and "queries" not in arguments:
            raise pytest.UsageError(
                "chunkwise_run() has nothing to evaluate; use chunkwise_run('docs/', "
                "'questions.json'), or @pytest.mark.chunkwise(source='docs/', "
                "queries='questions.json')"
            )
        arguments = {
            name: _placed(value, (request.path.parent, config.rootpath))
            if name in _PATHS
            else value
            for name, value in arguments.items()
        }
        # A pipeline of the user's own is told apart by what it is, not by where it lies in memory.
        key = repr(sorted((name, _key(value)) for name, value in arguments.items()))
        known = config.stash[_RUNS]
        if key not in known:
            known[key] = _evaluated(arguments, config, request.node)
        return known[key]

    return run


def _key(value: object) -> str:
    return (
        f"{getattr(value, '__qualname__', type(value).__qualname__)} {id(value)}"
        if callable(value)
        else repr(value)
    )


def _placed(value: object, folders: Sequence[Path]) -> object:
    if isinstance(value, str | os.PathLike) and not os.path.isabs(value):
        return next((str(folder / value) for folder in folders if (folder / value).exists()), value)
    if isinstance(value, list | tuple):
        return [_placed(each, folders) for each in value]
    return value


def _evaluated(arguments: dict[str, Any], config: pytest.Config, test: pytest.Item) -> Results:
    from chunkwise.evaluation.evaluate import evaluate

    source: Any = arguments.pop("source", arguments.get("queries"))
    results = evaluate(source, **arguments)
    folder = config.getoption("--chunkwise-output")
    if folder:
        results.save(Path(config.rootpath, folder, f"{_run_name(test)}.json"))
    return results


def _run_name(test: pytest.Item) -> str:
    """Of the test's file, class and name, with a number from its second run on: no run replaces another."""
    names = test.config.stash[_NAMES]
    name = re.sub(r"[^\w.-]+", "-", test.nodeid.replace(".py::", "-")).strip("-")
    if len(name.encode()) > _LONGEST_NAME:
        cut = name.encode()[:_LONGEST_NAME].decode("utf-8", "ignore")
        name = f"{cut}-{hashlib.sha256(test.nodeid.encode('utf-8', 'replace')).hexdigest()[:8]}"
    number = names[name.casefold()] = names.get(name.casefold(), 0) + 1
    return name if number == 1 else f"{name}-{number}"


@pytest.fixture
def assert_not_worse(request: pytest.FixtureRequest) -> Callable[..., Gate | None]:
    """Fails where a run is shown to be worse than its baseline: assert_not_worse(run, "main.json", metrics=["recall"]).

    The other arguments are those of `chunkwise.gate`. None: the baseline was written (--chunkwise-update).
    """
    config = request.config

    def check(
        run: Results | str | os.PathLike[str],
        baseline: Results | str | os.PathLike[str] | None = None,
        metrics: Sequence[str] | None = None,
        **settings: Any,
    ) -> Gate | None:
        __tracebackhide__ = True
        from chunkwise.evaluation.gate import gate
        from chunkwise.evaluation.results import Results

        base = baseline if baseline is not None else config.getoption("--chunkwise-baseline")
        if base is None:
            raise pytest.UsageError(
                "assert_not_worse: no baseline; pass a results file, or use --chunkwise-baseline "
                "FILE"
            )
        if not isinstance(base, Results):
            base = Path(config.rootpath, base)
            if config.getoption("--chunkwise-update"):
                _write_baseline(run, base, config)
                return None
            if not base.exists():
                pytest.fail(
                    f"baseline {base} doesn't exist; create it: pytest --chunkwise "
                    "--chunkwise-update",
                    pytrace=False,
                )
        result = gate([base, run], metrics=metrics, **settings)
        words = _words(result, request.node.nodeid)
        config.stash[_TOLD].extend(words)
        if result.outcome != "passed":
            pytest.fail("\n".join(words), pytrace=False)
        return result

    return check


def _write_baseline(run: object, base: Path, config: pytest.Config) -> None:
    from chunkwise.evaluation.compare import read_runs

    base.parent.mkdir(parents=True, exist_ok=True)
    read_runs([run, run])[0].save(base)  # type: ignore[list-item]
    config.stash[_TOLD].append(f"written: {base}")


def _words(found: Gate, test: str) -> list[str]:
    """One line a metric, and the questions that broke; texts made harmless, as on any terminal of ours."""
    from chunkwise.evaluation.gate import NO_SCORES, check_words
    from chunkwise.metrics.registry import format_score
    from chunkwise.report.sanitize import one_line

    lines = [f"{one_line(test, 200)}: {found.outcome}"]
    lines += [f"  not comparable: {one_line(reason, 300)}" for reason in found.not_comparable]
    lines += [f"  {one_line(name, 80)}: left out, {NO_SCORES}" for name in found.left_out]
    lines += [f"  {one_line(check.metric, 80)}: {check_words(check)}" for check in found.checks]
    if found.no_new_zero:
        for zero in found.new_zeros[:20]:
            what = f"{one_line(zero.id, 60)}: {one_line(zero.text, 120)}"
            lines.append(f"  {one_line(zero.metric, 80)} fell to zero: {what}")
    elif found.outcome == "failed":
        for moved in found.changed:
            for change in moved.worse[:5]:
                what = f"{one_line(change.id, 60)}: {one_line(change.text, 120)}"
                first, second = (
                    format_score(moved.metric, score) for score in (change.first, change.second)
                )
                lines.append(f"  {first} → {second}  {what}")
    return lines
