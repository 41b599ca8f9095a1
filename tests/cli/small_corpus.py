"""Documents of a harbour and questions on them, small enough to be tuned for in a moment."""

import json
from pathlib import Path
from typing import Any

_THINGS = (
    "crane", "ferry", "lamp", "pier", "rope", "buoy", "anchor", "lantern", "ledger", "winch", "barge", "gate",
)  # fmt: skip
_PEOPLE = ("warden", "clerk", "pilot", "cooper")
_DOCUMENTS = 4


def passage(number: int) -> str:
    """What answers a question."""
    thing, who = _THINGS[number % len(_THINGS)], _PEOPLE[number % len(_PEOPLE)]
    return f"The {thing} numbered {number} is kept by the {who} until day {number + 3}."


def text_of(document: int, passages: int, *, headings: bool = True) -> str:
    parts = []
    for number in range(document * passages, (document + 1) * passages):
        if headings:
            parts.append(f"## Duty {number}")
        parts.append(
            f"{passage(number)} Nothing else is written about it. Whoever needs more asks at the office."
        )
    return ("# The harbour\n\n" if headings else "") + "\n\n".join(parts) + "\n"


def write_corpus(folder: Path, *, passages: int = 10, headings: bool = True) -> list[Path]:
    """Four documents."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for document in range(_DOCUMENTS):
        path = folder / f"duties-{document}.{'md' if headings else 'txt'}"
        path.write_text(text_of(document, passages, headings=headings), encoding="utf-8")
        made.append(path)
    return made


def write_questions(
    path: Path, *, count: int = 40, passages: int = 10, headings: bool = True
) -> None:
    """Each with the sentence that answers it."""
    rows: list[dict[str, Any]] = []
    for number in range(count):
        document = number // passages
        text = text_of(document, passages, headings=headings)
        start = text.index(passage(number))
        name = f"duties-{document}.{'md' if headings else 'txt'}"
        thing = _THINGS[number % len(_THINGS)]
        rows.append(
            {
                "id": f"q{number}", "question": f"Who keeps the {thing} numbered {number}?",
                "references": [{"doc_id": name, "start": start, "end": start + len(passage(number))}],
            }
        )  # fmt: skip
    path.write_text(json.dumps(rows), encoding="utf-8")


PLAN = """\
[sweep]
source = "docs"
queries = "queries.json"
embedder = "none"

[[sweep.chunkers]]
strategy = ["sections"]
max_tokens = [40, 80]
overlap = 0

[sweep.retrieval]
retriever = ["bm25"]
"""
"""Few configurations, by words alone."""
