"""102 configurations against one pass of the model over the corpus, and against a plain loop over other parts."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks import machine, plain_loop
from benchmarks.question_sets import SETS
from benchmarks.tables import table
from chunkwise.chunkers import get_strategy
from chunkwise.core import Document, Query
from chunkwise.documents import read
from chunkwise.models import home_folder as home_module
from chunkwise.retrieval.indexing.lazy_models import LazyEmbedder
from chunkwise.testsets.reading import read_testset
from chunkwise.tuning.plan.plan import Plan
from chunkwise.tuning.run import score_configurations
from chunkwise.tuning.run import sweep_workers as running
from chunkwise.tuning.run.shared_corpus import SharedCorpus
from chunkwise.tuning.run.sweep_folder import SweepRecord
from chunkwise.tuning.sweep import Configuration, Sweep, VectorKind

CHROMA = SETS[0]
SIZES = (100, 200, 300, 500, 1000)
CHUNKINGS = (
    *(
        f"{name}(max_tokens={size}, overlap={overlap})"
        for name in ("sentences", "recursive", "structure")
        for size in SIZES
        for overlap in (0, size // 5)
    ),
    "sections",
    "parent_child",
    "recursive(max_tokens=1000, overlap=200, tokenizer='characters')",
    "sentences(max_tokens=1024, overlap=200)",
)
LIKE_THE_LOOP = tuple(
    get_strategy(each).label
    for each in (
        "recursive(max_tokens=100, overlap=20)",
        "recursive(max_tokens=300, overlap=60)",
        "recursive(max_tokens=1000, overlap=200)",
        "recursive(max_tokens=1000, overlap=200, tokenizer='characters')",
    )
)
"""What the plain loop tries, too."""
RETRIEVERS: dict[str, VectorKind] = {"bm25": "none", "dense": "late", "hybrid": "late"}
BAR_EMBEDDING = 2.0
BAR_LOOP = 10.0

_PARTS: tuple[tuple[str, Any, str], ...] = (
    ("cutting", SharedCorpus, "chunks_of"),
    ("indexing (terms, vectors)", SharedCorpus, "index_of"),
    ("ranking", score_configurations, "ranked"),
    ("scoring", score_configurations, "score_spans"),
    ("boundary issues", SharedCorpus, "issues_of"),
    ("keeping on disk", SweepRecord, "keep"),
)


def material() -> tuple[list[Document], list[Query]]:
    """The corpus and its questions; a passage that stands in several places counts wherever it is found."""
    documents = list(read(CHROMA.paths))
    path = str(CHROMA.paths[0].with_name("queries_with_duplicates.jsonl"))
    return documents, list(read_testset(path, documents, lambda problem: None).queries)


def plan_of(retrievers: dict[str, VectorKind]) -> Plan:
    return Plan(
        tuple(
            Configuration(get_strategy(strategy).label, retriever, vectors=vectors)
            for strategy in CHUNKINGS
            for retriever, vectors in retrievers.items()
        )
    )


@contextmanager
def _watched() -> Iterator[dict[str, float]]:
    """Seconds spent in each part, by its name."""
    spent = {name: 0.0 for name, _, _ in _PARTS}
    originals = [getattr(owner, attribute) for _, owner, attribute in _PARTS]

    def timed(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            began = time.perf_counter()
            try:
                return original(*given, **named)
            finally:
                spent[name] += time.perf_counter() - began

        return call

    for (name, owner, attribute), original in zip(_PARTS, originals, strict=True):
        setattr(owner, attribute, timed(name, original))
    try:
        yield spent
    finally:
        for (_, owner, attribute), original in zip(_PARTS, originals, strict=True):
            setattr(owner, attribute, original)


def _embed() -> dict[str, Any]:
    """One pass over the corpus and the questions, with nothing kept from before."""
    documents, queries = material()
    model = LazyEmbedder("minilm")
    model.embedder.embed(["warm"], "query")
    corpus = SharedCorpus(documents, queries, model)
    began = time.perf_counter()
    corpus.read()
    model.embedder.embed([query.text for query in queries], "query")
    return {"seconds": time.perf_counter() - began}


def _sweep(jobs: int, retrievers: dict[str, VectorKind]) -> dict[str, Any]:
    """The whole sweep from documents to outcomes on disk."""
    documents, queries = material()
    used = [_cpu()]
    with tempfile.TemporaryDirectory() as place, _watched() as parts:
        began = time.perf_counter()
        found = running.run_plan(
            plan_of(retrievers), documents, queries, Sweep((), None, (), ()), SweepRecord(place), jobs=jobs,
            on_outcome=lambda outcome: used.append(_cpu()),
        )  # fmt: skip
        seconds = time.perf_counter() - began
    assert not any(each.error for each in found), [each.error for each in found if each.error][:1]
    each = [behind - before for before, behind in pairwise(used)]
    like = [each[at] for at, one in enumerate(found) if one.configuration.strategy in LIKE_THE_LOOP]
    return {
        # The first pays for what all share.
        "like_the_loop": (sum(like) / len(like) + each[0] / len(found)) if jobs == 1 else None,
        "seconds": seconds, "cpu": used[-1] - used[0], "parts": parts, "peak": _peak(),
        "configurations": len(found),
    }  # fmt: skip


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _loop() -> dict[str, Any]:
    documents, queries = material()
    return {"seconds": plain_loop.seconds_each(documents, queries)}


def _peak() -> float:
    """Megabytes this process held at most."""
    if sys.platform == "darwin":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1e3


_WORK: dict[str, Callable[[], dict[str, Any]]] = {
    "embed": _embed,
    "alone": lambda: _sweep(1, RETRIEVERS),
    "together": lambda: _sweep(os.cpu_count() or 1, RETRIEVERS),
    "words": lambda: _sweep(1, {"bm25": "none"}),
    "loop": _loop,
}


def _apart(what: str, home: str) -> dict[str, Any]:
    """In a process of its own: a peak never goes down again."""
    models = home_module.given_models() or home_module.fetched_models()
    environment = {
        **os.environ, home_module.HOME_VARIABLE: home, home_module.MODELS_VARIABLE: os.fspath(models),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.sweep", "--measure", what],
        capture_output=True, text=True, env=environment, cwd=Path(__file__).parents[1],
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    print(what, done.stdout.strip().splitlines()[-1], file=sys.stderr, flush=True)
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def run() -> str:
    """The sweep, its parts and what it is held against, as Markdown."""
    if not CHROMA.available:
        return "- left out: its data are not there\n"
    with tempfile.TemporaryDirectory() as home:
        embed, alone, together = (_apart(each, home) for each in ("embed", "alone", "together"))
        words = _apart("words", home)
        try:
            loop = _apart("loop", home)["seconds"]
        except RuntimeError as error:
            loop = {f"left out: {error}": float("nan")}
    once, count = embed["seconds"], alone["configurations"]
    whole = once + alone["seconds"]
    others = alone["seconds"] - sum(alone["parts"].values())
    parts = {**alone["parts"], "everything else (analysis, terms, reading kept vectors)": others}
    own, mean = words["like_the_loop"], words["cpu"] / words["configurations"]
    each = sum(loop.values()) / len(loop)
    rows = [[name, f"{seconds:.1f}"] for name, seconds in parts.items()]
    return "\n".join([
        f"{count} configurations ({len(CHUNKINGS)} chunkings × {', '.join(RETRIEVERS)}) on chroma_eval, 472 questions, "
        "nine metrics each, boundary issues and cost; every outcome is saved immediately.\n",
        table(["", "s"], [
            ["the model reads the corpus and the questions once", f"{once:.1f}"],
            [f"the {count} configurations after it, one process", f"{alone['seconds']:.1f}"],
            [f"the same, {os.cpu_count()} processes", f"{together['seconds']:.1f}"],
            ["all of it, one process", f"{whole:.1f}"],
        ]),
        "",
        f"- whole sweep / embedding once: {whole / once:.2f}, bar {BAR_EMBEDDING:.0f}: "
        f"{'met' if whole <= BAR_EMBEDDING * once else '**missed**'}",
        f"- per configuration: {alone['seconds'] / count:.2f} s; peak memory {alone['peak']:.0f} MB in one process",
        "",
        table(["part of the configurations, one process", "s"], rows),
        "",
        f"BM25 compared with a plain loop (LangChain's recursive splitter, bm25s, recall in Python) over "
        f"{len(loop)} chunkings:\n",
        table(["", "CPU seconds a configuration"], [
            *([name, f"{seconds:.2f}"] for name, seconds in loop.items()),
            ["chunkwise, the mean of the like of these, with their share of the analysis", f"{own:.3f}"],
            [f"chunkwise, the mean of all {words['configurations']}", f"{mean:.3f}"],
        ]),
        "",
        f"- the loop / chunkwise: {each / own:.1f}, bar {BAR_LOOP:.0f}: "
        f"{'met' if each >= BAR_LOOP * own else '**missed**'}",
        "",
    ])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", choices=list(_WORK), help="one part, as JSON")
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(_WORK[given.measure]()))
    else:
        print(machine.describe())
        print(run())


if __name__ == "__main__":
    main()
