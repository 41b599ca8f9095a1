"""The record of a sweep: whole files or none, gone on with only by the same sweep, the same however often killed."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document
from chunkwise.tuning.run.sweep_folder import SweepRecord, sweep_fingerprint
from chunkwise.tuning.run.sweep_workers import run_plan
from chunkwise.tuning.sweep import Configuration
from chunkwise.tuning.sweep_result import Outcome
from interrupting import interrupt_at, lines_since
from tuning.run.small_sweep import WORDS, inputs, sweep

DOCUMENTS, QUERIES = inputs()
ABOUT = sweep_fingerprint(DOCUMENTS, QUERIES, sweep())
OUTCOME = Outcome(
    Configuration("sentences(max_tokens=50)", "bm25", "headings", 1, "none", {"size": "50"}, "usual"),
    {"recall@5": (0.1 + 0.2, None, 1.0), "hit@5": (1.0, 0.0, None)},
    {"chunks": 3, "storage": 1.25, "context_tokens": None},
    {"mid_word": 0, "chunks_with_issues": 2},
    seconds=0.25,
)  # fmt: skip


def test_an_outcome_is_kept_to_the_last_digit(tmp_path: Path) -> None:
    record = SweepRecord(tmp_path)
    record.keep(OUTCOME)
    failed = replace(OUTCOME, configuration=Configuration("x", "y"), scores={}, error="half \ud800")
    record.keep(failed)
    known = record.known([failed.configuration])
    assert known == {each.configuration.key: each for each in (OUTCOME, failed)}
    kept = known[OUTCOME.configuration.key]
    assert (kept.seconds, kept.configuration.levers, kept.configuration.baseline) == (
        0.25, {"size": "50"}, "usual",
    )  # fmt: skip
    assert SweepRecord(tmp_path / "nowhere").known() == {}


def test_what_cannot_be_read_is_set_aside(tmp_path: Path) -> None:
    record = SweepRecord(tmp_path)
    record.keep(OUTCOME)
    other = replace(OUTCOME, configuration=Configuration("sentences", "bm25"))
    record.keep(other)
    file = record.folder / "outcomes" / f"{OUTCOME.configuration.key}.json"
    broken = file.read_bytes()[:-9]
    file.write_bytes(broken)
    assert record.known() == {other.configuration.key: other}
    assert file.with_name(f"{file.name}.damaged").read_bytes() == broken
    record.keep(OUTCOME)
    assert len(record.known()) == 2


def test_values_of_another_kind_and_files_of_another_name_are_damage(tmp_path: Path) -> None:
    record = SweepRecord(tmp_path)
    record.keep(OUTCOME)
    (file,) = (tmp_path / "outcomes").iterdir()
    value = json.loads(file.read_text())
    for change in (
        {"scores": {"recall@5": [True]}},
        {"configuration": {**value["outcome"]["configuration"], "context": "mine"}},
        {"configuration": {**value["outcome"]["configuration"], "neighbors": 0}},  # not its key
        {"seconds": None},
    ):
        file.write_text(json.dumps({**value, "outcome": {**value["outcome"], **change}}))
        assert record.known() == {}
        assert not file.exists()


@pytest.mark.usefixtures("large_inputs")
def test_an_interrupt_at_any_line_keeps_an_outcome_or_does_not(tmp_path: Path) -> None:
    record, work = SweepRecord(tmp_path), partial(SweepRecord(tmp_path).keep, OUTCOME)
    for line in lines_since(SweepRecord.keep, work):
        shutil.rmtree(record.folder / "outcomes")
        interrupt_at(line, SweepRecord.keep, work)
        assert record.known() in ({}, {OUTCOME.configuration.key: OUTCOME})
        work()
        assert len(list((record.folder / "outcomes").iterdir())) == 1


def test_files_that_were_being_written_are_no_outcomes(tmp_path: Path) -> None:
    record = SweepRecord(tmp_path)
    record.keep(OUTCOME)
    (tmp_path / "outcomes" / ".0123.json.abc").write_bytes(b"{")
    (tmp_path / "outcomes" / ".0123.json").write_bytes(b"{")
    assert len(record.known()) == 1


def test_another_sweep_is_refused_with_what_differs(tmp_path: Path) -> None:
    record = SweepRecord(tmp_path / "sweep")
    record.matches(ABOUT)
    record.matches(ABOUT)
    changed = [*DOCUMENTS[:-1], Document(DOCUMENTS[-1].id, "Other.")]
    others = {
        "its documents differ": sweep_fingerprint(changed, QUERIES, sweep()),
        "its questions differ": sweep_fingerprint(
            DOCUMENTS, [*QUERIES[1:], replace(QUERIES[0], text="Who?")], sweep()
        ),
        "its objective is 'recall@1000t', now it is 'ndcg@5'": sweep_fingerprint(
            DOCUMENTS, QUERIES, sweep("ndcg@5")
        ),
        "its model is 'minilm', now it is 'openai:x'": sweep_fingerprint(
            DOCUMENTS, QUERIES, sweep(model="openai:x")
        ),
        "its k is 5, now it is 9": sweep_fingerprint(DOCUMENTS, QUERIES, replace(sweep(), k=9)),
        "its layout is 3, now it is 4": {**ABOUT, "layout": 4},
    }
    for told, other in others.items():
        with pytest.raises(ChunkwiseError, match="belongs to another sweep") as raised:
            record.matches(other)
        assert told in str(raised.value)
        assert "-o OTHER" in str(raised.value)
    (record.folder / "about.json").write_bytes(b"{")
    with pytest.raises(ChunkwiseError, match="damaged"):
        record.matches(ABOUT)
    (record.folder / "about.json").unlink()
    record.keep(OUTCOME)
    with pytest.raises(ChunkwiseError, match="without its settings"):
        record.matches(ABOUT)


def test_another_sample_of_the_same_documents_begins_again(tmp_path: Path) -> None:
    record, corpus = SweepRecord(tmp_path / "sweep"), ABOUT["documents"]
    part = {**sweep_fingerprint(DOCUMENTS[:1], QUERIES, sweep()), "corpus": corpus}
    record.matches(part)
    record.keep(OUTCOME)
    record.matches(sweep_fingerprint(DOCUMENTS[:1], QUERIES, sweep()))  # all that a run knows
    record.matches(ABOUT, changes=False)
    assert len(record.known()) == 1
    others = sweep_fingerprint([*DOCUMENTS, Document("other", "Other.")], QUERIES, sweep())
    with pytest.raises(ChunkwiseError, match="belongs to another sweep"):
        record.matches(others)
    record.matches(ABOUT)
    assert not record.known()
    assert record.documents == corpus


@given(st.permutations(range(3)), st.integers(0, 2), st.integers(0, 2))
def test_scores_of_the_questions_that_are_left_stay(
    order: list[int], left: int, killed_after: int
) -> None:
    """Whatever a review dropped, in any order, and however far a rewrite got that was killed."""
    rows, others = order[:left], [Configuration("x", "y"), Configuration("x", "z")]
    with TemporaryDirectory() as folder:
        record = SweepRecord(folder)
        record.matches(sweep_fingerprint(DOCUMENTS, QUERIES[:3], sweep()))
        outcomes = [OUTCOME, *(replace(OUTCOME, configuration=each) for each in others)]
        shorter = {
            name: tuple(own[at] for at in rows) for name, own in OUTCOME.scores.items()
        }  # fmt: skip
        for at, outcome in enumerate(outcomes):
            record.keep(replace(outcome, scores=shorter) if at < killed_after else outcome)
        record.matches(sweep_fingerprint(DOCUMENTS, [QUERIES[at] for at in rows], sweep()))
        known = record.known([each.configuration for each in outcomes])
        assert {outcome.configuration.key for outcome in outcomes[killed_after:]} <= {*known}
        assert all(outcome.scores == shorter for outcome in known.values())


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ChunkwiseError, match=r"cannot write .*file"):
        SweepRecord(tmp_path / "file").matches(ABOUT)


def test_a_strategy_of_ones_own_is_run_again_when_its_code_changes(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    text = "class Mine:\n    def split(self, document):\n        return [(0, {})]\n"
    file.write_text(text.format(100))
    record = SweepRecord(tmp_path / "sweep")
    mine = replace(OUTCOME, configuration=Configuration(f"{file}:Mine", "bm25"))
    record.keep(mine)
    assert record.known([mine.configuration]) == {mine.configuration.key: mine}
    file.write_text(text.format(2000))
    assert record.known([mine.configuration]) == {}


_KILLING = """
import os, signal, sys, time
sys.path[:0] = sys.argv[2:]
from small_sweep import WORDS, inputs, sweep
from chunkwise.tuning.run.sweep_folder import SweepRecord
from chunkwise.tuning.run.sweep_workers import run_plan
documents, queries = inputs()
for line in sys.stdin:
    child = os.fork()
    if not child:
        run_plan(WORDS, documents, queries, sweep(), SweepRecord(sys.argv[1]), embedder="")
        os._exit(0)
    time.sleep(float(line))
    os.kill(child, signal.SIGKILL)
    print(os.waitpid(child, 0)[1] in (0, signal.SIGKILL), flush=True)
