"""`chunkwise testset check`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.base.schema import Amount, Option, argument
from chunkwise.base.wording import counted
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.exit_status import SKIPPED
from chunkwise.cli.options import (
    LoadingOptions,
    Sources,
)
from chunkwise.cli.progress import bytes_of, progress
from chunkwise.cli.report_options import JsonOrReport
from chunkwise.cli.streams import SkippedInputs
from chunkwise.cli.testset import carried_documents, named_documents
from chunkwise.cli.testset.convert import FormatName
from chunkwise.core import Document, Passage

if TYPE_CHECKING:
    from chunkwise.cli.testset import Skip
    from chunkwise.testsets.check import Problem
    from chunkwise.testsets.testset import TestSet


class CheckOptions(LoadingOptions, JsonOrReport):
    """The options of `chunkwise testset check`."""

    file: Annotated[str, argument("QUERIES")]
    source: Sources = ()
    output: Annotated[Path | None, Option(
        "Write usable questions with repaired offsets", flag="-o", metavar="FILE.json", group="Output",
        common=True, writes="new",
    )] = None  # fmt: skip
    format: Annotated[FormatName | None, Option(
        "Format: chunkwise, squad, beir …", long_flag="--from", metavar="FORMAT", default_text="detected",
        group="Input", common=True,
    )] = None  # fmt: skip
    strict: Annotated[bool, Option(
        "Treat remarks as problems: exit status 3", group="Output", common=True
    )] = False  # fmt: skip
    show: Annotated[Amount, Option("Problems to print per kind", metavar="N", group="Output")] = 20


@dataclass_command("check", CheckOptions)
def command(options: CheckOptions) -> None:
    """Check questions against the documents, and repair references.

    QUERIES is a file of questions; SOURCE is files, folders, globs, archives or an index. Quoted passages are
    located, and moved ones found again. Reported are unknown documents, missing passages (with the nearest text),
    duplicates, questions without an answer, and overlapping or ambiguous references.

    Examples:
      chunkwise testset check q.json docs/
      chunkwise testset check q.json docs/ -o repaired.json
      chunkwise testset check q.jsonl kb
      chunkwise testset check q.jsonl corpus.jsonl --strict

    Minimal file: [{"query": "Who approves leave?", "relevant_text": "Leave is approved by the head"}]
    """
    from chunkwise.testsets.check import REMARKS, check_testset
    from chunkwise.testsets.reading import read_testset

    file, output = options.file, options.output
    skip = SkippedInputs()
    documents = _documents(options, skip)
    problems: list[Problem] = []
    with progress("checking questions", 0, options.quiet) as advance:
        testset = read_testset(
            file, documents, problems.append, format=options.format, on_remark=problems.append,
            advance=advance,
        )  # fmt: skip
        if not testset.queries and not problems:
            shown = "standard input" if file == "-" else file
            raise ChunkwiseError(
                f'no questions in {shown}; expected [{{"query": "…", "relevant_text": "…"}}]'
            )
        advance(0, f"{counted(len(testset), 'question')} and the documents are compared")
        testset, more = check_testset(testset, documents)
    problems += more
    if output is not None:
        from chunkwise.testsets.formats import FORMATS

        FORMATS["chunkwise"].write(testset, documents, output)
    _show(testset, problems, documents, options)
    if output is not None and not options.quiet:
        click.echo(f"written: {output} ({counted(len(testset), 'question')})", err=True)
    if skip.count or any(options.strict or problem.kind not in REMARKS for problem in problems):
        sys.exit(SKIPPED)


def _documents(options: CheckOptions, skip: Skip) -> list[Document]:
    file, inputs = options.file, options.source
    if not inputs:
        return _carried(file, options.format, skip)
    if file == "-" and "-" in inputs:
        raise InvalidParameter("questions and documents can't both be read from standard input")
    with progress("reading documents", bytes_of(inputs), options.quiet) as advance:
        return named_documents(inputs, options.loading(Path(file), on_unreadable=skip), advance)


def _carried(file: str, format: str | None, skip: Skip) -> list[Document]:
    """Some formats bring the texts that are asked about."""
    from chunkwise.testsets.formats import FORMATS, CarriesDocuments, detect

    kind = None if file == "-" else FORMATS[format] if format else detect(file)
    if not isinstance(kind, CarriesDocuments):
        raise click.UsageError(
            "no documents given; expected the files, folders or index the questions are about"
        )
    return carried_documents(kind, Path(file), skip)


def _show(
    testset: TestSet,
    problems: Sequence[Problem],
    documents: Sequence[Document],
    options: CheckOptions,
) -> None:
    texts = {document.id: document.text for document in documents}

    def text_of(place: Passage) -> str:
        return texts.get(place.doc_id, "")[place.start : place.end]

    def data() -> dict[str, object]:
        summary = Counter(problem.kind for problem in problems)
        return {
            "file": options.file,
            "questions": len(testset),
            "usable": len(testset) - summary["no_references"],
            "hash": testset.hash,
            "summary": dict(summary),
            "problems": [_row(problem, text_of) for problem in problems],
        }

    from chunkwise.report.testset_report import testset_report

    is_written = options.output is not None
    options.print_result(
        lambda: testset_report(
            problems, len(testset), text_of, most=options.show, is_written=is_written
        ),
        data,
    )


def _row(problem: Problem, text_of: Callable[[Passage], str]) -> dict[str, object]:
    row: dict[str, object] = {
        "kind": problem.kind,
        "where": problem.where,
        "query_id": problem.query_id,
        "text": problem.text,
        "repaired": problem.repaired,
        "dropped": problem.dropped,
    }
    if problem.nearest is not None:
        row["nearest"] = {**problem.nearest._asdict(), "text": text_of(problem.nearest)}
    return row
