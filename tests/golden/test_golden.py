"""The numbers of every verb are those of the golden set."""

from __future__ import annotations

from itertools import islice

import pytest
from normalize import EXPECTED, differences, dump
from snapshots import SNAPSHOTS

SHOWN = 8


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_results_are_those_of_the_golden_set(name: str) -> None:
    snapshot = SNAPSHOTS[name]
    expected = (EXPECTED / f"{name}.jsonl").read_text("utf-8")
    found = dump(snapshot.layout, snapshot.rows())
    if found == expected:
        return
    changes = differences(snapshot.layout, expected, found)
    if shown := list(islice(changes, SHOWN)):
        more = sum(1 for _ in changes)
        pytest.fail(
            f"{name} differs from tests/golden/expected/{name}.jsonl:\n  "
            + "\n  ".join(shown)
            + (f"\n  and {more} more rows" if more else "")
            + f"\nIf you mean it: python tests/golden/make.py {name}, and say why in the commit",
            pytrace=False,
        )
