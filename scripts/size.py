"""Print the size of each package of the product: files, code lines and tokens.

Code lines leave out blank lines, comments and docstrings; tokens leave out the same, so that joining lines saves none.
"""

from __future__ import annotations

import ast
import tokenize
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "chunkwise"
IGNORED = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def find_docstrings(tree: ast.AST) -> set[tuple[int, int]]:
    """Find where the docstrings of a module start: line and column."""
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        (node.body[0].lineno, node.body[0].col_offset)
        for node in ast.walk(tree)
        if isinstance(node, owners) and ast.get_docstring(node, clean=False) is not None
    }


def measure(path: Path) -> tuple[int, int]:
    """Count the code lines and tokens of a file."""
    docstrings = find_docstrings(ast.parse(path.read_bytes()))
    lines: set[int] = set()
    tokens = 0
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type in IGNORED or token.start in docstrings:
                continue
            lines.update(range(token.start[0], token.end[0] + 1))
            tokens += 1
    return len(lines), tokens


def main() -> None:
    """Print one row per package and the total."""
    rows: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for path in SOURCE.rglob("*.py"):
        lines, tokens = measure(path)
        package = path.relative_to(SOURCE).parts[0]
        for name in (package, "total"):
            rows[name] = [a + b for a, b in zip(rows[name], (1, lines, tokens), strict=True)]
    print(f"{'package':<24}{'files':>8}{'lines':>10}{'tokens':>10}")
    for name, counts in sorted(rows.items(), key=lambda row: (row[0] == "total", -row[1][1])):
        print(f"{name:<24}{counts[0]:>8,}{counts[1]:>10,}{counts[2]:>10,}")


if __name__ == "__main__":
    main()
