"""Words that end a turn or begin a role when a server reads them in a question, made text like any other."""

from __future__ import annotations

import re

_SPLIT = "\u2060"
"""Shows nothing, is no space, and is passed over where a quote is looked for in its document."""
_WORDS = re.compile(
    r"<(?:[|｜][^<>\s]{1,60}[|｜]>|</?SYS>>|/?s>|(?:start|end)_of_(?:turn|image|audio)>|(?:bos|eos|pad|unk)>)"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]"
)


def not_steering(text: str) -> str:
    """The same to a reader, with every such word split behind its first sign."""
    return _WORDS.sub(lambda word: f"{word[0][0]}{_SPLIT}{word[0][1:]}", text)
