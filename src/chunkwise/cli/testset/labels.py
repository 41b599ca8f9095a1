"""`chunkwise testset labels` and its commands: export, import, agreement, adjudicate."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
from msgspec import Meta

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.schema import Count, Name, Option, Options, argument
from chunkwise.base.wording import (
    counted,
    format_estimate,
    format_number,
    from_to,
    one_or_many,
    percent,
    thousands,
)
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.groups import CommandGroup
from chunkwise.cli.options import Json, Labels
from chunkwise.cli.streams import print_json, say
from chunkwise.labels.formats import LabelFormat
from chunkwise.report.sanitize import one_line

if TYPE_CHECKING:
    from chunkwise.labels.store import LabelStore
    from chunkwise.stats.intervals import Interval

FORMATS = ("jsonl", "beir", "argilla", "label-studio")


class LabelsPlace(Options):
    """Which labels are meant."""

    labels: Labels = None

    def opened(self, *, must_exist: bool = True) -> LabelStore:
        from chunkwise.labels.store import LabelStore, labels_place

        store = LabelStore(labels_place(self.labels))
        if must_exist and not store.exists():
            raise ChunkwiseError(
                f"no labels in {store.place}; create some (chunkwise studio handbook/), import "
                f"some (chunkwise testset labels import FILE), or give another file with "
                f"--labels FILE"
            )
        return store


class LabelsExportOptions(LabelsPlace):
    """The options of `chunkwise testset labels export`."""

    file: Annotated[Path, argument("FILE")]
    format: Annotated[LabelFormat | None, Option(
        "Output format", default_text="from the file name", common=True
    )] = None  # fmt: skip
    as_json: Json = False


@dataclass_command("export", LabelsExportOptions)
def export(options: LabelsExportOptions) -> None:
    """Export labels to FILE, as events or in another tool's format.

    Examples:
      chunkwise testset labels export labels.jsonl
      chunkwise testset labels export qrels/ --format beir
      chunkwise testset labels export records.json --format argilla
      chunkwise testset labels export tasks.json --format label-studio
    """
    from chunkwise.labels.formats import export_labels, format_of

    store = options.opened()
    count, lost = export_labels(store, options.file, format_of(options.file, options.format))
    if options.as_json:
        print_json({"file": str(options.file), "labels": count, "lost": lost})
        return
    for line in lost:
        say(line)
    say(f"{counted(count, 'label')} written to {options.file}")


class LabelsImportOptions(LabelsPlace):
    """The options of `chunkwise testset labels import`."""

    file: Annotated[Path, argument("FILE")]
    format: Annotated[LabelFormat | None, Option(
        "Input format", default_text="detected", common=True
    )] = None  # fmt: skip
    as_json: Json = False


@dataclass_command("import", LabelsImportOptions)
def import_(options: LabelsImportOptions) -> None:
    """Import labels from FILE; existing labels are kept.

    Examples:
      chunkwise testset labels import labels.jsonl
      chunkwise testset labels import qrels/
      chunkwise testset labels import tasks.json --format label-studio
    """
    from chunkwise.labels.formats import format_of, import_labels

    store = options.opened(must_exist=False)
    new, all_of_them = import_labels(store, options.file, format_of(options.file, options.format))
    if options.as_json:
        print_json({"labels": all_of_them, "new": new, "place": store.place})
    else:
        known = all_of_them - new
        were = one_or_many(known, "was", "were")
        there = f", {thousands(known)} {were} already there" if known else ""
        say(f"{counted(new, 'new label')} in {store.place}{there}")


class AgreementOptions(LabelsPlace):
    """The options of `chunkwise testset labels agreement`."""

    as_json: Json = False


@dataclass_command("agreement", AgreementOptions)
def agreement(options: AgreementOptions) -> None:
    """Show inter-annotator agreement (Krippendorff's alpha, Cohen's kappa).

    Examples:
      chunkwise testset labels agreement
      chunkwise testset labels agreement --json | jq .agreement.alpha
    """
    from chunkwise.labels.assignment_and_progress import label_progress

    found = label_progress(options.opened())
    if options.as_json:
        print_json(asdict(found))
        return
    own = found.agreement
    click.echo(
        f"{counted(found.questions, 'question')}, {counted(found.labels, 'label')} that count, "
        f"{thousands(found.unjudged)} of {counted(found.pooled, 'pooled passage')} not judged"
    )
    for each in found.people:
        speed = (
            "" if each.seconds is None else f", {format_number(each.seconds, 'seconds')} a label"
        )
        click.echo(
            one_line(
                f"{each.who}  {counted(each.questions, 'question')}, "
                f"{counted(each.labels, 'label')}{speed}"
            )
        )
    if not own.passages:
        click.echo("no agreement to measure: no passage was graded by two people")
        return
    shared = f"{counted(own.passages, 'passage')} of {counted(own.questions, 'question')}"
    click.echo(
        f"Krippendorff's alpha {_interval(own.alpha)} on {shared} that several people graded"
    )
    for pair in own.pairs:
        if pair.passages:
            same = "" if pair.same is None else f", the same on {percent(pair.same)}"
            click.echo(
                one_line(f"{pair.first} and {pair.second}: kappa {_interval(pair.kappa)}{same}")
            )
    if own.disputed:
        click.echo(
            f"{counted(own.disputed, 'disputed passage')}, {thousands(own.relevance_disputed)} "
            f"about relevance; decide: chunkwise testset labels adjudicate"
        )


def _interval(found: Interval | None) -> str:
    return "unknown" if found is None else format_estimate(*found, "number")


class AdjudicateOptions(LabelsPlace):
    """The options of `chunkwise testset labels adjudicate`."""

    number: Annotated[Count | None, argument("[NUMBER]")] = None
    grade: Annotated[Annotated[int, Meta(ge=0, le=3)] | None, Option(
        "Decision: 0 not about it … 3 answers it", metavar="N", common=True
    )] = None  # fmt: skip
    who: Annotated[Name | None, Option("Name of the adjudicator", metavar="NAME", common=True)] = (
        None
    )
    as_json: Json = False


@dataclass_command("adjudicate", AdjudicateOptions)
def adjudicate(options: AdjudicateOptions) -> None:
    """List disputed passages, and decide them one by one.

    Examples:
      chunkwise testset labels adjudicate
      chunkwise testset labels adjudicate 1 --grade 2 --who ada

    NUMBER refers to the current list, from which each decision removes a passage.
    """
    from chunkwise.labels.annotator_agreement import disputed_passages
    from chunkwise.labels.question_labels import labels_of
    from chunkwise.labels.store import LabelEvent, new_key
    from chunkwise.tracking.run import utc_now

    store = options.opened()
    found = disputed_passages(labels_of(store))
    if options.number is not None:
        if options.grade is None or not options.who:
            raise click.UsageError("a decision needs --grade and --who: --grade 2 --who ada")
        if options.number > len(found):
            raise InvalidParameter(
                f"number is {options.number}, but there {one_or_many(len(found), 'is', 'are')} "
                f"{counted(len(found), 'disputed passage')}"
            )
        own, passage = found[options.number - 1]
        place = passage.place._asdict()
        store.add(
            LabelEvent(
                key=new_key(), kind="adjudicate", query_id=own.query_id, query=own.query, who=options.who,
                when=utc_now(), text=passage.text, grade=options.grade, pool=own.pool.key if own.pool else "", **place,
            )
        )  # fmt: skip
        found = disputed_passages(labels_of(store))
    if options.as_json:
        rows = [
            {"number": at, "query_id": own.query_id, "query": own.query, **each.place._asdict(), "text": each.text,
             "grades": dict(each.grades), "is_relevance_disputed": each.is_relevance_disputed}
            for at, (own, each) in enumerate(found, 1)
        ]  # fmt: skip
        print_json({"disputed": rows})
        return
    for at, (own, each) in enumerate(found, 1):
        said = ", ".join(f"{who} {grade}" for who, grade in each.grades.items())
        click.echo(one_line(f"{at}  {own.query}"))
        spot = each.place
        click.echo(f"   {one_line(f'{spot.doc_id} {from_to(spot.start, spot.end)}  {said}')}")
        click.echo(f"   {one_line(each.text, 200)}")
    if not found:
        say("nothing is disputed")
    elif sys.stdout.isatty():
        say("decide one: chunkwise testset labels adjudicate 1 --grade 2 --who ada")


command = CommandGroup(
    "labels",
    help="Export, import and compare human relevance labels.",
    commands=[agreement, adjudicate, export, import_],
)
