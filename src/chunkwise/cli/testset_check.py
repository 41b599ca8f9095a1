"""`chunkwise testset check`."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chunkwise.cli.inputs import SKIPPED, check_outputs, load_options
from chunkwise.cli.progress import bytes_of, progress

if TYPE_CHECKING:
    from chunkwise.cli.testset_documents import Skip
    from chunkwise.core import Document, Passage
    from chunkwise.testsets.testset import Problem, TestSet

PROBLEMS = SKIPPED
"""Exit status when something is wrong with a question, or a document could not be read."""

_EXAMPLES = """
\b
Examples:
  chunkwise testset check queries.json handbook/                    # one line a problem
  chunkwise testset check queries.json handbook/ -o repaired.json   # passages as places, moved ones found again
  chunkwise testset check queries.jsonl kb                          # against the documents of an index
  chunkwise testset check queries.jsonl corpus.jsonl --strict       # remarks count as problems
  chunkwise testset check queries.json handbook/ --json | jq .summary
\b
The simplest file: [{"query": "Who approves leave?", "relevant_text": "Leave is approved by the head"}]
\b
Exit status: 0 sound, 3 problems (or a document that cannot be read), 1 an error, 2 wrong usage or value.
"""


@click.command("check", epilog=_EXAMPLES)
@click.argument("file", metavar="QUERIES")
@click.argument("inputs", nargs=-1, metavar="[DOCUMENTS]...")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.json",
              help="Write the questions that can be used, repaired, every passage with its place.")  # fmt: skip
@click.option("--from", "format", metavar="FORMAT", show_default="by how it begins",
              help="Format of QUERIES: chunkwise, squad, beir …")  # fmt: skip
@click.option("--strict", is_flag=True, help="Remarks count as problems: exit status 3.")
@click.option("-n", "--show", type=click.IntRange(0), default=20, show_default=True,
              help="Problems of each kind to show.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="All problems as one JSON object on stdout.")
@click.option("--encoding", metavar="NAME", help="Encoding of text files that are not UTF-8.")
@click.option("--text-field", metavar="FIELD", help="Field of records that holds the text.")
@click.option("--id-field", metavar="FIELD", help="Field of records that holds the id.")
@click.option("--title-field", metavar="FIELD", help="Field of records that holds the title.")
@click.option("--loader", metavar="NAME", help="Read every document with this loader: text, html …")
@click.option("-q", "--quiet", is_flag=True, help="No progress; problems are shown all the same.")
def command(file: str, inputs: tuple[str, ...], **options: Any) -> None:
    """Verify that questions and documents fit together.

    QUERIES is a file of questions; DOCUMENTS are files, folders, globs and archives, or an index. Spans are verified,
    quoted passages found, moved ones found again; told are unknown documents, passages that are nowhere (with the
    nearest text), duplicates, questions nothing answers, references that overlap or stand elsewhere, too.
    """
    from chunkwise.base.errors import ChunkwiseError
    from chunkwise.testsets.check import check_testset
    from chunkwise.testsets.reading import read_with_places
    from chunkwise.testsets.testset import REMARKS

    output: Path | None = options["output"]
    outputs = check_outputs([file, *inputs], output)
    skipped: list[str] = []
    documents = _documents(file, inputs, outputs, options, skipped)
    problems: list[Problem] = []
    with progress("checking questions", 0, options["quiet"]) as advance:
        read = read_with_places(
            file, documents, problems.append, format=options["format"], on_remark=problems.append,
            advance=advance,
        )  # fmt: skip
        if not read.testset.queries and not problems:
            shown = "standard input" if file == "-" else file
            raise ChunkwiseError(
                f'there is no question in {shown}; write [{{"query": "…", "relevant_text": "…"}}]'
            )
        advance(0, f"{len(read.testset):,} questions are compared with the documents")
        testset, more = check_testset(read.testset, documents, read.where)
    problems += more
    if output is not None:
        from chunkwise.testsets.formats import FORMATS

        FORMATS["chunkwise"].write(testset, documents, output)
    _show(file, testset, problems, documents, options)
    if output is not None:
        from chunkwise.base.wording import counted

        if not options["quiet"]:
            click.echo(f"written: {output} ({counted(len(testset), 'question')})", err=True)
    if skipped or any(options["strict"] or each.kind not in REMARKS for each in problems):
        sys.exit(PROBLEMS)


def _documents(
    file: str,
    inputs: tuple[str, ...],
    outputs: list[Path],
    options: dict[str, Any],
    skipped: list[str],
) -> list[Document]:
    from chunkwise.base.errors import InvalidParameter
    from chunkwise.cli.messages import say_skipped
    from chunkwise.cli.testset_documents import named_documents

    def skip(problem: object) -> None:
        skipped.append(str(problem))
        say_skipped(problem)

    if not inputs:
        return _carried(file, options["format"], skip)
    if file == "-" and "-" in inputs:
        raise InvalidParameter("standard input can be the questions or the documents, not both")
    leave_out = [*outputs, *([] if file == "-" else [Path(file).resolve()])]
    with progress("reading documents", bytes_of(inputs), options["quiet"]) as advance:
        return named_documents(inputs, load_options(options), skip, leave_out, advance)


def _carried(file: str, format: str | None, skip: Skip) -> list[Document]:
    """Some formats bring the texts that are asked about."""
    from chunkwise.cli.testset_documents import carried_documents
    from chunkwise.testsets.formats import FORMATS, CarriesDocuments, detect

    found = None if file == "-" else FORMATS[format] if format else detect(file)
    if not isinstance(found, CarriesDocuments):
        raise click.UsageError(
            "no documents: name the files, folders or the index the questions are about"
        )
    return carried_documents(found, Path(file), skip)


def _show(
    file: str,
    testset: TestSet,
    problems: Sequence[Problem],
    documents: Sequence[Document],
    options: dict[str, Any],
) -> None:
    texts = {document.id: document.text for document in documents}

    def text_of(place: Passage) -> str:
        return texts.get(place.doc_id, "")[place.start : place.end]

    if options["as_json"]:
        summary = Counter(problem.kind for problem in problems)
        told = {
            "file": file,
            "questions": len(testset),
            "usable": len(testset) - summary["no_references"],
            "hash": testset.hash,
            "summary": dict(summary),
            "problems": [_row(problem, text_of) for problem in problems],
        }
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return
    from rich.console import Console

    from chunkwise.report.problems_terminal import render_problems

    console = Console(file=sys.stdout, highlight=False)
    render_problems(
        problems, len(testset), text_of, console,
        most=options["show"], written=options["output"] is not None,
    )  # fmt: skip


def _row(problem: Problem, text_of: Any) -> dict[str, object]:
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
