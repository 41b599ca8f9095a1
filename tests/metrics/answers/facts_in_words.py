"""Facts that are said in a sentence each, so that it is known which text says which."""

from __future__ import annotations

from collections.abc import Iterable

_THINGS = ("lamp", "rope", "anchor", "ladder", "barrel", "compass", "kettle", "mirror")
_KEEPERS = ("Orla", "Piet", "Maren", "Tove", "Bruno", "Signe", "Anton", "Jonas")

FACTS = range(len(_THINGS))


def sentence(fact: int) -> str:
    return f"The {_THINGS[fact]} of {_KEEPERS[fact]} hangs on hook {100 + 7 * fact}."


def text_of(facts: Iterable[int]) -> str:
    return " ".join(map(sentence, facts))
