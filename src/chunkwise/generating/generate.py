"""Test questions out of documents: asked of a model and verified, or made by rules where there is none."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from chunkwise.core import Advance, Document
from chunkwise.documents import Inputs, LoadOptions, OnSkip, distinct_documents, read
from chunkwise.errors import ChunkwiseError, InvalidParameter
from chunkwise.generating.generated import Generated
from chunkwise.generating.making import Making
from chunkwise.generating.question_types import SHARES, Kind
from chunkwise.models import get_language_model
from chunkwise.models.llm.client import LlmClient
from chunkwise.models.llm.language_model import LanguageModel


def generate_questions(
    inputs: Inputs | Iterable[Document],
    n: int = 100,
    *,
    llm: str | LanguageModel | LlmClient | None = None,
    into: str | os.PathLike[str] | None = None,
    types: Mapping[Kind, float] = SHARES,
    seed: int = 0,
    max_calls: int | None = None,
    max_cost: float | None = None,
    options: LoadOptions | None = None,
    on_skip: OnSkip | None = None,
    advance: Advance | None = None,
) -> Generated:
    """At most `n` questions about files, folders and archives (or documents), each with its exact references.

    `llm` names a model, or is one; without it questions are made by rules and tagged `fallback`. Every question is
    in the file `into` as soon as it is kept; a file that is there already is gone on with. `max_calls` is 3 n.
    """
    documents = _documents(inputs, options, on_skip)
    client = _client(llm, max_cost)
    file = None if into is None else Path(into)
    making = Making(documents, n, into=file, types=types, seed=seed, advance=advance)
    return making.by_rules() if client is None else making.by_model(client, max_calls)


def _client(
    llm: str | LanguageModel | LlmClient | None, max_cost: float | None
) -> LlmClient | None:
    if llm is None:
        return None
    if isinstance(llm, LlmClient):
        if max_cost is not None:
            raise InvalidParameter("max_cost is given beside a client, which has its own; give one")
        return llm
    return LlmClient(get_language_model(llm), max_cost=max_cost)


def _documents(
    inputs: Inputs | Iterable[Document], options: LoadOptions | None, on_skip: OnSkip | None
) -> list[Document]:
    given: dict[str, Any] = {"options": options, "on_skip": on_skip}
    asked = {name: value for name, value in given.items() if value is not None}
    if isinstance(inputs, str | os.PathLike):
        found = list(read(inputs, **asked))
    else:
        every = list(inputs)
        own = [each for each in every if isinstance(each, Document)]
        paths = [each for each in every if not isinstance(each, Document)]
        found = list(distinct_documents([*own, *read(paths, **asked)] if paths else own))
    if not found:
        raise ChunkwiseError("no document was read; name the documents the questions are about")
    return found
