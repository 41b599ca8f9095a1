"""A model that answers by rule, and documents it knows something about."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from threading import Event, Lock
from typing import Any

from chunkwise import Document
from chunkwise.models.llm.language_model import Completion, Request
from chunkwise.testsets.generate.source_passages import (
    SourcePassage,
    SourcePassages,
    find_source_passages,
)

LEAVE = """# Leave at the harbour

## Carrying days over

You may carry up to six unused days into the next leave year, and the rota clerk keeps the list of them.
Days that are carried over lapse on 31 March, whatever the reason was for which they were not taken before.

## Sickness

A sick mate telephones the harbour office before the first sailing of the day. From the fifth day a note from
the island nurse or a doctor is needed, and the cooperative pays for the note.

## Herring Week

During Herring Week no leave is granted to crews. The rule is waived for anyone who needs to be absent for:

- their own wedding;
- an examination that cannot be sat on another date;
- a court summons.
"""
SALT = """# Salt works

## Reserve

The works keep a reserve of sixty tonnes of coarse salt in Store No. 2, which may not be sold to anybody else.
The buyer may inspect the reserve on two working days' notice, together with the works manager.

## Herring Week

The curers buy coarse salt for Herring Week at a price of 186.40 florins a tonne, delivered by the vessel Limpet
on the Monday before the week begins.
"""
DOCUMENTS = [
    Document("leave.md", LEAVE, format="markdown"),
    Document("salt.md", SALT, format="markdown"),
]

Answer = Mapping[str, Any]

CARRY = {
    "quotes": ["You may carry up to six unused days into the next leave year"],
    "question": "How many vacation days can harbour staff keep for the following year?",
    "answer": "Up to six unused days.",
    "facts": ["six unused days"],
}
NOTE = {
    "quotes": ["From the fifth day a note from\nthe island nurse or a doctor is needed"],
    "question": "When does a sick mate have to bring a note?",
    "answer": "A note is needed from the fifth day.",
    "facts": ["fifth day"],
}
WAIVED = {
    "quotes": [
        "- their own wedding;\n- an examination that cannot be sat on another date;\n- a court summons."
    ],
    "question": "For which reasons is the ban on holidays in Herring Week lifted?",
    "answer": "Their own wedding, an examination that cannot be sat on another date, or a court summons.",
    "facts": ["wedding", "examination", "court summons"],
}
RESERVE = {
    "quotes": ["a reserve of sixty tonnes of coarse salt in Store No. 2"],
    "question": "How much has to be held back for the curers?",
    "answer": "A reserve of sixty tonnes of coarse salt.",
    "facts": ["sixty tonnes"],
}
PRICE = {
    "quotes": ["at a price of 186.40 florins a tonne, delivered by the vessel Limpet"],
    "question": "What do the curers pay for a tonne of coarse salt?",
    "answer": "A price of 186.40 florins a tonne.",
    "facts": ["186.40 florins"],
}
KNOWN = {
    "carry up to six": CARRY,
    "fifth day": NOTE,
    "court summons": WAIVED,
    "sixty tonnes": RESERVE,
    "186.40": PRICE,
}
"""By words that stand in one passage alone."""


def by_words(prompt: str) -> Answer:
    """The one answer it knows about a passage."""
    return next(answer for words, answer in KNOWN.items() if words in prompt)


class RuleModel:
    """Counts what it is asked; the rule gives a value for JSON, or the text itself."""

    price_name = "local"
    window = None

    def __init__(
        self,
        rule: Callable[[str], Answer | str] = by_words,
        *,
        name: str = "rule",
        concurrency: int = 1,
    ) -> None:
        self.identity = f"test:{name}"
        self.concurrency = concurrency
        self.calls = 0
        self.prompts: list[str] = []
        self._rule = rule
        self._lock = Lock()

    def complete(self, request: Request, stop: Event | None = None) -> Completion:
        with self._lock:
            self.calls += 1
            self.prompts.append(request.user)
        answer = self._rule(request.user)
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return Completion(text, len(request.user.split()), len(text.split()))


def ground() -> SourcePassages:
    return find_source_passages(DOCUMENTS)


def passage_with(words: str, ground: SourcePassages) -> SourcePassage:
    return next(each for each in ground.passages if words in each.text)


def shown_passage(prompt: str) -> str:
    """The text of the first passage of a prompt, with its headings."""
    match = re.search(r"<passage[^>\n]*>\n(.*?)\n</passage", prompt, re.DOTALL)
    assert match is not None
    return match[1]
