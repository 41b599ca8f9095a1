"""`chunkwise.history`: the runs of a project, kept in order, with baselines that later runs are compared with."""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import msgspec

from chunkwise.base.errors import InvalidParameter, UnknownName
from chunkwise.base.recently_used import RecentlyUsed
from chunkwise.base.repr_html import drawn
from chunkwise.base.sqlite import SqliteFile
from chunkwise.base.wording import counted
from chunkwise.core import Document, Query
from chunkwise.evaluation.comparison_result import Comparison
from chunkwise.evaluation.lint import LintResult
from chunkwise.evaluation.results import Results
from chunkwise.profiling.results import Profile
from chunkwise.records.json import plain
from chunkwise.records.tables import Table
from chunkwise.tracking import KINDS, RunKind
from chunkwise.tracking.alerts import (
    Alert,
    WatchedRun,
    alerts_from,
    insert_watched,
    merged,
    watched_from,
    write_alert,
)
from chunkwise.tracking.database import (
    WHEN_DAMAGED,
    HistoryProblem,
    PostgresDatabase,
    database_at,
    history_place,
)
from chunkwise.tracking.explain_difference import (
    RunChanges,
    RunDifference,
    changes_between,
    difference_of,
)
from chunkwise.tracking.history_tables import (
    DELETE_UNSHARED,
    TABLES,
    insert_run,
    parsed_summary,
    run_from,
    summaries_from,
)
from chunkwise.tracking.record_run import git_state, run_of, without_secrets
from chunkwise.tracking.run import KeptRun, RunSummary, figure_rows, time_text, utc_now
from chunkwise.tuning.sweep_result import SweepResult

WAIT = 10.0
"""Seconds for which another writer is waited for."""
USUAL_BASELINE = "default"
_SEEN = 3
"""Runs with their scores that are not read again: two that are compared, and one beside them."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A run that later ones of its kind are compared with."""

    name: str
    kind: RunKind
    run: int
    when: str
    """Since when, in UTC."""


_BASELINE = ("name", "kind", "run", "when")


@dataclass(frozen=True, slots=True)
class AddedRun:
    """What became of a run that was to be kept."""

    number: int
    is_new: bool
    """False: it was known already, by its file."""


def history(path: str | Path | None = None) -> History:
    """Open the run history.

    Args:
        path: A file or PostgreSQL URL [default: `CHUNKWISE_HISTORY`, else `.chunkwise/history.db` in the working
            folder or a parent]. It is created when the first run is saved.

    Returns:
        The history.

    Raises:
        ChunkwiseError: The file is damaged or has another version.

    Example:
        >>> for run in chunkwise.history().runs():
        ...     print(run.number, run.label)
    """
    return History(history_place(path))


