"""Prompts are files with gaps and a version, which a user may replace; document text stays text, between marks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from importlib import resources
from pathlib import Path

from chunkwise.base.errors import ChunkwiseError, UnknownName, warn_user
from chunkwise.base.wording import counted

_FENCED = re.compile(r"<([a-z_]+(?: \d+)?) ([0-9a-f]{8})>\n(.*?)\n</\1 \2>", re.DOTALL)


def fenced(text: str, name: str = "passage", number: int | None = None) -> str:
    """The text between an opening and a closing mark that share a word which is not in the text."""
    return _between(text, name if number is None else f"{name} {number}", _mark(text, [text]))


def with_distinct_fences(values: Mapping[str, str]) -> dict[str, str]:
    """What fills one prompt, with no mark of a text in any other text: whoever knows one could close or feign it."""
    # From the left, outermost first: a text that holds fences of its own stands inside of one.
    texts = [match[3] for value in values.values() for match in _FENCED.finditer(value)]
    if len(texts) < 2:
        return dict(values)
    everything = "\n".join(texts)

    def again(found: re.Match[str]) -> str:
        name, mark, text = found.groups()
        return found[0] if mark not in everything else _between(text, name, _mark(text, texts))

    return {name: _FENCED.sub(again, value) for name, value in values.items()}


def _between(text: str, name: str, mark: str) -> str:
    return f"<{name} {mark}>\n{text}\n</{name} {mark}>"


def _mark(text: str, others: Iterable[str]) -> str:
    # From the text itself: the same prompt every time, and a long document that comes first in many prompts has
    # the same mark in all of them, so that a server reads it once.
    salt = 0
    while True:
        mark = blake2b(
            f"{salt}\n{text}".encode("utf-8", "surrogatepass"), digest_size=4
        ).hexdigest()
        if not any(mark in other for other in others):
            return mark
        salt += 1


_SPLIT = "\u2060"
"""Shows nothing, is no space, and is passed over where a quote is looked for in its document."""
_WORDS = re.compile(
    r"<(?:[|｜][^<>\s]{1,60}[|｜]>|</?SYS>>|/?s>|(?:start|end)_of_(?:turn|image|audio)>|(?:bos|eos|pad|unk)>)"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]"
)


def without_special_tokens(text: str) -> str:
    """The same to a reader, with every such word split behind its first sign."""
    return _WORDS.sub(lambda word: f"{word[0][0]}{_SPLIT}{word[0][1:]}", text)


PROMPTS_VARIABLE = "CHUNKWISE_PROMPTS"
"""A folder with prompts of one's own: a file there stands for the one of the same name in the package."""

_GAP = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_LINE = re.compile(r"^---[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A wording with gaps."""

    name: str
    system: str
    user: str
    version: str
    """Name, number and a hash of the wording: part of every cache key."""

    @property
    def gaps(self) -> frozenset[str]:
        return frozenset(_GAP.findall(self.system + self.user))

    def filled(self, **values: str) -> tuple[str, str]:
        """System and user part with every gap filled; gaps inside the values stay as they are."""
        missing = self.gaps - values.keys()
        if missing:
            raise ChunkwiseError(
                f"the prompt {self.name} has an unknown placeholder {{{{{min(missing)}}}}}; "
                f"known: {', '.join(sorted(values))}"
            )

        filling = with_distinct_fences(values)

        def fill(match: re.Match[str]) -> str:
            return filling[match[1]]

        return _GAP.sub(fill, self.system), _GAP.sub(fill, self.user)


def load_prompt(name: str) -> Prompt:
    """The user's own of this name (`CHUNKWISE_PROMPTS`), else the package's."""
    packaged = packaged_prompt(name)
    path = own_prompt(name)
    if path is None:
        return packaged
    try:
        prompt = parse_prompt(name, path.read_text(encoding="utf-8-sig"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ChunkwiseError(f"the prompt {path} cannot be read: {error}") from error
    if left_out := packaged.gaps - prompt.gaps:
        gaps = ", ".join(f"{{{{{gap}}}}}" for gap in sorted(left_out))
        warn_user(f"the prompt {path} omits {gaps}, so the model won't see it")
    return prompt


def packaged_prompt(name: str) -> Prompt:
    """As it comes with the package."""
    if name not in (names := prompt_names()):
        raise UnknownName(f"unknown prompt {name!r}; known: {', '.join(names)}")
    return parse_prompt(name, packaged_text(name), f"{name}.md")


def packaged_text(name: str) -> str:
    return (resources.files("chunkwise") / "prompts" / f"{name}.md").read_text(encoding="utf-8")


def own_prompt(name: str) -> Path | None:
    """The user's file that stands for a prompt of the package."""
    folder = own_folder()
    path = folder / f"{name}.md" if folder else None
    return path if path is not None and path.is_file() else None


def own_folder() -> Path | None:
    """Where the user's own prompts are; a folder that is not there would be a silent mistake."""
    named = os.environ.get(PROMPTS_VARIABLE)
    folder = Path(named).expanduser() if named else None
    if folder is not None and not folder.is_dir():
        raise ChunkwiseError(
            f"{PROMPTS_VARIABLE} is {folder}, which isn't a folder; create it: chunkwise list "
            f"prompts --copy {folder}"
        )
    return folder


def prompt_names() -> list[str]:
    """Of all prompts in the package."""
    folder = resources.files("chunkwise") / "prompts"
    return sorted(file.name[:-3] for file in folder.iterdir() if file.name.endswith(".md"))


def parse_prompt(name: str, text: str, where: str) -> Prompt:
    """`version: N`, a line ---, the system part, a line ---, the user part."""
    parts = [part.strip() for part in _LINE.split(text)]
    head = re.fullmatch(r"version:\s*(\S+)", parts[0])
    if len(parts) != 3 or head is None or not parts[2]:
        raise ChunkwiseError(
            f"the prompt {where} has {counted(len(parts), 'part')}; expected three, separated "
            f"by --- lines: `version: N`, system prompt, user prompt"
        )
    mark = blake2b("\n---\n".join(parts[1:]).encode(), digest_size=4).hexdigest()
    return Prompt(name, parts[1], parts[2], f"{name}@{head[1]}:{mark}")
