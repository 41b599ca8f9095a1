"""Who writes contexts for an index: the model that was given, the one it was made with, or nobody."""

from __future__ import annotations

from dataclasses import replace

from chunkwise.errors import InvalidParameter
from chunkwise.retrieval.making.lazy_contexts import LazyContexts, Llm
from chunkwise.retrieval.refusals import REBUILD
from chunkwise.retrieval.settings import WRITTEN, Context, Settings, WrittenContext

NO_MODEL = (
    "no language model is named, so the headings context is taken instead: title and section path of each chunk "
    "(to have contexts written, name one: llm=…, chunkwise index --llm NAME)"
)


def contexts_first(
    context: Context | WrittenContext | None, llm: Llm | None, settings: Settings
) -> tuple[Settings, LazyContexts | None, tuple[str, ...]]:
    """For a new index: its settings, what writes, and what the user is told."""
    if context in WRITTEN:
        if llm is None:
            return replace(settings, context="headings"), None, (NO_MODEL,)
        from chunkwise.chunkers.contextual.contextual import prompt_version

        made = LazyContexts(llm, context)
        identity = made.writer.client.identity
        return (
            replace(
                settings, context=context, llm=made.name, llm_identity=identity,
                prompt=prompt_version(context),
            ),
            made,
            (),
        )  # fmt: skip
    if llm is not None:
        raise InvalidParameter(
            f"a language model is given, and context is {context or 'none'!r}, which needs none; "
            f"choose context={' or '.join(map(repr, WRITTEN))}, or leave the model out"
        )
    return replace(settings, context=context or "none"), None, ()


def falls_back(context: Context | WrittenContext | None, llm: Llm | None, before: Settings) -> bool:
    """Whether this is asked for again as it was when the index was made: written contexts, and nobody to write."""
    return context in WRITTEN and llm is None and before.context == "headings"


def contexts_again(llm: Llm | None, before: Settings) -> LazyContexts | None:
    """For an index that is there: the model it was made with, and no other."""
    way = before.context
    if way not in WRITTEN:
        if llm is not None:
            raise InvalidParameter(
                f"the index was made with context={way!r}, for which no language model is asked, and one was given; "
                f"leave it out, or {REBUILD}"
            )
        return None
    from chunkwise.chunkers.contextual.contextual import prompt_version

    if prompt_version(way) != before.prompt:
        raise InvalidParameter(
            f"the index was made with the prompt {before.prompt}, and it is {prompt_version(way)} now: new contexts "
            f"would be written to another wording; {REBUILD}"
        )
    made = LazyContexts(before.llm if llm is None else llm, way, before)
    if llm is not None and made.name != before.llm:
        made.check()  # it is another one by its name: no reason to wait with the error
    return made
