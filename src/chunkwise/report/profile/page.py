"""A profile as one HTML page that needs nothing else: advice first, then the figures it rests on."""

from __future__ import annotations

from html import escape

from chunkwise.base.wording import listed, percent, short_number
from chunkwise.profiling.results import DocumentGroup, Profile, ProfileAdvice
from chunkwise.report.charts.drawn import without_charts
from chunkwise.report.page_frame import asset
from chunkwise.report.plain_text import one_line
from chunkwise.report.profile.charts import bars, histogram
from chunkwise.report.profile.tables import groups_table, oversized, repeats, sizes_table


def profile_page(profile: Profile, title: str) -> str:
    """The page, self-contained: styles and charts inside, nothing fetched, no scripts."""
    total = profile.total
    style = asset("profile.css") + asset("charts.css")
    name = escape(one_line(title, 200)) or "A corpus"
    body = "".join(
        (
            f"<h1>{name}</h1>{_lead(profile)}{without_charts()}",
            f"<h2>Where to start</h2>{_advice(profile.advice)}",
            f'<h2>At a glance</h2><div class="tiles">{_tiles(total)}</div>',
            f"<h2>How large are the sections?</h2>{_sections(total)}",
            f"<h2>How long are the documents?</h2>{_documents(total)}",
            f"<h2>Folders and formats</h2>{groups_table(profile)}",
            f"<h2>Sentences, paragraphs, tables, code</h2>{sizes_table(total)}",
            f"<h2>Oversized sentences</h2>{oversized(total)}",
            f"<h2>Repeated passages</h2>{repeats(total)}",
        )
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="generator" content="chunkwise">'
        # Whatever a document's text should manage to become, it may load and run nothing.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{name} – corpus profile</title><style>{style}</style></head>"
        f"<body><main>{body}<footer>Made by chunkwise profile. Sizes in tokens of"
        f" {escape(one_line(profile.tokenizer))}.</footer></main></body></html>\n"
    )


def _lead(profile: Profile) -> str:
    total = profile.total
    languages = listed(
        [f"{escape(one_line(name))} {count:,}" for name, count in total.spoken.items()]
    )
    told = f" Documents by language: {languages}." if languages else ""
    return f'<p class="lead">What the corpus looks like before anything is chosen.{told}</p>'


def _advice(advice: tuple[ProfileAdvice, ...]) -> str:
    starts = [item for item in advice if item.kind == "start"]
    notes = "".join(
        f"<li>{escape(one_line(item.why))}</li>" for item in advice if item.kind == "note"
    )
    main = "".join(_start(item, "card start") for item in starts[:1])
    parts = "".join(_start(item, "card start part") for item in starts[1:])
    grid = f'<div class="parts">{parts}</div>' if parts else ""
    return main + grid + (f'<ul class="notes">{notes}</ul>' if notes else "")


def _start(advice: ProfileAdvice, style: str) -> str:
    # The strategy stands above in large letters; once is enough.
    why = one_line(advice.why).removeprefix(f"Start with {advice.strategy_spec}: ")
    scope = "the whole corpus" if advice.scope == "corpus" else advice.scope
    return (
        f'<div class="{style}"><span class="scope">For {escape(one_line(scope))}</span>'
        f'<span class="spec">{escape(advice.strategy_spec)}</span>'
        f"<p>{escape(why[:1].upper() + why[1:])}</p></div>"
    )


def _tiles(total: DocumentGroup) -> str:
    tiles = {
        "documents": total.documents,
        "tokens": total.tokens,
        "sections": total.sections.count,
        "tokens in the median section": total.sections.median,
        "sentences": total.sentences.count,
        "tables": total.tables.count,
        "lists": total.lists.count,
        "pieces of code": total.code.count,
    }
    if total.empty_documents:
        tiles["empty documents"] = total.empty_documents
    told = [(short_number(value), name) for name, value in tiles.items()]
    told.append((percent(total.repeats.token_share), "of the tokens repeated"))
    return "".join(
        f'<div class="card tile"><b>{value}</b><span>{name}</span></div>' for value, name in told
    )


def _sections(total: DocumentGroup) -> str:
    sections, longest = total.sections, total.longest_section
    if not sections.count or longest is None:
        return '<div class="card"><p class="none">No text, no sections.</p></div>'
    where = escape(one_line(longest.section, 120) or "text without a heading")
    chart = histogram(sections.histogram, "section", total.fits)
    shares = bars({f"into {size} tokens": share for size, share in total.fits.items()})
    return (
        f'<div class="two"><div class="card"><h3>Sections by size, in tokens</h3>{chart}'
        '<p class="hint">Dashed: the share of sections that fit whole into 100, 200, 400 and 800 tokens.</p></div>'
        f'<div class="card"><h3>Share of sections that fit whole</h3>{shares}'
        f'<p class="hint">Mean {sections.mean:,.0f}, median {sections.median:,}; 95 % have at most'
        f" {sections.p95:,} tokens.<br>The longest has {sections.longest:,}: <bdi>{where}</bdi> in"
        f" <bdi>{escape(one_line(longest.document, 120))}</bdi>.</p></div></div>"
    )


def _documents(total: DocumentGroup) -> str:
    lengths = total.lengths
    return (
        f'<div class="card"><h3>Documents by length, in tokens</h3>{histogram(lengths.histogram, "document", {})}'
        f'<p class="hint">Mean {lengths.mean:,.0f}, median {lengths.median:,}, 95 % have at most {lengths.p95:,},'
        f" the longest has {lengths.longest:,}.</p></div>"
    )
