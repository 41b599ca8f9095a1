"""What is remembered of what a verb found: figures and places, and who ran it, where, of which state of git."""

from __future__ import annotations

import getpass
import os
import socket
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.secrets import mask
from chunkwise.base.wording import counted
from chunkwise.core import Document, Query
from chunkwise.documents.document_hash import hash_of_hashes
from chunkwise.evaluation.calibrate import CalibrationRun, KnownPairs
from chunkwise.evaluation.comparison_result import Comparison
from chunkwise.evaluation.lint import LintResult
from chunkwise.evaluation.results import LATENCY, Figure, Json, Results, results_text, versions
from chunkwise.metrics.metric import CutCounts
from chunkwise.profiling.results import Profile
from chunkwise.records.json import plain
from chunkwise.stats.intervals import Interval, interval
from chunkwise.stats.paired import detectable_by
from chunkwise.testsets.testset import hash_of
from chunkwise.tracking import RunKind
from chunkwise.tracking.drift import corpus_state
from chunkwise.tracking.run import (
    KeptFigure,
    KeptHit,
    KeptQuestion,
    KeptRun,
    RunOrigin,
    document_fingerprints,
    kept_questions,
    question_fingerprint,
    utc_now,
)
from chunkwise.tuning.sweep_result import Outcome, SweepResult, sweep_text

OF_CUTS = "boundary_issues"
"""The share of chunks that begin or end badly, as `evaluate` calls it."""


def run_of(
    found: Results | SweepResult | Comparison | LintResult | Profile,
    *,
    documents: Sequence[Document] | None = None,
    queries: Sequence[Query] | None = None,
    keep_text: bool = False,
) -> KeptRun:
    """What a verb returned, as a run."""
    if isinstance(found, Results):
        return run_of_results(found, documents=documents, queries=queries, keep_text=keep_text)
    if isinstance(found, SweepResult):
        return run_of_sweep(found, documents=documents, queries=queries)
    if isinstance(found, Comparison):
        return run_of_comparison(found)
    prints = None if documents is None else document_fingerprints(documents)
    if isinstance(found, LintResult):
        return run_of_lint(found.label, found.cuts, prints)
    if isinstance(found, Profile):
        return run_of_profile(found, prints)
    raise InvalidParameter(
        f"run is {type(found).__name__}; expected what evaluate, compare, lint, profile or "
        f"tune returns"
    )


def _made(
    kind: RunKind, label: str, fingerprints: Mapping[str, str] | None = None, **values: Any
) -> KeptRun:
    """A run of this moment, version and place; `fingerprints` are those of its documents."""
    about: dict[str, Any] = {
        "versions": versions(), "documents_hash": "" if fingerprints is None else hash_of_hashes(fingerprints.values())
    }  # fmt: skip
    return KeptRun(
        kind=kind, when=utc_now(), label=label, origin=run_origin(), documents=fingerprints, **(about | values)
    )  # fmt: skip


def run_of_results(
    results: Results,
    *,
    documents: Sequence[Document] | None = None,
    queries: Sequence[Query] | None = None,
    keep_text: bool = False,
) -> KeptRun:
    """An evaluation; without `documents` and `queries` it is not known by document what changed later."""
    texts = None if documents is None else {document.id: document.text for document in documents}
    asked = {query.id: query for query in queries or ()}
    questions = []
    for question in results.questions:
        query = asked.get(question.id)
        kept = texts if keep_text and texts else {}
        hits = tuple(
            KeptHit(*place, kept.get(place.doc_id, "")[place.start : place.end])
            for hit in question.hits
            for place in hit.places
        )
        print_ = question_fingerprint(query, texts) if query is not None else ""
        questions.append(
            KeptQuestion(
                question.id, question.text, print_, question.types, question.documents, hits
            )
        )
    of_questions = {name for question in results.questions for name in question.scores}
    scores = {
        name: tuple(question.scores.get(name) for question in results.questions)
        for name in results.summary
        if name in of_questions
    }
    return _made(
        "evaluate",
        results.label,
        None if documents is None else document_fingerprints(documents),
        objective=results.objective,
        figures={
            name: _figure(figure, results.detectable.get(name))
            for name, figure in results.summary.items()
        },
        # Which metrics are looked at changes none of them.
        settings={name: own for name, own in results.configuration.items() if name != "metrics"},
        versions=results.versions,
        documents_hash=_hash_in(results.data, "documents"),
        questions_hash=_hash_in(results.data, "questions"),
        seconds=_seconds(results.timing),
        money=results.timing.get("llm_money"),
        questions=tuple(questions),
        scores=scores,
        details={
            **_counted(results.data),
            "cost": dict(results.cost),
            **({"cuts": _cut_counts(results.cuts)} if results.cuts else {}),
            **({"corpus": corpus_state(documents, results.cuts)} if documents else {}),
            "timing": dict(results.timing),
        },
        key=sha256(results_text(results).encode("utf-8")).hexdigest(),
    )