"""


@pytest.mark.usefixtures("processes")
@pytest.mark.unwatched
def test_a_sweep_killed_at_any_moment_ends_the_same(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    run_plan(WORDS, DOCUMENTS, QUERIES, sweep(), SweepRecord(whole), embedder="")
    killed, rng = tmp_path / "killed", random.Random(4)
    here = Path(__file__).parent
    seen = set()
    with subprocess.Popen(
        [sys.executable, "-c", _KILLING, str(killed), str(here), str(here.parents[1])],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        for seconds in (0.0, rng.uniform(0, 0.2), rng.uniform(0, 0.4)):
            print(seconds, file=process.stdin, flush=True)
            assert process.stdout.readline() == "True\n"
            seen.add(len(SweepRecord(killed).known()))
    again = run_plan(WORDS, DOCUMENTS, QUERIES, sweep(), SweepRecord(killed), embedder="")
    assert again == run_plan(WORDS, DOCUMENTS, QUERIES, sweep(), SweepRecord(whole), embedder="")
    assert _bytes(killed) == _bytes(whole)
    assert min(seen) < len(WORDS.configurations), "no child was killed before its end"


def _bytes(folder: Path) -> dict[str, object]:
    """Every file, without the seconds; what was being written when somebody was killed begins with a dot."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*.json")):
        value = json.loads(path.read_bytes())
        value.get("outcome", {}).pop("seconds", None)
        value.pop("check", None)
        found[os.fspath(path.relative_to(folder))] = json.dumps(value)
    return {name: value for name, value in found.items() if "/." not in name}


def test_code_that_a_record_names_is_not_run(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    trace = tmp_path / "ran"
    split = "    def split(self, document):\n        return [(0, 1)]\n"
    file.write_text(f"open({str(trace)!r}, 'w').close()\nclass Mine:\n{split}")
    record = SweepRecord(tmp_path / "sweep")
    record.keep(replace(OUTCOME, configuration=Configuration(f"{file}:Mine", "bm25")))
    trace.unlink()
    file.write_text(file.read_text() + "\n")  # another version of it: nobody has run it yet
    assert record.known() == {}
    assert record.known([OUTCOME.configuration]) == {}
    assert not trace.exists()
