"""`chunkwise testset labels` and its commands: export, import, agreement, adjudicate."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
from msgspec import Meta

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.schema import Count, Name, Option, argument
from chunkwise.base.wording import (
    counted,
    format_estimate,
    from_to,
    one_or_many,
    thousands,
)
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.groups import CommandGroup
from chunkwise.cli.options import Labels
from chunkwise.cli.report_options import JsonOrReport
from chunkwise.cli.streams import print_json, say
from chunkwise.labels.formats import LabelFormat
from chunkwise.report.report import (
    Column,
    Estimate,
    Headline,
    Next,
    Note,
    Report,
    ReportPart,
    ValueTable,
)
from chunkwise.report.sanitize import one_line

if TYPE_CHECKING:
    from chunkwise.labels.assignment_and_progress import LabelProgress
    from chunkwise.labels.store import LabelStore


class LabelsPlace(JsonOrReport):
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
    written = f"{counted(count, 'label')} written to {options.file}"
    options.answer({"file": str(options.file), "labels": count, "lost": lost}, *lost, written)


class LabelsImportOptions(LabelsPlace):
    """The options of `chunkwise testset labels import`."""

    file: Annotated[Path, argument("FILE")]
    format: Annotated[LabelFormat | None, Option(
        "Input format", default_text="detected", common=True
    )] = None  # fmt: skip


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
    known = all_of_them - new
    there = (
        f", {thousands(known)} {one_or_many(known, 'was', 'were')} there already" if known else ""
    )
    options.answer(
        {"labels": all_of_them, "new": new, "place": store.place},
        f"{counted(new, 'new label')} in {store.place}{there}",
    )


@dataclass_command("agreement", LabelsPlace)
def agreement(options: LabelsPlace) -> None:
    """Show inter-annotator agreement (Krippendorff's alpha, Cohen's kappa).

    Examples:
      chunkwise testset labels agreement
      chunkwise testset labels agreement --json | jq .agreement.alpha
    """
    from chunkwise.labels.assignment_and_progress import label_progress

    progress = label_progress(options.opened())
    options.print_result(lambda: _agreement_report(progress), lambda: asdict(progress))


def _agreement_report(progress: LabelProgress) -> Report:
    label_agreement = progress.agreement
    unjudged = (
        f"{thousands(progress.unjudged)} of {counted(progress.pooled, 'pooled passage')} not judged"
    )
    parts: list[ReportPart] = [ValueTable(
        (Column("person"), Column("questions", "count"), Column("labels", "count"), Column("time a label", "seconds")),
        tuple((person.who, person.questions, person.labels, person.seconds) for person in progress.people),
    )]  # fmt: skip
    if label_agreement.passages:
        alpha = (
            "unknown"
            if label_agreement.alpha is None
            else format_estimate(*label_agreement.alpha, "number")
        )
        shared = f"{counted(label_agreement.passages, 'passage')} of {counted(label_agreement.questions, 'question')}"
        pairs = tuple(
            (f"{pair.first} and {pair.second}", pair.kappa and Estimate(*pair.kappa), pair.same)
            for pair in label_agreement.pairs
            if pair.passages
        )
        columns = (Column("people"), Column("Cohen's kappa", "number"), Column("same", "share"))
        parts.insert(
            0, Headline(f"Krippendorff's alpha {alpha} on {shared} with several labelers.")
        )
        parts.append(ValueTable(columns, pairs))
    else:
        parts.append(
            Note("No passage has two labelers yet; a share of the questions is assigned to two.")
        )
    if label_agreement.disputed:
        parts.append(Note(
            f"{counted(label_agreement.disputed, 'passage')} disputed, {thousands(label_agreement.relevance_disputed)} "
            "about relevance."
        ))  # fmt: skip
        parts.append(Next("chunkwise testset labels adjudicate"))
    title = (
        f"{counted(progress.questions, 'question')}, {counted(progress.labels, 'label')} that count"
    )
    return Report(title, tuple(parts), "agreement", unjudged)


class AdjudicateOptions(LabelsPlace):
    """The options of `chunkwise testset labels adjudicate`."""

    number: Annotated[Count | None, argument("[NUMBER]")] = None
    grade: Annotated[Annotated[int, Meta(ge=0, le=3)] | None, Option(
        "Decision: 0 off topic … 3 complete answer", metavar="N", common=True
    )] = None  # fmt: skip
    who: Annotated[Name | None, Option("Name of the adjudicator", metavar="NAME", common=True)] = (
        None
    )


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
    result = disputed_passages(labels_of(store))
    if options.number is not None:
        if options.grade is None or not options.who:
            raise click.UsageError("a decision needs --grade and --who: --grade 2 --who ada")
        if options.number > len(result):
            raise InvalidParameter(
                f"number is {options.number}, but there {one_or_many(len(result), 'is', 'are')} "
                f"{counted(len(result), 'disputed passage')}"
            )
        labels, passage = result[options.number - 1]
        place = passage.place._asdict()
        store.add(
            LabelEvent(
                key=new_key(), kind="adjudicate", query_id=labels.query_id, query=labels.query, who=options.who,
                when=utc_now(), text=passage.text, grade=options.grade,
                pool=labels.pool.key if labels.pool else "", **place,
            )
        )  # fmt: skip
        result = disputed_passages(labels_of(store))
    if options.as_json:
        rows = [
            {"number": at, "query_id": labels.query_id, "query": labels.query, **judged_passage.place._asdict(),
             "text": judged_passage.text,
             "grades": dict(judged_passage.grades), "is_relevance_disputed": judged_passage.is_relevance_disputed}
            for at, (labels, judged_passage) in enumerate(result, 1)
        ]  # fmt: skip
        print_json({"disputed": rows})
        return
    for at, (labels, judged_passage) in enumerate(result, 1):
        text = ", ".join(f"{who} {grade}" for who, grade in judged_passage.grades.items())
        click.echo(one_line(f"{at}  {labels.query}"))
        spot = judged_passage.place
        click.echo(f"   {one_line(f'{spot.doc_id} {from_to(spot.start, spot.end)}  {text}')}")
        click.echo(f"   {one_line(judged_passage.text, 200)}")
    if not result:
        say("nothing is disputed")
    elif sys.stdout.isatty():
        say("decide one: chunkwise testset labels adjudicate 1 --grade 2 --who ada")


command = CommandGroup(
    "labels",
    help="Export, import and compare human relevance labels.",
    commands=[agreement, adjudicate, export, import_],
)
