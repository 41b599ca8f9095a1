"""How fast texts are embedded, indexed and searched: tables on the terminal and a Markdown page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

from benchmarks import (  # noqa: E402
    borders,
    dense,
    embedding,
    index_bytes,
    machine,
    multiscale,
    postgres,
    quantisation,
    words,
)

PARTS: dict[str, tuple[str, Callable[[], str]]] = {
    "words": ("Words", words.run),
    "dense": ("Vectors, every one compared", dense.run),
    "multiscale": ("Several sizes at once", lambda: multiscale.measure().report()),
    "bytes": ("What an index weighs", index_bytes.run),
    "embedding": ("Embedding", lambda: embedding.page(embedding.measure())),
    "quantisation": ("What 8 bits cost", lambda: quantisation.page(quantisation.measure())),
    "borders": ("Cuts by meaning", borders.run),
    "postgres": ("PostgreSQL", postgres.run),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all where none is given")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "benchmarks" / "search.md")
    given = parser.parse_args()
    unknown = set(given.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown part {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}")
    told = []
    for name in given.parts or PARTS:
        title, measured = PARTS[name]
        print(f"measuring: {title}", file=sys.stderr)
        told += [f"## {title}\n", f"{measured().rstrip()}\n"]
    page = [
        "# Embedding and search speed\n",
        "Written by `make bench`.\n",
        machine.describe(),
        *told,
    ]
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text("\n".join(page), encoding="utf-8")
    print("\n".join(page))
    print(f"written to {given.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
