"""A person's decisions about questions, each on disk at once; what an edit makes untrue goes with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from chunkwise.base.errors import ChunkwiseError
from chunkwise.metrics.claims.hit_texts import is_named
from chunkwise.metrics.claims.text_normalization import Readable, plain_form
from chunkwise.testsets.formats.chunkwise import (
    QuestionRow,
    QuestionsFile,
    dropped_file,
    id_of_row,
    is_there,
)
from chunkwise.testsets.question_record import TEXT, TYPES, as_list, fact_of

_FACTS = ("facts", "expected", "expected_facts", "expected_entities", "entities", "key_facts")
EASY = "easy"
"""Tag of questions that word search answers, however the documents are cut: true of their very words."""
NUMERIC = "numeric"
"""Tag of questions whose answer brings a number."""


def _drop_stale_facts(row: QuestionRow, answer: str) -> list[str]:
    """Takes out the facts that neither the new answer nor the reference names."""
    name = next((fact for fact in _FACTS if row.get(fact) is not None), None)
    if name is None:
        return []
    proof = plain_form("\n".join((answer, *quotes_of_row(row))))
    gone = [item for item in as_list(row[name]) if not is_named(fact_of(item), proof)]
    row[name] = [item for item in as_list(row[name]) if item not in gone]
    return [fact_of(item).text for item in gone]


def _drop_tag(row: QuestionRow, tag: str) -> bool:
    """Whether the tag was there."""
    name = next((item for item in TYPES if tag in as_list(row.get(item))), None)
    if name is not None:
        row[name] = [item for item in as_list(row[name]) if item != tag]
    return name is not None


def quotes_of_row(row: QuestionRow) -> Iterator[str]:
    """What the file itself says stands at the places of a question."""
    for name in ("references", "relevant_text"):
        given = row.get(name)
        for item in given if isinstance(given, list) else [given]:
            text = item.get("text") if isinstance(item, dict) else item
            if isinstance(text, str) and text:
                yield text


Only = Literal["all", "unreviewed", "accepted", "edited"]

REVIEW = "review"
"""The field that says what a person decided: accepted or edited."""
_ANSWER = ("expected_answer", "reference_answer", "ground_truth", "gold_answer", "answer")


class Review:
    """The questions of a file, one of them at hand; all other fields stay as they are.

    Others may write the file meanwhile: it is read again before every decision, and only the row at hand is changed.
    """

    def __init__(self, path: Path, only: Only = "all") -> None:
        self._file = QuestionsFile.read(path)
        gone = dropped_file(path)
        self._gone = QuestionsFile.read(gone) if is_there(gone) else QuestionsFile.new(gone)
        self._line = [row for row in self._file.rows if only in ("all", state_of(row))]
        self._dropped: dict[int, int] = {}
        """Of places in the line whose row was dropped in this sitting, where each stood in the file."""
        first = (at for at, row in enumerate(self._line) if state_of(row) == "unreviewed")
        self.at = next(first, 0)

    def __len__(self) -> int:
        return len(self._line)

    def go_to(self, id: str) -> None:
        """To the question of this id; one without an id is known by its number in the file."""
        for at, row in enumerate(self._line):
            if (id_of_row(row) or str(at + 1)) == id:
                self.at = at
                return
        self.at = len(self._line)

    def bring(self, ids: Iterable[str]) -> bool:
        """Makes the first of these that was not at hand yet the question at hand; False: all of them were."""
        ahead = {id_of_row(self._line[at]): at for at in range(self.at, len(self._line))}
        at = next((ahead[id] for id in ids if id in ahead), None)
        if at is not None:
            self._line.insert(self.at, self._line.pop(at))
        return at is not None

    @property
    def row(self) -> QuestionRow | None:
        """The question at hand; None: there is none behind the last."""
        return self._line[self.at] if self.at < len(self._line) else None

    @property
    def is_dropped(self) -> bool:
        """Whether the question at hand was dropped in this sitting."""
        return self.at in self._dropped

    def accept(self) -> None:
        """Edited ones stay edited: somebody has changed what was generated."""
        _, row = self._here()
        if state_of(row) != "edited":
            row[REVIEW] = "accepted"
        self._write(row)
        self.at += 1

    def edit_question(self, text: str) -> list[str]:
        """What else that changed, in words: nobody knows of the new question whether it is easy."""
        return self._edit(TEXT, text)

    def edit_answer(self, text: str) -> list[str]:
        """What else that changed, in words: facts of the old answer alone go with it."""
        return self._edit(_ANSWER, text)

    def drop(self) -> None:
        """Out of the file and into the one beside it, first of all there: a question is never in neither."""
        position, row = self._here()
        self._gone.refresh()
        self._gone.rows.append(row)
        self._gone.write()
        del self._file.rows[position]
        self._write(row)
        self._dropped[self.at] = position
        self.at += 1

    def skip(self) -> None:
        self.at += 1

    def back(self) -> None:
        """To the question before; one that was dropped just now is back in the file."""
        self.at = max(0, self.at - 1)
        row = self.row
        if row is None or not self.is_dropped:
            return
        self._file.refresh()
        self._file.rows.insert(self._dropped.pop(self.at), row)
        self._file.write()
        self._gone.refresh()
        if (position := self._gone.position(row)) is not None:
            del self._gone.rows[position]
            self._gone.write()

    def counts(self) -> dict[str, int]:
        """Questions in the file by what was decided, and those dropped so far."""
        states = [state_of(row) for row in self._file.rows]
        result = {name: states.count(name) for name in ("accepted", "edited", "unreviewed")}
        return {**result, "dropped": len(self._gone.rows)}

    def _edit(self, names: tuple[str, ...], text: str) -> list[str]:
        _, row = self._here()
        key, new = _key(row, names), text.strip()
        if not new or text == row.get(key):
            return []
        row[key] = new
        row[REVIEW] = "edited"
        if names is TEXT:
            messages = ["no longer tagged easy"] if _drop_tag(row, EASY) else []
            self._write(row)
            return messages
        messages = [f"no longer an expected fact: {fact}" for fact in _drop_stale_facts(row, new)]
        if not Readable(new).numbers and _drop_tag(row, NUMERIC):
            messages.append("no longer tagged numeric: the answer has no number")
        self._write(row)
        return messages

    def _here(self) -> tuple[int, QuestionRow]:
        """The question at hand as it is in the file now, and where it stands there."""
        row = self.row
        if row is None or self.is_dropped:
            raise LookupError("no current question")
        self._file.refresh()
        position = self._file.position(row)
        if position is None:
            raise ChunkwiseError(
                f"{self._file.path} has changed, and the current question is gone; start again "
                f"(earlier decisions are saved)"
            )
        return position, self._file.rows[position]

    def _write(self, row: QuestionRow) -> None:
        """The file, and the row at hand as it is in it now."""
        self._file.write()
        self._line[self.at] = row


def state_of(row: QuestionRow) -> str:
    """accepted, edited or unreviewed."""
    state = row.get(REVIEW)
    return state if state in ("accepted", "edited") else "unreviewed"


def question_of(row: QuestionRow) -> str:
    return str(row.get(_key(row, TEXT)) or "")


def answer_of(row: QuestionRow) -> str:
    return str(row.get(_key(row, _ANSWER)) or "")


def _key(row: QuestionRow, names: tuple[str, ...]) -> str:
    """The name the file uses; ours where it has none."""
    return next((name for name in names if name in row), names[0] if names is TEXT else "answer")