def run_of_sweep(
    result: SweepResult,
    *,
    documents: Sequence[Document] | None = None,
    queries: Sequence[Query] | None = None,
) -> KeptRun:
    """The choice of a sweep, by its scores on the questions that were never used to choose."""
    chosen = next(
        (outcome for outcome in result.outcomes if outcome.configuration.key == result.chosen), None
    )
    scores = {} if chosen is None else _test_scores(chosen, result)
    asked = {question.id: question for question in kept_questions(queries or (), documents)}
    return _made(
        "tune",
        "nothing was recommended" if chosen is None else chosen.configuration.label,
        None if documents is None else document_fingerprints(documents),
        objective=result.objective,
        figures={name: _mean(own, result.splits) for name, own in scores.items()},
        settings={
            "objective": result.objective,
            **({} if chosen is None else chosen.configuration.settings),
        },
        versions=result.versions,
        documents_hash=_hash_in(result.data, "documents"),
        questions_hash=_hash_in(result.data, "questions"),
        seconds=_seconds(result.timing),
        # In the order of the scores, whatever the order of the queries is.
        questions=tuple(asked.get(id) or KeptQuestion(id, "") for id in result.questions),
        scores=scores,
        details={
            **_counted(result.data),
            "sentence": result.sentence,
            "configurations": len(result.outcomes),
            **({} if result.nested is None else {"nested": result.nested.figure.mean}),
            "cost": {} if chosen is None else dict(chosen.cost),
        },
        key=sha256(sweep_text(result).encode("utf-8")).hexdigest(),
    )


def _test_scores(chosen: Outcome, result: SweepResult) -> dict[str, tuple[float | None, ...]]:
    """None for questions that chose; all of them where no others are scored."""
    found = {}
    for name, scores in chosen.scores.items():
        pairs = list(zip(scores, result.splits, strict=False))
        test = tuple(score if split == "test" else None for score, split in pairs)
        found[name] = test if any(score is not None for score in test) else tuple(scores)
    return found


def run_of_comparison(comparison: Comparison) -> KeptRun:
    """The differences of runs to the first one, each with the interval its verdict was made by."""
    several = len(comparison.contrasts) > 1
    figures: dict[str, KeptFigure] = {}
    verdicts: dict[str, Json] = {}
    for contrast in comparison.contrasts:
        for name, tested in contrast.metrics.items():
            called = f"{name} {contrast.second} − {contrast.first}" if several else name
            figures[called] = KeptFigure(
                tested.difference.mean, tested.corrected.low, tested.corrected.high, tested.pairs,
                tested.pairs + tested.unscored, tested.detectable,
            )  # fmt: skip
            verdicts[called] = tested.verdict
    objective = comparison.contrasts[0].objective if comparison.contrasts else ""
    if several:
        first = comparison.contrasts[0]
        objective = f"{objective} {first.second} − {first.first}"
    compared: dict[str, Json] = {run.name: run.label for run in comparison.runs}
    return _made(
        "compare",
        " and ".join(f"{run.name}: {run.label}" for run in comparison.runs),
        objective=objective,
        figures=figures,
        settings=compared,
        details={
            "runs": [
                {"name": run.name, "label": run.label, "file": run.source, "questions": run.questions}
                for run in comparison.runs
            ],
            "verdicts": verdicts,
            "warnings": list(comparison.warnings),
        },
    )  # fmt: skip


