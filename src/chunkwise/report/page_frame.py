"""What pages of HTML have in common: one file that needs nothing else, its parts with links to them, a policy."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from importlib.resources import files
from typing import NamedTuple

from chunkwise.report.page_text import attribute, section


class PagePart(NamedTuple):
    """A section; all but its id are HTML. Without a body it is left out, with its link."""

    id: str
    link: str
    title: str
    body: str
    lead: str = ""


def framed(
    kind: str, title: str, head: str, parts: Iterable[PagePart], *, style: str, script: str
) -> str:
    """The page as a string; nothing is fetched, and it can be read without its script."""
    # Only these two texts may run or style anything: whatever a question or a document holds stays text.
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    shown = [part for part in parts if part.body]
    links = "".join(f'<a href="#{part.id}">{part.link}</a>' for part in shown)
    bodies = "".join(section(part.id, part.title, part.body, part.lead) for part in shown)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="generator" content="chunkwise">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>{attribute(title, 120)} – {kind}</title><style>{style}</style></head>"
        f'<body><main>{head}<nav aria-label="Parts of this page">{links}</nav>'
        f"{bodies}<footer>Made by chunkwise.</footer></main>"
        f"<script>{script}</script></body></html>\n"
    )


def asset(name: str) -> str:
    """A style or a script that comes with the package."""
    return (files("chunkwise.report") / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
