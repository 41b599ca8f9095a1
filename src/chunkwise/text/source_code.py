"""Source code: its syntax tree, in linear time or none where the parser gets lost; its classes and functions."""

from __future__ import annotations

import importlib
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chunkwise.text.blocks.sections import SectionTree

if TYPE_CHECKING:
    from tree_sitter import Language, LogType, Node, Parser, Point, Tree

_PIECE = 64
"""Bytes handed out at a time."""
_PERIOD = 16
"""Pieces of which one is read with the log on: it takes forty times as long."""
_LONGEST_SAMPLE = 32
"""Readings it takes at most: a parser that has seen all of the text may go on looking, and would be logged for good."""
_MOST_STRAIN = 128
"""Code in its own language comes to 12, most headers full of macros to 60, text that is no code to 128 in 8 kB."""
_HARD = 24
"""Strain of one sample behind which the next follows soon: headers full of macros come to 15, and what takes quadratic
time from the first line on to more."""
_SOON = 2
"""Pieces to the next sample then."""
_MOST_STEPS = 6000
"""Lines of the log in one sample: code comes to 2,100. More is a stack read through again for each token."""
_MOST_READINGS = 64
"""Of each piece: code comes to 4. More is the end of a comment or string looked for from every place again."""


_LARGEST = 16 << 20
"""Bytes: a tree takes up to 250 for each, of opening brackets alone, which would be 4 GB."""


def syntax_tree(source: bytes, grammar: Language) -> Tree | None:
    """The tree, or None where the text is too far from the grammar to be parsed in linear time, or too large."""
    if len(source) > _LARGEST:
        return None
    from tree_sitter import Parser

    parser = Parser(grammar)  # one each: another thread may parse while this one's log is read
    reader = _Reader(source, parser)
    tree = parser.parse(reader.read)
    del parser.logger  # each would keep the other for good
    return None if reader.lost else tree


