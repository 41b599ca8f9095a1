"""XML that is not trusted: parsed without entities, DTDs and network; and documents that are a zip of it."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.archive import TooLargeError, UnpackBudget, open_container, read_zip_member
from chunkwise.documents.loader import LoadOptions, OnUnreadable, suffix_of
from chunkwise.documents.source import Source

if TYPE_CHECKING:
    from lxml.etree import _Element


def xml_root(data: bytes) -> _Element | str:
    """The root element, or in a few words why this is no XML; the parser bounds depth and what entities grow to."""
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )  # fmt: skip
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        return _in_words(" ".join(str(error.msg or "not well-formed").split()))
    except ValueError as error:  # an encoding that is none
        return " ".join(str(error).split())[:200]
    return "empty" if root is None else root


def _in_words(why: str) -> str:
    """What the parser says, without the names of its own switches."""
    if "Excessive depth" in why:
        return "its elements are nested deeper than 256"
    if "XML_PARSE_HUGE" in why:
        return "it has a text or tag of more than 10 million bytes"
    return why[:200]


def local_name(element: _Element) -> str:
    """Without its namespace; empty for what is no element: an entity nobody resolves."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def own_attribute(element: _Element, name: str) -> str:
    """The attribute of this name, in whatever namespace; empty where there is none."""
    for key, value in element.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return ""


def relation_id(element: _Element) -> str:
    """The id of the part an element of an Office file stands for; an `id` without a namespace is a number."""
    return next((str(value) for key, value in element.items() if str(key).endswith("}id")), "")


def xml_text(element: _Element) -> str:
    """All text below an element."""
    return "".join(element.itertext())


def xml_words(element: _Element) -> str:
    """The same on one line."""
    return " ".join(xml_text(element).split())


_DAMAGE = (ValueError, EOFError, NotImplementedError, zlib.error, zipfile.BadZipFile, OSError)


class PartLink(NamedTuple):
    """A relation from one part to another."""

    kind: str
    """The last word of its type: `slide`, `notesSlide`."""
    path: str


class ZipLoader:
    """What loaders share whose files are a zip of XML: one is told by its suffix or a sign in its first bytes."""

    suffixes: tuple[str, ...] = ()
    stream = False
    signs: tuple[bytes, ...] = ()
    what = ""
    """How messages call the format."""

    def accepts(self, name: str, head: bytes) -> bool:
        if not head.startswith(b"PK\x03\x04"):
            return False
        return suffix_of(name) in self.suffixes or any(sign in head for sign in self.signs)

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        parts = ZipParts(source.read(options.max_bytes), source.origin, self.what)
        yield self.read(parts, source, on_unreadable)

    def read(self, parts: ZipParts, source: Source, on_unreadable: OnUnreadable) -> Document:
        """The document in the parts."""
        raise NotImplementedError


class ZipParts:
    """`what` is how messages call the format."""

    def __init__(self, data: bytes, origin: str, what: str) -> None:
        self._archive = open_container(data, origin)
        self._budget = UnpackBudget(len(data))
        self._origin = origin
        self._what = what
        self._names = frozenset(self._archive.namelist())

    def __contains__(self, path: str) -> bool:
        return path in self._names

    def read(self, path: str) -> bytes:
        """The bytes of a part; one that is missing or broken makes the document unreadable."""
        try:
            return read_zip_member(self._archive, self._archive.getinfo(path), self._budget)
        except KeyError as error:
            raise self.damaged(f"no {path!r} in it") from error
        except TooLargeError as error:
            raise UnreadableDocument(self._origin, str(error)) from error
        except _DAMAGE as error:
            raise self.damaged(f"{path!r}: {error}") from error

    def xml(self, path: str) -> _Element:
        root = xml_root(self.read(path))
        if isinstance(root, str):
            raise self.damaged(f"{path!r} is not XML ({root})")
        return root

    def elements(self, path: str, name: str) -> Iterator[_Element]:
        """Elements of this name one after the other, for parts too large to be a tree; each is gone afterwards."""
        from lxml import etree

        events = etree.iterparse(
            BytesIO(self.read(path)), events=("end",), tag=f"{{*}}{name}", resolve_entities=False,
            no_network=True, remove_comments=True, remove_pis=True,
        )  # fmt: skip
        try:
            for _, element in events:
                yield element
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
        except etree.XMLSyntaxError as error:
            raise self.damaged(f"{path!r} is not XML ({error.msg})") from error

    def links(self, path: str) -> dict[str, PartLink]:
        """The relations of a part of an Office file, by their ids."""
        folder, name = posixpath.split(path)
        where = posixpath.join(folder, "_rels", f"{name}.rels")
        result: dict[str, PartLink] = {}
        if where not in self:
            return result
        for element in self.xml(where):
            target = element.get("Target") or ""
            if element.get("TargetMode") == "External" or not target:
                continue
            place = target.lstrip("/") if target.startswith("/") else posixpath.join(folder, target)
            kind = (element.get("Type") or "").rpartition("/")[2]
            result[element.get("Id") or ""] = PartLink(kind, posixpath.normpath(place))
        return result

    def title(self, path: str) -> str:
        """`dc:title` of the part with the properties; empty where there is none."""
        if path not in self:
            return ""
        titles = [each for each in self.xml(path).iter("{*}title") if local_name(each) == "title"]
        return xml_words(titles[0]) if titles else ""

    def damaged(self, why: str) -> UnreadableDocument:
        return UnreadableDocument(self._origin, f"damaged {self._what}: {' '.join(why.split())}")
