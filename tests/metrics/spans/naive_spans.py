"""The measures written down a second time, as slowly as their definitions read: sets of characters, one question."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2, nan
from typing import NamedTuple

from chunkwise.core import Query, Reference

Characters = set[tuple[str, int]]


class Place(NamedTuple):
    """A hit or a chunk."""

    doc_id: str
    start: int
    end: int
    tokens: int = 0
    further: tuple[tuple[int, int], ...] = ()
    """The other places of a summary, behind the first."""

    @property
    def parts(self) -> list[Place]:
        """Its places one by one; those of a summary have a token a character."""
        if not self.further:
            return [self]
        spans = [(self.start, self.end), *self.further]
        return [Place(self.doc_id, start, end, end - start) for start, end in spans]

    @property
    def where(self) -> tuple[object, ...]:
        """What makes it the very same."""
        return (self.doc_id, self.start, self.end, self.further)


def characters(*places: Place | tuple[str, int, int]) -> Characters:
    found: Characters = set()
    for place in places:
        parts = place.parts if isinstance(place, Place) else [place]
        found |= {(part[0], at) for part in parts for at in range(part[1], part[2])}
    return found


def share(covered: Characters, place: tuple[str, int, int]) -> float:
    text = characters(place)
    return len(text & covered) / len(text) if text else 0.0


def best_place(reference: Reference, covered: Characters) -> tuple[str, int, int]:
    return max(reference.places, key=lambda place: share(covered, place))  # the first of equals


def relevant(query: Query, place: Place, threshold: float = 0.5) -> bool:
    text = characters(place)
    for reference in query.references:
        for gold in reference.places:
            wanted = characters(gold)
            if text & wanted and (share(text, gold) >= threshold or text <= wanted):
                return True
    return False


def cut_at(hits: Sequence[Place], budget: int, token_starts: dict[str, list[int]]) -> list[Place]:
    taken: list[Place] = []
    for hit in [part for whole in hits for part in whole.parts]:
        if hit.tokens <= budget:
            taken.append(hit)
            budget -= hit.tokens
            continue
        if budget > 0:
            starts = token_starts[hit.doc_id]
            inside = max([n for n, start in enumerate(starts) if start <= hit.start], default=0)
            if inside + budget < len(starts):
                hit = hit._replace(end=min(hit.end, starts[inside + budget]))
            if hit.end > hit.start:
                taken.append(hit)
        break
    return taken


def spans(query: Query, hits: Sequence[Place]) -> dict[str, float]:
    """recall, precision, density, iou, context_recall and Chroma's three."""
    retrieved = characters(*hits)
    places = [best_place(reference, retrieved) for reference in query.references]
    gold = characters(*places)
    both = len(retrieved & gold)
    # Ours: a reference counts by its own characters, those of earlier ones left out, whichever place is covered.
    seen: Characters = set()
    length = found = 0.0
    for reference in sorted(query.references, key=lambda r: (r.doc_id, r.start)):
        own = characters(reference.places[0]) - seen
        seen |= own
        best = max((share(retrieved, place) for place in reference.alternatives), default=0.0)
        length += len(own)
        found += max(len(own & retrieved), len(own) * best)
    useful = len(retrieved & characters(*(p for r in query.references for p in r.places)))
    paid = sum(part.end - part.start for hit in hits for part in hit.parts)
    summed = sum(place[2] - place[1] for place in places)
    missed = sum(len(characters(place) - retrieved) for place in places)
    covered = [
        any(share(retrieved, place) >= 0.95 for place in reference.places)
        for reference in query.references
    ]
    found_whole = [
        any(share(retrieved, place) >= 0.5 for place in reference.places)
        for reference in query.references
    ]
    return {
        "all_found": float(all(found_whole)),
        "first_hop": float(found_whole[0]) if found_whole else 0.0,
        "last_hop": float(found_whole[-1]) if found_whole else 0.0,
        "recall": over(found, length),
        "precision": over(useful, len(retrieved)),
        "density": over(useful, paid),
        "iou": over(useful, len(retrieved) + length - found),
        "context_recall": over(sum(covered), len(covered)),
        "failure": 1 - over(sum(covered), len(covered)),
        "chroma.recall": over(both, summed),
        "chroma.precision": over(both, paid),
        "chroma.iou": over(both, paid + missed),
    }


def rankings(
    query: Query, hits: Sequence[Place], chunks: Sequence[Place], k: int
) -> dict[str, float]:
    """Measures over relevant and irrelevant hits; one that was there before is not relevant again."""
    judged = [relevant(query, hit) for hit in hits[:k]]
    before = [[h.where for h in hits[:n]] for n in range(len(judged))]
    fresh = [judged[n] and hits[n].where not in before[n] for n in range(len(judged))]
    ranks = [n + 1 for n, yes in enumerate(fresh) if yes]
    return {
        "context_precision": over(sum(judged), len(judged)),
        "p": sum(fresh) / k,
        "hit": float(any(fresh)),
        "mrr": 1 / ranks[0] if ranks else 0.0,
        **against_the_ideal(query, hits, chunks, k),
    }


def against_the_ideal(
    query: Query, hits: Sequence[Place], every: Sequence[Place], k: int
) -> dict[str, float]:
    """Over chunks alone: a summary is the chunks it stands for, one behind the other, each at a rank of its own."""
    chunks = [chunk for chunk in every if not chunk.further]
    known = {chunk.where for chunk in chunks}
    row: list[Place | None] = []
    for hit in hits:
        if hit.further:
            held = [
                chunk
                for chunk in sorted(chunks, key=lambda chunk: (chunk.start, chunk.end))
                if any(
                    chunk.doc_id == part.doc_id
                    and part.start <= chunk.start
                    and chunk.end <= part.end
                    for part in hit.parts
                )
            ]
            row += held or [None]
        else:
            row.append(hit if hit.where in known else None)
    row = row[:k]
    if None in row:
        return dict.fromkeys(("ndcg", "map", "chunk_recall"), nan)
    found = [chunk for chunk in row if chunk is not None]
    ranks = [
        n + 1
        for n, chunk in enumerate(found)
        if relevant(query, chunk) and chunk.where not in [c.where for c in found[:n]]
    ]
    total = sum(relevant(query, chunk) for chunk in chunks)
    ideal = sum(1 / log2(n + 2) for n in range(min(k, total)))
    return {
        "chunk_recall": over(len(ranks), total),
        "map": over(sum((n + 1) / rank for n, rank in enumerate(ranks)), total),
        "ndcg": over(sum(1 / log2(rank + 1) for rank in ranks), ideal),
    }


def omega(query: Query, every: Sequence[Place]) -> float:
    chunks = [chunk for chunk in every if not chunk.further]
    everything = characters(*chunks)
    places = [best_place(reference, everything) for reference in query.references]
    gold = characters(*places)
    touching = [
        chunk
        for chunk in chunks
        if any(chunk[0] == p[0] and chunk[1] <= p[2] and p[1] <= chunk[2] for p in places)
    ]
    return over(len(gold & everything), len(characters(*touching) | gold))


def split(reference: Reference, chunks: Sequence[Place]) -> bool:
    return not any(
        chunk[0] == place[0] and chunk[1] <= place[1] and place[2] <= chunk[2]
        for place in reference.places
        for chunk in chunks
        if not chunk.further
    )


def over(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
