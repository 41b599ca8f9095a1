"""Manual pages (`ls.1` … `.9`, man and mdoc macros), through pandoc: sections, tagged items, examples, tables."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from chunkwise.base.errors import UnreadableDocument
from chunkwise.base.limits import LimitExceeded, limits_of
from chunkwise.core import Document
from chunkwise.documents.formats.html.loader import html_text
from chunkwise.documents.loader import LoadOptions, OnUnreadable, text_in
from chunkwise.documents.source import Source

_SUFFIX = re.compile(r"\.[1-9][a-z]{0,4}\Z", re.IGNORECASE)
_SIGN = re.compile(rb"^[.'](?:TH|SH|Dd|Sh|\\\"|so)(?:\s|$)", re.MULTILINE)
_MDOC = re.compile(r"^\.(?:Dd|Sh)\s", re.MULTILINE)
_TITLE = re.compile(r'^\.(?:TH|Dt)[ \t]+"?([^\s"]+)"?(?:[ \t]+"?([^\s"]+)"?)?', re.MULTILINE)
_TERM_END = re.compile(r"</dt>\s*<dd>(?:\s*<p>)?")
_HEAP_OVERFLOW = 251
"""Exit status of a program of pandoc's language that needs more memory than it may take."""


class ManLoader:
    """By a suffix of one digit and the macros of a manual page."""

    suffixes: tuple[str, ...] = tuple(f".{section}" for section in range(1, 10))
    stream = False

    def accepts(self, name: str, head: bytes) -> bool:
        return _SUFFIX.search(name) is not None and _SIGN.search(head) is not None

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        text = text_in(source, options).removeprefix("\ufeff")
        html = _run_pandoc(text, source.origin, options.limits)
        page = html_text(_lists_for_definitions(html), keep_boilerplate=True)
        head = _TITLE.search(text)
        name, section = head.groups() if head else ("", None)
        title = f"{name}({section})" if section else name
        yield page.layout.document(source, "man", title=title, links=tuple(page.links))


def find_pandoc() -> str | None:
    """Find the pandoc of the extra, else the one on the path."""
    package = importlib.util.find_spec("pypandoc")
    for folder in (package and package.submodule_search_locations) or ():
        if path := shutil.which("pandoc", path=str(Path(folder, "files"))):
            return path
    return shutil.which("pandoc")


def _run_pandoc(text: str, origin: str, given_limits: str | None) -> str:
    """Convert a manual page to HTML; pandoc reads no other file, and keeps to the limits."""
    pandoc = find_pandoc()
    if pandoc is None:
        raise UnreadableDocument(
            origin, "manual pages need pandoc: install it, or pip install 'chunkwise[pandoc]'"
        )
    limits = limits_of(given_limits)
    heap = [f"-M{limits.memory}"] if limits.memory else []
    macros = "mdoc" if _MDOC.search(text) else "man"
    command = [pandoc, "+RTS", *heap, "-RTS", "--sandbox", f"--from={macros}", "--to=html", "--wrap=none"]  # fmt: skip
    try:
        done = subprocess.run(
            command, input=text.encode(), capture_output=True, timeout=limits.seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise UnreadableDocument(origin, str(LimitExceeded.time(limits))) from error
    if done.returncode == _HEAP_OVERFLOW:
        raise UnreadableDocument(origin, str(LimitExceeded.memory(limits)))
    if done.returncode:
        why = " ".join(done.stderr.decode("utf-8", "replace").split())[:200]
        raise UnreadableDocument(origin, f"pandoc cannot read it: {why}")
    return done.stdout.decode("utf-8")


def _lists_for_definitions(html: str) -> str:
    """Make each term with its definition an item of a list."""
    html = _TERM_END.sub("<br />", html).replace("</dd>", "</li>").replace("<dt>", "<li>")
    return html.replace("<dl>", "<ul>").replace("</dl>", "</ul>")
