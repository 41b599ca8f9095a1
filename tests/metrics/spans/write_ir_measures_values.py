"""Writes ir_measures_values.json: what `ir_measures` says about random rankings, by any provider that has all five.

    python tests/metrics/spans/write_ir_measures_values.py ranx

Needs ir_measures with that provider (pytrec_eval or ranx), and chunkwise; not part of the tests.
"""  # fmt: skip

from __future__ import annotations

import json
import random
import sys
from importlib.metadata import version
from pathlib import Path

import ir_measures
from ir_measures.providers import registry

from metrics.spans.judgments import Judged, theirs

CUTS = (1, 5, 20)
PACKAGES = {"ranx": "ranx", "pytrec_eval": "pytrec-eval-terrier"}


def main() -> None:
    name = sys.argv[1]
    if name == "ranx":
        import pandas

        pandas.options.future.infer_string = False  # it knows no other strings than objects
    provider = registry[name]
    rng = random.Random(20240229)
    questions = [
        Judged([rng.random() < chance for _ in range(rng.randint(1, 30))], rng.choice((0, 0, 1, 9)))
        for chance in (0.0, 0.05, 0.2, 0.5, 1.0)
        for _ in range(12)
    ]
    values = {}
    for k in CUTS:
        for own in ("P", "R", "AP", "nDCG"):
            measure = getattr(ir_measures, own) @ k
            values[f"{own}@{k}"] = theirs(provider, measure, questions, 10**6)
        # Not every provider cuts RR: the ranking is cut instead.
        values[f"RR@{k}"] = theirs(provider, ir_measures.RR, questions, k)
    used = {package: version(package) for package in ("ir_measures", PACKAGES[name])}
    told = {"made_with": used, "questions": questions, "values": values}
    path = Path(__file__).with_name("ir_measures_values.json")
    path.write_text(json.dumps(told, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
