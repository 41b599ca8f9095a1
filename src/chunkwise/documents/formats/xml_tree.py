"""XML that is not trusted: parsed without entities, DTDs and network; what elements are called and say."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    return "nothing in it" if root is None else root


def _in_words(why: str) -> str:
    """What the parser says, without the names of its own switches."""
    if "Excessive depth" in why:
        return "its elements are nested deeper than 256"
    if "XML_PARSE_HUGE" in why:
        return "a text or a tag in it is longer than 10 million bytes"
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


def own_text(element: _Element) -> str:
    """All text in it: behind comments and in elements nobody knows, too, and entities as they are written."""
    if not len(element):
        return element.text or ""
    from lxml import etree

    parts = [element.text or ""]
    for inside in element.iterdescendants():
        if isinstance(inside.tag, str) or inside.tag is etree.Entity:
            parts.append(inside.text or "")
        parts.append(inside.tail or "")
    return "".join(parts)


def xml_words(element: _Element) -> str:
    """All text below an element on one line."""
    return " ".join("".join(element.itertext()).split())
