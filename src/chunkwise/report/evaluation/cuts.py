"""Where the cuts hurt: how many of each kind, and a few of them with the text on both sides."""

from __future__ import annotations

from chunkwise.base.wording import counted, percent
from chunkwise.evaluation.results import CutIssue, Cuts
from chunkwise.metrics.cuts.boundary_issues import KINDS
from chunkwise.report.evaluation.marks import small_bar
from chunkwise.report.page_text import attribute, words
from chunkwise.report.plain_text import one_line

_RETURN = " ↵ "
"""Line ends are what many cuts are about: they are seen."""


def cuts_lead(cuts: Cuts) -> str:
    """How many chunks are concerned."""
    share = f" ({percent(cuts.with_issues / cuts.chunks)})" if cuts.chunks else ""
    verb = "has" if cuts.with_issues == 1 else "have"
    return (
        f"{cuts.with_issues:,} of {counted(cuts.chunks, 'chunk')}{share} {verb} at least one issue."
        " Open a kind to see some of its cuts."
    )


def cut_kinds(cuts: Cuts) -> str:
    """The most frequent kind first; kinds that do not occur are named at the end."""
    found = sorted(
        ((kind, count) for kind, count in cuts.counts.items() if count),
        key=lambda item: (-item[1], item[0]),
    )
    absent = [named(kind) for kind, count in cuts.counts.items() if not count]
    if not found:
        return '<div class="card"><p class="none">No cut hurts: there is not one issue of any kind.</p></div>'
    most = found[0][1]
    kinds = "".join(
        _kind(
            kind, count, most, [each for each in cuts.examples if each.kind == kind], opened=not at
        )
        for at, (kind, count) in enumerate(found)
    )
    none = f'<p class="hint">None of these: {attribute(", ".join(absent))}.</p>' if absent else ""
    return f'<div class="card kinds">{kinds}{none}</div>'


def named(kind: str) -> str:
    """ "mid sentence end": a kind in plain words."""
    return kind.replace("_", " ")


def _kind(kind: str, count: int, most: int, examples: list[CutIssue], *, opened: bool) -> str:
    head = (
        f'<span class="kind">{attribute(named(kind), 60)}</span>{small_bar(count / most)}'
        f'<span class="count">{count:,}</span><small>{attribute(KINDS.get(kind, ""))}</small>'
    )
    if not examples:
        return f'<div class="kindrow">{head}</div>'
    shown = "".join(_example(each) for each in examples)
    return (
        f'<details{" open" if opened else ""}><summary class="kindrow">{head}</summary>'
        f'<ul class="cuts">{shown}</ul></details>'
    )


def _example(cut: CutIssue) -> str:
    before, after = (_RETURN.join(text.splitlines()) for text in (cut.before, cut.after))
    before += _RETURN if cut.before.endswith("\n") else ""
    opening = "…" if cut.offset > len(cut.before) else ""
    return (
        f'<li><p class="around">{opening}<bdi>{attribute(before)}</bdi>'
        f'<span class="cut" role="img" aria-label="cut here" title="The cut"></span>'
        f"<bdi>{attribute(after)}</bdi>{'…' if one_line(after).strip() else ''}</p>"
        f'<p class="where">{words(cut.doc_id, 120)} · chunk {cut.chunk + 1:,} · offset {cut.offset:,}</p></li>'
    )
