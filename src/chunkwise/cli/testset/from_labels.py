"""`chunkwise testset from-labels`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.schema import Option
from chunkwise.base.wording import counted
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.options import (
    JsonOption,
    Labels,
    LoadingOptions,
    Queries,
    Sources,
)
from chunkwise.cli.progress import bytes_of, progress
from chunkwise.cli.streams import say_skipped
from chunkwise.cli.testset import named_documents


class FromLabelsOptions(LoadingOptions, JsonOption):
    """The options of `chunkwise testset from-labels`."""

    source: Sources = ()
    output: Annotated[Path, Option(
        "Output file", flag="-o", metavar="FILE.json", group="Output", common=True, writes="any"
    )]  # fmt: skip
    labels: Labels = None
    test_queries: Queries = None


@dataclass_command("from-labels", FromLabelsOptions)
def command(options: FromLabelsOptions) -> None:
    """Create a test set from human labels.

    SOURCE is documents or an index; with it, references include their text.

    Examples:
      chunkwise testset from-labels -o questions.json
      chunkwise testset from-labels docs/ -o questions.json -Q q.json
      chunkwise evaluate docs/ -Q questions.json --metrics recall,bpref,judged

    References are the gold spans that people selected, and passages of grade 2 or 3 outside of gold spans. Grades are
    kept in "labels"; "pool" records which passages were pooled and not judged.
    """
    from chunkwise.labels.question_labels import labels_of
    from chunkwise.labels.store import LabelStore, labels_place
    from chunkwise.labels.to_testset import questions_from_labels, write_questions
    from chunkwise.records.skipped import in_one_line
    from chunkwise.testsets.reading import read_testset

    store = LabelStore(labels_place(options.labels))
    if not store.exists():
        raise ChunkwiseError(f"no labels in {store.place}; give another file with --labels FILE")
    documents = []
    if options.source:
        with progress("reading documents", bytes_of(options.source), False) as advance:
            documents = named_documents(
                options.source, options.loading(on_unreadable=say_skipped), advance
            )
    known = {}
    if options.test_queries:
        problems: list[str] = []
        read = read_testset(
            options.test_queries, documents or None,
            lambda problem: problems.append(f"{problem.where}: {problem.text}"),
        )  # fmt: skip
        if problems:
            say_skipped(in_one_line(problems))
        known = {query.id: query for query in read.queries}
    labels = labels_of(store)
    made = questions_from_labels(labels, known)
    if not made.queries:
        raise ChunkwiseError(f"no labeled questions in {store.place}; nothing was written")
    write_questions(made, options.output, documents, labels)
    sentences = {
        f"skipped {counted(made.disputed, 'disputed passage')}; decide: chunkwise testset "
        "labels adjudicate": made.disputed,
        f"{counted(made.unjudged, 'pooled passage')} not judged: use the metrics `judged` and `bpref`":
            made.unjudged,
        f"{counted(len(made.queries), 'question')} written to {options.output}": True,
    }  # fmt: skip
    options.answer(
        {"file": str(options.output), "questions": len(made.queries), "unjudged": made.unjudged,
         "disputed": made.disputed, "without_answer": made.empty},
        *(sentence for sentence, is_so in sentences.items() if is_so),
    )  # fmt: skip