def run_of_calibrations(
    measured: Sequence[CalibrationRun],
    pairs: KnownPairs,
    *,
    documents: Sequence[Document] | None = None,
    seed: int = 0,
) -> KeptRun:
    """The figures of every judge, as `kappa.llm`."""
    figures: dict[str, KeptFigure] = {}
    settings: dict[str, Json] = {
        "against": pairs.against, "passages": len(pairs), "seed": seed, "cut_by": pairs.strategy
    }  # fmt: skip
    money: float | None = None
    for run in measured:
        known = run.calibration
        settings[f"judge {known.name}"] = known.judge
        for name in ("kappa", "accuracy", "missed", "false_alarms"):
            result: Interval | None = getattr(known, name)
            mean, low, high = (None, None, None) if result is None else result
            figures[f"{name}.{known.name}"] = KeptFigure(
                mean, low, high, known.confusion.scored, known.verdicts
            )
        if known.cost is not None and known.cost.money is not None:
            money = (money or 0.0) + known.cost.money * (known.verdicts - run.kept) / 1000
    prints = None if documents is None else document_fingerprints(documents)
    return _made(
        "judge calibrate",
        ", ".join(run.calibration.name for run in measured),
        prints,
        objective=next(iter(figures), ""),
        figures=figures,
        settings=settings,
        questions_hash=hash_of(pairs.queries),
        money=money,
        questions=kept_questions(pairs.queries, documents),
        details={"warnings": [run.error for run in measured if run.error]},
    )


def run_of_lint(
    label: str, cuts: CutCounts, fingerprints: Mapping[str, str] | None, kinds: str | None = None
) -> KeptRun:
    """The share of chunks with an issue, and how many cuts there are of each kind."""
    share = cuts.with_issues / cuts.chunks if cuts.chunks else None
    figures = {
        OF_CUTS: KeptFigure(share, scored=cuts.chunks, questions=cuts.chunks),
        **{kind: KeptFigure(float(count)) for kind, count in cuts.counts.items()},
        "chunks": KeptFigure(float(cuts.chunks)),
    }
    return _made(
        "lint",
        label,
        fingerprints,
        objective=OF_CUTS,
        figures=figures,
        settings={"strategy": label, "kinds": kinds or "all"},
        details={"cuts": _cut_counts(cuts)},
    )


def run_of_profile(profile: Profile, fingerprints: Mapping[str, str] | None) -> KeptRun:
    """What a corpus amounts to."""
    total = profile.total
    numbers: dict[str, float] = {
        "documents": total.documents,
        "tokens": total.tokens,
        "characters": total.characters,
        "sections": total.sections.count,
        "section_tokens_median": total.sections.median,
        "section_tokens_p95": total.sections.p95,
        "sentences": total.sentences.count,
        "tables": total.tables.count,
        "code_blocks": total.code.count,
        "oversized_sentences": total.oversized.share_over_100,
        "repeated_tokens": total.repeats.token_share,
    }
    return _made(
        "profile",
        f"{counted(total.documents, 'document')}, {counted(total.tokens, 'token')}",
        fingerprints,
        objective="tokens",
        figures={name: KeptFigure(float(value)) for name, value in numbers.items()},
        settings={"tokenizer": profile.tokenizer},
        details={"languages": dict(total.languages), "formats": dict(total.formats)},
    )


