"""How far a figure could rise, where hits are not what a ranking of chunks can be."""

import json
from pathlib import Path

import chunkwise
from chunkwise.core import Document, Query, Reference

TEXT = "Leave is asked for in writing. Lamps are lit at dusk. Fish is salted twice."


def test_hits_that_name_a_chunk_twice_have_no_ceiling(tmp_path: Path) -> None:
    asked = Query("q", "When are the lamps lit?", (Reference("rules", 31, 52),))
    found = {"query_id": "q", "doc_id": "rules", "start": 31, "end": 53}
    rows = {
        "hits.jsonl": [{**found, "rank": rank} for rank in (1, 2, 3)],
        "chunks.jsonl": [{"doc_id": "rules", "start": s, "end": e} for s, e in ((0, 30), (31, 53), (54, 75))],
    }  # fmt: skip
    for name, each in rows.items():
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in each))
    results = chunkwise.evaluate(
        [Document("rules", TEXT)],
        [asked],
        hits=tmp_path / "hits.jsonl",
        chunks=tmp_path / "chunks.jsonl",
        metrics="retrieval_precision.spans",
    )
    assert results.summary["retrieval_precision.spans"].mean == 1.0
    assert "reachable" not in results.data
