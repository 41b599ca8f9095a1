"""`chunkwise testset convert`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click

from chunkwise.base.atomic_files import scratch_folder
from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.schema import Names, Option, argument
from chunkwise.base.wording import counted, one_or_many
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.exit_status import FAILED, leave
from chunkwise.cli.options import (
    LoadingOptions,
)
from chunkwise.cli.streams import json_stdout, say, say_skipped, utf8_stdout
from chunkwise.cli.testset import carried_documents, named_documents
from chunkwise.core import Document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chunkwise.testsets.check import Problem
    from chunkwise.testsets.formats import Format
    from chunkwise.testsets.testset import TestSet

FormatName = Literal[
    "chunkwise", "beir", "trec", "squad", "chroma", "legalbench", "ragas", "autorag", "ragchecker"
]
_OF_DOCUMENTS = frozenset(("beir", "trec", "autorag", "ragas", "ragchecker"))
"""Formats that need no lengths: they name documents, or hold no places at all."""


class ConvertOptions(LoadingOptions):
    """The options of `chunkwise testset convert`."""

    file: Annotated[Path, argument("QUERIES")]
    target: Annotated[FormatName, Option(
        "Output format", long_flag="--to", metavar="FORMAT", group="Output", common=True
    )]  # fmt: skip
    origin: Annotated[FormatName | None, Option(
        "Input format", long_flag="--from", metavar="FORMAT", default_text="detected", group="Input", common=True
    )] = None  # fmt: skip
    output: Annotated[Path | None, Option(
        "Output file, or a folder for beir, trec and autorag", flag="-o", metavar="PATH", default_text="stdout",
        group="Output", common=True, writes="new",
    )] = None  # fmt: skip
    documents: Annotated[Names, Option(
        "Documents or an index to locate passages in", metavar="SOURCE", group="Input", common=True
    )] = ()  # fmt: skip
    documents_to: Annotated[Path | None, Option(
        "Also write the documents: .jsonl, or a folder", metavar="PATH", group="Output", writes="new"
    )] = None  # fmt: skip


@dataclass_command("convert", ConvertOptions)
def command(options: ConvertOptions) -> None:
    """Convert a test set into another format.

    QUERIES is a file, or the folder of a BEIR, TREC or AutoRAG set. Documents in the test set (squad, beir, autorag)
    are used unless you name others with --documents. Passages that are not found or don't fit the format are
    reported.

    Examples:
      chunkwise testset convert squad.json --to chunkwise -o q.json
      chunkwise testset convert q.csv --to chunkwise --documents docs/ -o q.json
      chunkwise testset convert q.json --to beir --documents docs/ -o beir/

    Formats: chunkwise, beir, trec, squad, chroma, legalbench, ragas, autorag, ragchecker.
    """
    from chunkwise.testsets.formats import FORMATS, detect
    from chunkwise.testsets.losses import losses

    origin = FORMATS[options.origin] if options.origin else detect(options.file)
    target = FORMATS[options.target]
    output = options.output
    if output is None and target.name != "chunkwise":
        raise click.UsageError(f"no output given for {target.name}; add -o PATH")
    if output is not None and output.is_dir() and any(output.iterdir()):
        raise click.UsageError(f"{output} isn't empty and would be overwritten; write elsewhere")
    run = _Conversion(origin, options.file)
    documents = run.documents(options)
    testset = run.testset(documents, target)
    if not testset.queries:
        say("no readable questions; nothing was written")
        sys.exit(FAILED)
    if options.documents_to:
        run.write_documents(documents, options.documents_to)
    if output is None:
        run.show(target, testset, documents)
    else:
        target.write(testset, documents, output)
        run.report(list(losses(target, testset, documents, output)))
    if not options.quiet:
        count = len(testset.queries)
        click.echo(f"{counted(count, 'question')}: {origin.name} → {target.name}", err=True)
        if output is not None:
            click.echo(f"written: {output}", err=True)
    leave(skipped=run.incomplete)


class _Conversion:
    """One run: what is read and written, and whether anything was left out on the way."""

    def __init__(self, origin: Format, source: Path) -> None:
        self._origin = origin
        self._source = source
        self.incomplete = False

    def documents(self, options: ConvertOptions) -> list[Document] | None:
        """Those the user names, else those the file brings; None: there are none."""
        from chunkwise.testsets.formats import CarriesDocuments

        if options.documents:
            reading = options.loading(self._source, on_unreadable=self._skipped)
            return named_documents(options.documents, reading)
        if not isinstance(self._origin, CarriesDocuments):
            return None
        try:
            return carried_documents(self._origin, self._source, self._skipped)
        except ChunkwiseError as error:
            self.report([str(error)])
            return None

    def testset(self, documents: Sequence[Document] | None, target: Format) -> TestSet:
        from chunkwise.testsets.reading import read_testset

        problems: list[Problem] = []
        remarks: list[Problem] = []
        testset = read_testset(
            str(self._source), documents, problems.append,
            format=self._origin.name, on_remark=remarks.append,
        )  # fmt: skip
        self._tell(problems)
        for remark in remarks:
            say(f"{remark.where}: {remark.text}")
        if documents is None:
            quoting = sum(
                any(passage.span is None and passage.role != "label" for passage in draft.passages)
                for draft in testset.unplaced.values()
            )
            if quoting and target.name != "chunkwise":  # which can hold them as they are
                who = f"{counted(quoting, 'question')} {one_or_many(quoting, 'quotes', 'quote')}"
                self.report([f"{who} passages: give the documents with --documents"])
            if target.name not in _OF_DOCUMENTS:
                testset = self._without_unmeasured(testset)
        return testset

    def write_documents(self, documents: Sequence[Document] | None, path: Path) -> None:
        """One record a document, as a corpus that every command reads."""
        from chunkwise.records.write import write_json_lines

        if documents is None:
            raise click.UsageError(
                f"{self._source} has no documents to write: give them with --documents"
            )
        file = path if path.suffix.lower() == ".jsonl" else path / "corpus.jsonl"
        write_json_lines(
            file,
            (
                {"doc_id": document.id, "title": document.title, "text": document.text}
                for document in documents
            ),
        )

    def show(self, target: Format, testset: TestSet, documents: Sequence[Document] | None) -> None:
        """On stdout what would be the file."""
        with scratch_folder() as folder:
            file = folder / "queries.json"
            target.write(testset, documents, file)
            text = file.read_text(encoding="utf-8")
            out = json_stdout() if text.startswith(("[", "{")) else utf8_stdout()
            click.echo(text, nl=False, file=out)

    def report(self, lines: Sequence[str]) -> None:
        """What is lost, a line each."""
        for line in lines:
            self.incomplete = True
            say(line)

    def _without_unmeasured(self, testset: TestSet) -> TestSet:
        from dataclasses import replace

        from chunkwise.testsets.formats import WHOLE

        kept = tuple(
            query
            for query in testset.queries
            if all(
                place.end != WHOLE for reference in query.references for place in reference.places
            )
        )
        if missing := len(testset.queries) - len(kept):
            who = f"{counted(missing, 'question')} {one_or_many(missing, 'refers', 'refer')}"
            self.report(
                [
                    f"skipped: {who} to whole documents of unknown length; give the documents "
                    f"with --documents"
                ]
            )
        return replace(testset, queries=kept)

    def _skipped(self, problem: object) -> None:
        self.incomplete = True
        say_skipped(problem)

    def _tell(self, problems: Sequence[Problem]) -> None:
        from chunkwise.records.skipped import in_one_line

        lines = [f"{problem.where}: {problem.text}" for problem in problems]
        several = list(zip(problems, lines, strict=True))
        if mended := [line for problem, line in several if problem.repaired]:
            say(f"repaired {in_one_line(mended, 'passage')}")
        if dropped := [line for problem, line in several if problem.dropped]:
            self._skipped(in_one_line(dropped))
        self.report(
            [line for problem, line in several if not problem.repaired and not problem.dropped]
        )