def without_secrets(run: KeptRun) -> KeptRun:
    """Mask keys and passwords in what was set, how it is called and ids of documents; texts stay."""

    def cleaned(value: Any) -> Any:
        if isinstance(value, str):
            return mask(value)
        if isinstance(value, dict):
            return {cleaned(name): cleaned(own) for name, own in value.items()}
        return [cleaned(own) for own in value] if isinstance(value, list) else value

    documents = run.documents
    return replace(
        run,
        label=cleaned(run.label),
        source=cleaned(run.source),
        settings=cleaned(plain(run.settings)),
        details=cleaned(plain(run.details)),
        documents=documents and {mask(id): own for id, own in documents.items()},
        questions=tuple(
            replace(
                question,
                documents=tuple(map(mask, question.documents)),
                hits=tuple(hit._replace(doc_id=mask(hit.doc_id)) for hit in question.hits),
            )
            for question in run.questions
        ),
    )


def _figure(figure: Figure, detectable: float | None) -> KeptFigure:
    return KeptFigure(
        figure.mean, figure.low, figure.high, figure.scored, figure.questions, detectable
    )


def _mean(scores: Sequence[float | None], splits: Sequence[str]) -> KeptFigure:
    """Of the questions that did not choose; of all, where others are scored, too."""
    known = [score for score in scores if score is not None]
    pairs = zip(scores, splits, strict=False)
    of_test = all(score is None or split == "test" for score, split in pairs)
    questions = (of_test and list(splits).count("test")) or len(scores)
    result = interval(known) if known else None
    if result is None:
        return KeptFigure(None, questions=questions)
    return KeptFigure(*result, len(known), questions, detectable_by(known))


def _hash_in(data: Mapping[str, Json], what: str) -> str:
    value = data.get(what)
    return str(value.get("hash") or "") if isinstance(value, dict) else ""


def _seconds(timing: Mapping[str, float]) -> float | None:
    """Of all stages; what asking took is counted beside them."""
    stages = [value for name, value in timing.items() if not name.startswith(("llm_", LATENCY))]
    return sum(stages) if stages else None


def _cut_counts(cuts: CutCounts) -> dict[str, Json]:
    """Without the texts around them."""
    return {
        "chunks": cuts.chunks, "with_issues": cuts.with_issues,
        "cuts_with_issues": cuts.cuts_with_issues, "counts": dict(cuts.counts),
    }  # fmt: skip


def _counted(data: Mapping[str, Json]) -> dict[str, Json]:
    """How much there was and what was left out, in numbers: the reasons may quote documents."""
    result: dict[str, Json] = {}
    for name, value in data.items():
        if isinstance(value, list):
            result[name] = len(value)
        elif name in ("documents", "questions", "reachable", "positions"):
            result[name] = plain(value)
    return result


WHO_VARIABLE = "CHUNKWISE_HISTORY_WHO"
"""no, 0, off or false: neither user nor host is kept."""
_OFF = ("no", "0", "off", "false", "none")
_BRANCH_VARIABLES = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME")
"""Services check out a revision without its branch, and tell the branch here."""


def run_origin(
    folder: str | os.PathLike[str] = ".", environment: Mapping[str, str] | None = None
) -> RunOrigin:
    """Of a run that is started in this folder."""
    environment = os.environ if environment is None else environment
    revision, branch = git_state(folder, environment)
    if environment.get(WHO_VARIABLE, "").strip().lower() in _OFF:
        return RunOrigin(git_revision=revision, git_branch=branch)
    return RunOrigin(_user(), socket.gethostname(), revision, branch)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may run as a number without a name
        return str(os.getuid()) if hasattr(os, "getuid") else ""


def git_state(
    folder: str | os.PathLike[str], environment: Mapping[str, str] | None = None
) -> tuple[str, str]:
    """Revision and branch of the repository around a folder, each empty where it cannot be told."""
    environment = os.environ if environment is None else environment
    revision = _git(folder, "rev-parse", "--verify", "HEAD")
    branch = _git(folder, "symbolic-ref", "--short", "HEAD")
    if revision and not branch:
        branch = next(filter(None, (environment.get(name) for name in _BRANCH_VARIABLES)), "")
    return revision, branch


def _git(folder: str | os.PathLike[str], *words: str) -> str:
    """What git prints; empty where it is not installed, or this is no repository."""
    try:
        done = subprocess.run(
            ["git", *words], cwd=folder, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return "" if done.returncode else done.stdout.strip()