class History(Table):
    """Saved runs in order; several processes can read and write at once."""

    def __init__(self, path: str | Path, *, wait: float | None = None) -> None:
        self._path = path
        self._wait = WAIT if wait is None else wait
        self._is_there = False
        self._seen: RecentlyUsed[KeptRun] = RecentlyUsed(_SEEN)

    @cached_property
    def _database(self) -> SqliteFile | PostgresDatabase:
        return database_at(self._path, TABLES, self._wait)

    @property
    def place(self) -> str:
        """The file, or the server without its password."""
        return self._database.shown

    @property
    def option(self) -> str:
        """The option that names this history, ` --history FILE`; empty: it is the default here."""
        try:
            usual = str(history_place())
        except HistoryProblem:
            usual = ""
        if "://" in self.place:
            from chunkwise.base.secrets import without_password

            return (
                ""
                if usual == self.place
                else f" --history {shlex.quote(without_password(self.place))}"
            )
        same = Path(usual).resolve() == Path(self.place).resolve()
        return "" if same else f" --history {shlex.quote(self.place)}"

    def exists(self) -> bool:
        """Whether anything was ever kept here."""
        # A server need not be asked again.
        self._is_there = self._is_there or self._database.exists()
        return self._is_there

    def add(self, run: KeptRun, *, again: bool = True) -> AddedRun:
        """Keeps a run; it is there when this returns, whatever happens to the process then.

        Without `again`, a run whose key is known already is not kept a second time.
        """
        run = without_secrets(run)
        with self._database.writing() as statements:
            known = (
                statements.rows("select number from runs where key = ?", run.key) if run.key else []
            )
            if known and not again:
                return AddedRun(int(known[0][0]), False)
            # Numbers are given in the order of the commits: this row is locked until then.
            statements.execute("update state set last_run = last_run + 1")
            rows = statements.rows("select last_run from state")
            if len(rows) != 1 or type(rows[0][0]) is not int:
                raise HistoryProblem(
                    f"the history {self.place} is damaged (no last run number); {WHEN_DAMAGED}"
                )
            number = rows[0][0]
            key = run.key if run.key and not known else secrets.token_hex(16)
            insert_run(statements, replace(run, number=number, key=key))
        return AddedRun(number, True)

    def keep(
        self,
        found: Results | SweepResult | Comparison | LintResult | Profile,
        *,
        documents: Sequence[Document] | None = None,
        queries: Sequence[Query] | None = None,
        keep_text: bool = False,
    ) -> RunSummary:
        """Keeps what a verb returned (of `tune` its `sweep`), and gives the run with its number.

        With the `documents` and the `queries` it is known later which of them changed. Of documents only fingerprints
        are kept, and with `keep_text` the passages that were retrieved.
        """
        run = run_of(found, documents=documents, queries=queries, keep_text=keep_text)
        return self.run(self.add(run).number)

    def runs(self, kind: RunKind | None = None, last: int | None = None) -> list[RunSummary]:
        """In their order; of one kind, or only the `last` ones."""
        if not self.exists():
            return []
        _check_kind(kind)
        with self._database.reading() as statements:
            rows = summaries_from(statements, kind, last)
        summaries = []
        for number, summary in reversed(rows):
            with self._damage_explained(f"run {number}"):
                summaries.append(parsed_summary(summary))
        return summaries

    def rows(self) -> Iterator[dict[str, object]]:
        """List the metrics of all runs."""
        return (row for run in self.runs() for row in figure_rows(run))

    def run(self, number: int) -> KeptRun:
        """One run with its scores, its questions and its documents."""
        return self._seen.get(number, partial(self._read, number))

    def _read(self, number: int) -> KeptRun:
        if isinstance(number, int) and 0 < number < 1 << 31 and self.exists():
            with self._database.reading() as statements, self._damage_explained(f"run {number}"):
                if (run := run_from(statements, number)) is not None:
                    return run
        raise UnknownName(f"no run {number!r} in the history {self.place}; {self._there}")

    @contextmanager
    def _damage_explained(self, what: str) -> Iterator[None]:
        """Somebody else may have changed a row."""
        try:
            yield
        except ValueError as error:
            raise HistoryProblem(
                f"{what} in the history {self.place} is damaged: {error}; restore a backup, or "
                "move it away: the next saved run starts a new history"
            ) from None

    @property
    def _there(self) -> str:
        known = [run.number for run in self.runs()]
        if not known:
            return "it is empty; save a run: chunkwise evaluate … --save"
        return f"it has {counted(len(known), 'run')}, {known[0]} to {known[-1]}; list them: chunkwise runs"

    def changes(self, before: int, after: int) -> RunChanges:
        """What differs in documents, questions, settings and versions."""
        return changes_between(self.run(before), self.run(after))

    def difference(self, before: int, after: int) -> RunDifference:
        """By how much each metric differs, and why."""
        return difference_of(self.run(before), self.run(after))

    def prune(
        self, older: str | None = None, *, numbers: Iterable[int] | None = None
    ) -> list[RunSummary]:
        """Forgets runs from before `older` (a time in UTC), or these, except baselines; returns the removed runs."""
        gone = self.prunable(older, numbers=numbers)
        if not gone:
            return []
        with self._database.writing() as statements:
            kept = {int(row[0]) for row in statements.rows("select run from baselines")}
            gone = [run for run in gone if run.number not in kept]
            rows = [[run.number] for run in gone]
            statements.many("delete from watched_runs where run = ?", rows)
            statements.many("delete from runs where number = ?", rows)
            statements.execute(DELETE_UNSHARED)
        self._database.shrink()
        self._seen = RecentlyUsed(_SEEN)
        return gone

    def prunable(
        self, older: str | None = None, *, numbers: Iterable[int] | None = None
    ) -> list[RunSummary]:
        """The runs that `prune` would forget."""
        if older is None and numbers is None:
            raise InvalidParameter(
                "no runs to delete given; pass older=… (such as 2026-01-31) or numbers=…"
            )
        before = None if older is None else _time(older)
        kept = self._references()
        named = None if numbers is None else {*numbers}
        return [
            run
            for run in self.runs()
            if run.number not in kept
            and (before is None or run.when < before)
            and (named is None or run.number in named)
        ]

    def _references(self) -> set[int]:
        """What later runs are compared with: baselines, and the first run of a watch that has none."""
        baselines = self.baselines()
        chosen = {baseline.name for baseline in baselines if baseline.kind == "evaluate"}
        first: dict[str, int] = {}
        for watched_run in self.watched():
            first.setdefault(watched_run.name, watched_run.run)
        return {baseline.run for baseline in baselines} | {
            run for name, run in first.items() if name not in chosen
        }

    def baselines(self) -> list[Baseline]:
        """By name and kind."""
        if not self.exists():
            return []
        with self._database.reading() as statements:
            rows = statements.rows(
                "select name, kind, run, happened from baselines order by name, kind"
            )
        with self._damage_explained("a baseline"):
            return [
                msgspec.convert(dict(zip(_BASELINE, row, strict=True)), Baseline) for row in rows
            ]

    def set_baseline(self, number: int, name: str = USUAL_BASELINE) -> Baseline:
        """Later runs of its kind are compared with this one; what had the name before has it no longer."""
        if not name.strip():
            raise InvalidParameter("the baseline name is empty; expected a word such as main")
        run = self.run(number)
        made = Baseline(name.strip(), run.kind, number, utc_now())
        with self._database.writing() as statements:
            if not statements.rows("select 1 from runs where number = ?", number):
                raise UnknownName(f"run {number} no longer exists; {self._there}")
            statements.execute(
                "delete from baselines where name = ? and kind = ?", made.name, made.kind
            )
            statements.execute(
                "insert into baselines (name, kind, run, happened) values (?, ?, ?, ?)",
                made.name, made.kind, made.run, made.when,
            )  # fmt: skip
            for alert in alerts_from(statements) if made.kind == "evaluate" else ():
                if alert.state != "closed" and _is_over(alert, made):
                    write_alert(statements, replace(alert, state="closed"))
        return made

    def clear_baselines(self, name: str | None = None) -> list[Baseline]:
        """Clears those of this name, or all, but no runs; returns the cleared ones."""
        there = self.baselines()
        gone = [baseline for baseline in there if name is None or baseline.name == name]
        if name is not None and not gone:
            names = ", ".join(dict.fromkeys(baseline.name for baseline in there)) or "none"
            raise UnknownName(f"no baseline {name!r}; known: {names}")
        if gone:
            with self._database.writing() as statements:
                rows = [[baseline.name, baseline.kind] for baseline in gone]
                statements.many("delete from baselines where name = ? and kind = ?", rows)
        return gone

    def baseline(self, kind: RunKind, *, name: str | None = None, branch: str = "") -> Baseline | None:  # fmt: skip
        """The one of this name; else the one named as the branch is, else the one named default."""
        known = {item.name: item for item in self.baselines() if item.kind == kind}
        if name is not None:
            return known.get(name)
        return known.get(branch) or known.get(USUAL_BASELINE)

    @contextmanager
    def watching(self, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
        """One watch at a time: a second one waits, and `on_wait` is called once.

        Where nothing can be locked, as in a folder that cannot be written to, nobody waits: nothing can be kept either.
        """
        with self._database.alone(on_wait):
            yield

    def watched(self, name: str | None = None) -> list[WatchedRun]:
        """What watches found, run by run; of all watches, or of the one of this name."""
        if not self.exists():
            return []
        with self._database.reading() as statements, self._damage_explained("a watched run"):
            return watched_from(statements, name)

    def add_watched(self, found: WatchedRun, raised: Sequence[Alert] = ()) -> list[Alert]:
        """Stores what a watch found, and returns the alerts to report: new and open ones."""
        with self._database.writing() as statements:
            with self._damage_explained("an alert"):
                known = alerts_from(statements, found.name)
            insert_watched(statements, found)
            written, alerts = merged(known, raised, found)
            numbered = {alert.metric: write_alert(statements, alert) for alert in written}
        return [numbered[alert.metric] for alert in alerts]

    def alerts(self, *, over: bool = False) -> list[Alert]:
        """Those that stand, acknowledged or not; with `over` all that ever were."""
        if not self.exists():
            return []
        with self._database.reading() as statements, self._damage_explained("an alert"):
            result = alerts_from(statements)
        return [alert for alert in result if over or alert.state != "closed"]

    def alert(self, number: int) -> Alert:
        """One that stands, or is over."""
        there = {alert.number: alert for alert in self.alerts(over=True)}
        if number not in there:
            known = ", ".join(str(item.number) for item in self.alerts())
            stand = f"open alerts: {known}" if known else "none is open"
            raise UnknownName(f"no alert {number!r} in the history {self.place}; {stand}")
        return there[number]

    def acknowledge(self, *numbers: int) -> list[Alert]:
        """Keeps alerts quiet until the fall is worse by what a fall must amount to: all of them, or none."""
        for number in numbers:
            self.alert(number)  # that there is one
        with self._database.writing() as statements:
            # Read again where nobody else writes: a watch may just have ended one.
            known = {item.number: item for item in alerts_from(statements)}
            for number in numbers:
                alert = known[number]
                if alert.state == "closed":
                    raise InvalidParameter(
                        f"alert {number} is closed: {alert.metric} was no longer significantly "
                        f"worse in run {alert.last_run}; nothing was acknowledged"
                    )
            return [
                write_alert(
                    statements,
                    replace(
                        known[number], state="acknowledged", acknowledged=known[number].figure.fall
                    ),
                )
                for number in dict.fromkeys(numbers)
            ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON: every run without its scores, and the baselines."""
        return {
            "history": self.place,
            "runs": [run.to_dict() for run in self.runs()],
            "baselines": plain(self.baselines()),
        }

    def __len__(self) -> int:
        if not self.exists():
            return 0
        with self._database.reading() as statements:
            return int(statements.rows("select count(*) from runs")[0][0])

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<History {self.place}: {counted(len(self), 'run')}>"

    def _repr_html_(self) -> str:
        return drawn(self)


def _is_over(alert: Alert, baseline: Baseline) -> bool:
    """Whether what the alert was raised against no longer counts."""
    same_watch = alert.name == baseline.name and alert.reference != baseline.run
    return same_watch or (alert.branch == baseline.name and alert.name != baseline.name)


def _time(given: str) -> str:
    """As the times of runs are written."""
    try:
        return time_text(datetime.fromisoformat(given))
    except (ValueError, TypeError, OverflowError):
        raise InvalidParameter(
            f"older is {given!r}; expected a UTC date or time, such as 2026-01-31 or "
            f"2026-01-31T08:00:00Z"
        ) from None


def _check_kind(kind: str | None) -> None:
    if kind is not None and kind not in KINDS:
        raise InvalidParameter(f"kind is {kind!r}; allowed: {', '.join(KINDS)}")


def run_number(history: History, word: str, *, beside: str | None = None) -> int:
    """The run that a word of the command line names: its number, last, or the baseline of runs as the one `beside`."""
    if re.fullmatch(r"#?[0-9]{1,9}", word):
        return int(word.removeprefix("#"))
    if word == "last":
        runs = history.runs(last=1)
        return runs[-1].number if runs else history.run(0).number
    if word == "baseline":
        other = "last" if beside in (None, "baseline") else beside
        kind = history.run(run_number(history, other)).kind
        baseline = history.baseline(kind, branch=git_state(".")[1])
        if baseline is None:
            raise InvalidParameter(
                f"no baseline for {kind} runs; set one: chunkwise runs baseline set RUN"
            )
        return baseline.run
    raise InvalidParameter(
        f"{word!r} isn't a run; allowed: a number listed by `chunkwise runs`, last, or baseline"
    )
