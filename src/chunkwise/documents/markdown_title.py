"""The title a Markdown file gives itself: in its front matter, or by its first H1."""

from __future__ import annotations

import re

_CHARACTERS = 20_000
"""How far down a heading may stand and still be the title of the whole."""
_LONGEST = 300

_FIELD = re.compile(r"title[ \t]*[:=][ \t]*(.*)", re.IGNORECASE)
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^']|'')*)'")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")


def markdown_title(text: str) -> str:
    """Empty when there is none."""
    if len(text) > _CHARACTERS:
        text = text[:_CHARACTERS]
        text = text[: text.rfind("\n") + 1] or text  # the last line may be cut
    text = text.removeprefix("\ufeff")
    title, body = _front_matter(text)
    return title or _first_heading(text, body)


def _front_matter(text: str) -> tuple[str, int]:
    """The title it gives, and where it ends."""
    lines = text.splitlines(keepends=True)
    opening = lines[0].rstrip() if lines else ""
    if opening not in ("---", "+++"):
        return "", 0
    stripped = [line.rstrip() for line in lines]
    last = next((n for n, line in enumerate(stripped) if n and line in (opening, "...")), 0)
    body = sum(map(len, lines[: last + 1])) if last else 0
    for line in stripped[1:last]:
        if (found := _FIELD.fullmatch(line)) and (title := _scalar(found[1])):
            return title[:_LONGEST], body
    return "", body


def _scalar(value: str) -> str:
    """A plain or quoted YAML value; other kinds are no title."""
    value = value.strip()
    if quoted := _QUOTED.match(value):
        if quoted[1] is not None:
            return re.sub(r"\\(.)", r"\1", quoted[1]).strip()
        return quoted[2].replace("''", "'").strip()
    if value[:1] in tuple("|>[{&*!\"'"):
        return ""
    return _COMMENT.sub("", value).strip()


def _first_heading(text: str, body: int) -> str:
    # Imported here: they bring NumPy, which a run over other formats need not wait for.
    from chunkwise.text.characters import Characters
    from chunkwise.text.lines import Lines
    from chunkwise.text.markdown_blocks import markdown_blocks
    from chunkwise.text.sections import heading_title

    blocks = markdown_blocks(Lines(Characters(text)))
    for index in blocks.of("heading").tolist():
        block = blocks[index]
        if block.level == 1 and block.start >= body:
            title = heading_title(text[block.start : block.end])
            if title:
                return title
    return ""
