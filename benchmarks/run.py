"""How fast texts are chunked, beside other libraries; hostile texts, start, memory."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # run as a file, not as a module
    sys.path.insert(0, str(ROOT))

from benchmarks import conformance, corpora, hostile, memory, speed, startup  # noqa: E402
from benchmarks.page import Parts, write_page  # noqa: E402


def parts(quick: bool, peers: bool) -> Parts:
    """By the name on the command line."""
    size = corpora.MEGABYTE if quick else 10 * corpora.MEGABYTE
    return {
        "speed": ("Speed", lambda: speed.run(200_000 if quick else 800_000, 2 if quick else 5)),
        "hostile": (
            "Hostile inputs",
            lambda: hostile.run(size, names=hostile.ON_THE_PAGE, peers=peers),
        ),
        "conformance": ("Conformance", conformance.run),
        "startup": ("Startup", lambda: startup.run(3 if quick else 10)),
        "memory": (
            "Memory",
            lambda: "\n".join([
                memory.run((5, 20) if quick else memory.SIZES),
                memory.one_file((4,) if quick else memory.FILES),
            ]),
        ),
    }  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument(
        "--quick", action="store_true", help="small texts, two rounds: a try, not a result"
    )
    options.add_argument("--peers", action="store_true", help="hostile inputs for the peers, too")
    given, _ = options.parse_known_args()
    write_page(
        "Chunking speed", "chunking.md", parts(given.quick, given.peers), __doc__, options
    )  # fmt: skip


if __name__ == "__main__":
    main()