class _Reader:
    """Hands out the text, and nothing more once the parser is lost."""

    def __init__(self, source: bytes, parser: Parser) -> None:
        self._source = source
        self._parser = parser
        # The binding never lets go of what it is handed: it is handed the same over and over.
        self._piece = bytearray(_PIECE)
        self._pieces = 0
        """How many were handed out for the first time."""
        self.readings = 0
        self._sample_ends = 0
        """How many readings there are when the log is turned off; 0: it is off."""
        self._next_sample = 1
        """Before which piece the log is turned on."""
        self._skipped = 0
        self._forked = 0
        self._steps = 0
        self._strain = 0.0
        self.lost = False

    def read(self, at: int, _point: Point | tuple[int, int]) -> bytes | bytearray:
        """The next bytes from a place on."""
        if self.lost:
            return b""
        self.readings += 1
        if at >= self._pieces * _PIECE:
            self._next(at // _PIECE + 1)
        elif self._sample_ends and self.readings > self._sample_ends:
            self._end_sample()
        if self.lost or self.readings > _MOST_READINGS * (self._pieces + 1):
            self.lost = True
            return b" " * _PIECE  # nothing at all must not be handed out amid a character
        result = self._source[at : at + _PIECE]
        if len(result) < _PIECE:
            return result
        self._piece[:] = result
        return self._piece

    def _next(self, pieces: int) -> None:
        self._pieces = pieces
        if self._sample_ends:
            self._end_sample()
        elif pieces >= self._next_sample:
            self._skipped = self._forked = self._steps = 0
            self._sample_ends = self.readings + _LONGEST_SAMPLE
            self._parser.logger = self._note

    def _end_sample(self) -> None:
        del self._parser.logger
        self._sample_ends = 0
        # A second reading of what may be read in two ways is common, of each token it is not.
        strain = self._skipped + max(self._forked - _PIECE // 2, 0)
        self._next_sample = self._pieces + (_SOON if strain >= _HARD else _PERIOD - 1)
        self._strain = self._strain + min(strain, _MOST_STRAIN / 4) if strain else self._strain / 2
        self.lost = self._strain >= _MOST_STRAIN or self._steps > _MOST_STEPS

    def _note(self, _kind: LogType, said: str) -> None:
        self._steps += 1
        if said.startswith("skip_token"):
            self._skipped += 1
        elif said.startswith("process version:") and said[16] != "0":
            self._forked += 1


_MODULES = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "java": ("tree_sitter_java", "language"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "csharp": ("tree_sitter_c_sharp", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "bash": ("tree_sitter_bash", "language"),
}


LANGUAGES = tuple(_MODULES)
"""The languages there are grammars for."""


@cache
def grammar_for(language: str) -> Language | None:
    """A grammar, or None where it is unknown or its wheel is not installed."""
    if language not in _MODULES:
        return None
    module, function = _MODULES[language]
    try:
        import tree_sitter

        grammar = importlib.import_module(module)
    except ImportError:
        return None
    return tree_sitter.Language(getattr(grammar, function)())


_DEFINITIONS = frozenset(
    """
    class_definition function_definition
    class_declaration abstract_class_declaration class interface_declaration enum_declaration internal_module module
    function_declaration generator_function_declaration method_definition function_signature
    record_declaration annotation_type_declaration method_declaration constructor_declaration
    type_spec
    struct_item enum_item union_item trait_item impl_item function_item mod_item macro_definition
    struct_specifier class_specifier enum_specifier union_specifier namespace_definition
    struct_declaration namespace_declaration local_function_statement property_declaration
    method singleton_method
    trait_declaration
    """.split()
)
"""Kinds of nodes that define something with a name, in all languages there are grammars for."""
_VALUES = frozenset(["variable_declarator", "public_field_definition", "field_definition"])
"""Define a function where their value is one: `const parse = (line) => { … }`."""
_FUNCTIONS = frozenset(["arrow_function", "function_expression", "function", "class"])
_WRAPPERS = frozenset(
    "decorated_definition export_statement template_declaration lexical_declaration variable_declaration"
    " type_declaration".split()
)
"""Stand around a definition and belong to it: decorators, `export`, `template <…>`."""
_DEEPEST_NODE = 64
_LONGEST_PATH = 8
_LONGEST_NAME = 200
_GENERIC = re.compile(r"<[^<>]*>")
_PARTS = re.compile(r"::|\\")
"""Part the names of a path: `Parser::parse`, `App\\Models`."""
_BEHIND = re.compile(r"[ \t;,)]*")
_WORD = re.compile(r"\w")


class Definition(NamedTuple):
    """A class, function or the like, with what is said above it."""

    start: int
    end: int
    path: tuple[str, ...]
    """The names around it, from the outermost, and its own."""


def definitions(tree: Tree, source: bytes) -> list[Definition]:
    """All that are defined under a name, in bytes of the source, outer ones before inner ones."""
    result: list[Definition] = []
    # Of each node to visit: itself, the names around it, where what belongs to it starts, how deep it lies.
    waiting: list[tuple[Node, tuple[str, ...], int, int]] = [(tree.root_node, (), -1, 0)]
    while waiting:
        node, path, start, depth = waiting.pop()
        names = _names(node, source) if node.is_named and len(path) < _LONGEST_PATH else ()
        if names:
            start = node.start_byte if start < 0 else start
            path = (*path, *names)[:_LONGEST_PATH]
            result.append(Definition(start, node.end_byte, path))
        # What lies on one row holds nothing that could be cut off from it.
        if node.start_point[0] < node.end_point[0] and depth < _DEEPEST_NODE:
            outer = start if node.type in _WRAPPERS and start >= 0 else -1
            waiting.extend(reversed(_children(node, path, outer, depth + 1)))
    return result


def _children(
    node: Node, path: tuple[str, ...], outer: int, depth: int
) -> list[tuple[Node, tuple[str, ...], int, int]]:
    """The nodes inside one, each with where the comments right above it start, or what wraps it."""
    children: list[tuple[Node, tuple[str, ...], int, int]] = []
    said, below = -1, -1
    for child in node.children:
        if "comment" in child.type and child.is_named:
            said = child.start_byte if said < 0 or child.start_point[0] > below else said
            below = child.end_point[0] + (child.end_point[1] > 0)
            continue
        above = said if said >= 0 and child.start_point[0] <= below else outer
        if above < 0 and child.type in _WRAPPERS:
            above = child.start_byte
        elif above < 0 and node.type in _WRAPPERS:
            above = node.start_byte
        children.append((child, path, above, depth))
        said = -1
    return children


def _names(node: Node, source: bytes) -> tuple[str, ...]:
    """What a node defines, with the name of what it belongs to where it says so itself; nothing: no definition."""
    kind = node.type
    if kind in _VALUES:
        value = node.child_by_field_name("value")
        return (
            _split(node.child_by_field_name("name"), source)
            if value and value.type in _FUNCTIONS
            else ()
        )
    if kind not in _DEFINITIONS:
        return ()
    if kind.endswith("_specifier") and node.child_by_field_name("body") is None:
        return ()  # a type that is only named: `struct node *next`
    if kind == "impl_item":
        return _split(node.child_by_field_name("type"), source)
    receiver = node.child_by_field_name("receiver")
    owner = _receiver(receiver, source) if receiver is not None else ()
    return (*owner, *_split(node.child_by_field_name("name") or _declared(node), source))


def _receiver(node: Node, source: bytes) -> tuple[str, ...]:
    """The type that a method of Go belongs to."""
    text = _text(node, source).strip("() \n")
    name = text.rsplit(None, 1)[-1].lstrip("*").partition("[")[0] if text else ""
    return (name,) if name else ()


def _text(node: Node, source: bytes) -> str:
    # Not `node.text`: a tree that was handed its text in pieces has none, and asking for it ends the process.
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _declared(node: Node) -> Node | None:
    """The name inside the declarator of a function in C and C++."""
    declarator = node.child_by_field_name("declarator")
    for _ in range(_LONGEST_PATH):
        if declarator is None:
            return None
        inner = declarator.child_by_field_name("declarator")
        if inner is None and declarator.type == "reference_declarator":
            inner = declarator.named_children[0] if declarator.named_children else None
        if inner is None:
            return declarator
        declarator = inner
    return None


def _split(node: Node | None, source: bytes) -> tuple[str, ...]:
    if node is None or node.end_byte - node.start_byte > _LONGEST_NAME:
        return ()
    name = _text(node, source)
    for _ in range(_LONGEST_PATH):
        if "<" not in name:
            break
        name = _GENERIC.sub("", name)
    return tuple(" ".join(part.split()) for part in _PARTS.split(name) if part.strip())


class CodeSections(SectionTree):
    """Definitions as sections: one starts where a class or function does, another where it ends."""

    def __init__(self, text: str, tree: Tree | None, source: bytes) -> None:
        result = definitions(tree, source) if tree is not None else []
        self._text = text
        starts, paths = _tiled(text, _in_characters(text, source, result))
        self.start = np.array(starts, dtype=np.int64)
        self.heading_end = self.start
        self.end = np.append(self.start[1:], len(text))
        self.level = np.zeros(len(starts), dtype=np.int64)
        # A closing bracket between two functions is in neither, and says nothing.
        bounds = zip(starts, self.end.tolist(), strict=True)
        self.bare = np.array([not _WORD.search(text, *bound) for bound in bounds], dtype=np.bool_)
        self.paths = paths


def _in_characters(text: str, source: bytes, found: list[Definition]) -> list[Definition]:
    """The same in characters, with the indentation before them and the marks behind them."""
    if not text.isascii():
        places = np.unique([place for definition in found for place in definition[:2]] or [0])
        lead = (np.frombuffer(source, dtype=np.uint8) & 0xC0) != 0x80
        before = np.concatenate(([0], np.cumsum(lead)))
        at = dict(zip(places.tolist(), before[places].tolist(), strict=True))
        found = [
            definition._replace(start=at[definition.start], end=at[definition.end])
            for definition in found
        ]
    return [
        definition._replace(
            start=_line_start(text, definition.start), end=_end_of_marks(text, definition.end)
        )
        for definition in found
    ]


def _line_start(text: str, start: int) -> int:
    line = text.rfind("\n", max(start - _LONGEST_NAME, 0), start) + 1
    return line if line and not text[line:start].strip() else start


def _end_of_marks(text: str, end: int) -> int:
    match = _BEHIND.match(text, end, end + _LONGEST_NAME)
    return match.end() if match else end


def _tiled(text: str, found: list[Definition]) -> tuple[list[int], list[tuple[str, ...]]]:
    """Starts of stretches and the path of each, from the nested definitions."""
    starts, paths = [0], [()]  # type: list[int], list[tuple[str, ...]]
    open_: list[Definition] = []

    def turn(at: int, path: tuple[str, ...]) -> None:
        if at >= len(text):
            return
        if starts[-1] >= at:
            paths[-1] = path
        else:
            starts.append(at)
            paths.append(path)

    def close(until: int) -> None:
        while open_ and open_[-1].end <= until:
            ended = open_.pop()
            turn(max(ended.end, starts[-1]), open_[-1].path if open_ else ())

    for definition in sorted(found, key=lambda definition: (definition.start, -definition.end)):
        close(definition.start)
        turn(max(definition.start, starts[-1]), definition.path)
        open_.append(definition)
    close(len(text))
    return starts, paths
