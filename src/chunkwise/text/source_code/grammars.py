"""Grammars of programming languages, those that are installed."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language


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
