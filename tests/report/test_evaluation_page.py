"""The page of an evaluation: every figure of the results is on it, nothing else runs, and it fits a telephone."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import re
from collections.abc import Mapping
from html import unescape
from importlib.resources import files
from pathlib import Path

import pytest

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document
from chunkwise.evaluation.results import Figure, FoundSpan, Results
from chunkwise.evaluation.verdicts_and_advice import type_robustness
from chunkwise.metrics.cuts.boundary_issues import KINDS
from chunkwise.metrics.registry import help_of, known_metrics
from chunkwise.report.page import page as page_of
from chunkwise.report.page import write_page
from chunkwise.report.sanitize import few_lines
from chunkwise.report.views.evaluation import evaluation_view
from real_browser import needs_browser
from report.evaluated_corpus import OBJECTIVE, corpus, evaluated
from report.reading_pages import EVIL, Page, changed, in_browser, luminance, part, plain
from tables import cases

_EMPTY = Results({}, {}, {}, {}, {}, {}, None, {}, (), (), (), "", {}, ())


def evaluation_page(results: Results, documents: Mapping[str, Document] | None = None) -> str:
    return page_of(evaluation_view(results, documents))


@pytest.fixture(scope="module")
def results() -> Results:
    return evaluated()


@pytest.fixture(scope="module")
def html(results: Results) -> str:
    return evaluation_page(results, corpus())


@pytest.mark.usefixtures("large_inputs")
def test_the_parts_come_in_their_order(html: str) -> None:
    assert Page(html).headings == [
        "The four questions", "Every figure", "Which questions are hard?", "Which documents are hard?",
        "Where the cuts hurt", "The worst questions", "All questions", "What to try", "How sure is this?",
        "What it costs", "Made with",
    ]  # fmt: skip
    assert plain(html).startswith("recursive(max_tokens=120) · hybrid(rrf=60) – evaluation")
    links = re.findall('<a href="#([a-z]+)">', html)
    assert links == re.findall('<section id="([a-z]+)"', html)


def test_one_line_says_what_was_evaluated(results: Results, html: str) -> None:
    told = re.search('<p class="how">(.*?)</p>', html)
    assert told
    tokens = results.data["tokens"]
    assert plain(told[1]) == (
        f"hybrid(rrf=60) · minilm · 5 hits a question · 80 questions · 7 documents · {tokens:,} tokens"
    )
    budget = {**results.configuration, "budget": 1500}
    told = re.search(
        '<p class="how">(.*?)</p>',
        evaluation_page(dataclasses.replace(results, configuration=budget)),
    )
    assert told
    assert "1,500 tokens a question" in told[1]
    assert "hits a question" not in told[1]


def test_the_four_cards_say_figure_interval_and_word(results: Results, html: str) -> None:
    cards = part(html, "four").split("<article")[1:]
    assert len(cards) == 4
    labels = results.summary["retrieval_precision.labels"]
    first = plain(cards[0])
    assert f"labels{labels.mean:.3f}" in first
    assert f"95 %: {labels.low:.3f}–{labels.high:.3f}" in first
    assert "spans" in first
    assert "similarity" in first
    assert "labels 40 unscored: nobody rated a hit of this question" in first
    assert "facts 80 unscored: the question has no facts" in plain(cards[1])
    assert "! below good" in plain(cards[2])
    assert "Good is under 10 %, excellent under 5 %." in plain(cards[2])
    assert "★ excellent" in plain(cards[3])


def test_cards_say_how_far_a_figure_can_rise_and_what_offsets_are_worth(results: Results) -> None:
    told = {
        "reachable": {"retrieval_precision.spans": 0.21},
        "positions": {"exact": 7, "shifted": 2},
    }
    html = evaluation_page(dataclasses.replace(results, data={**results.data, **told}))
    first, *_, last = map(plain, part(html, "four").split("<article")[1:])
    assert "spans: at most 0.210 with k=5" in first
    assert "offsets: 7 exact, 2 shifted" in last
    assert "shifted: " in last


def test_a_ceiling_is_no_fault(results: Results) -> None:
    name = "retrieval_precision.spans"
    mean = results.summary[name].mean
    for most, word in ((mean, "at its ceiling"), ((mean or 0) + 0.1, "out of reach")):
        html = evaluation_page(dataclasses.replace(results, data={"reachable": {name: most}}))
        first = part(html, "four").split("<article")[1]
        assert re.search(rf'class="badge limit"><span aria-hidden="true">–</span> {word}<', first)


@pytest.mark.unwatched
def test_the_head_tells_every_step_and_that_questions_are_generated(results: Results) -> None:
    asked = {**results.configuration, "reranker": "maxsim:minilm:ab first=1", "neighbors": 1}
    about = {"questions": {"count": 9, "generated": 3}}
    html = evaluation_page(dataclasses.replace(results, configuration=asked, data=about))
    assert "hybrid(rrf=60) · reranker maxsim · neighbors 1 · minilm · 5 hits" in plain(html)
    assert "Generated by a program: 3 of 9 questions" in plain(html)
    assert "Generated by" not in plain(evaluation_page(results))


def test_a_question_that_was_not_measured_is_said_to_be_so(results: Results) -> None:
    kept = {name: own for name, own in results.summary.items() if not name.startswith("citation")}
    html = evaluation_page(dataclasses.replace(results, summary=kept))
    assert part(html, "four").count("Not measured in this run.") == 1


def test_every_figure_is_drawn_where_it_is(results: Results, html: str) -> None:
    rows = {}
    for row in re.findall("<tr .*?</tr>", part(html, "figures"), re.S):
        name = re.search("<th [^>]*><span>(.*?)</span>", row)
        if name:
            rows[plain(name[1])] = row
    assert set(rows) == set(results.summary)
    for name, figure in results.summary.items():
        row = rows[name]
        if figure.mean is None:
            assert "80 unscored: the question has no facts" in row
            assert "<svg" not in row
            continue
        at = re.search('class="dot" cx="([0-9.]+)%"', row)
        assert at
        assert float(at[1]) == pytest.approx(100 * max(figure.mean, 0), abs=0.1)
        ends = re.findall('<line class="between" x1="([0-9.]+)%" x2="([0-9.]+)%" y1="11"', row)
        if figure.low is None or figure.high is None:
            assert not ends
        else:
            assert [float(x) for x in ends[0]] == pytest.approx(
                [100 * figure.low, 100 * figure.high], abs=0.1
            )
            assert f"{figure.low:.3f}–{figure.high:.3f}" in plain(row)
            assert f"{figure.scored}" in plain(row)


def test_every_metric_says_what_it_is() -> None:
    for name in (*known_metrics(), "ndcg@5"):
        assert help_of(name).endswith("."), name
    assert help_of("recall@1000t") == f"{help_of('recall@5')} Within so many tokens of context."
    assert help_of("failure@20").endswith("Less is better.")
    assert help_of("mine") == ""


def test_types_go_from_the_easiest_to_the_hardest(results: Results, html: str) -> None:
    found = part(html, "types")
    spread = type_robustness(results)
    assert spread
    assert (
        f"{100 * spread.drop:.1f} points lie between {spread.easiest} and {spread.hardest}"
        in plain(found)
    )
    assert f"corrected for {spread.pairs} pairs of types" in plain(found)
    means = [float(mean) for mean in re.findall('class="mean">([0-9.]+)<', found)]
    assert means == sorted(means, reverse=True)
    assert len(means) == len(results.by_type)


def test_twenty_documents_are_shown_the_worst_first(results: Results) -> None:
    many = {f"{n:02}.md": {OBJECTIVE: Figure(1 - n / 40, 0.1, 0.9, 3)} for n in range(26)}
    found = part(evaluation_page(dataclasses.replace(results, by_document=many)), "documents")
    shown, rest = found.split("<details>")
    names = [re.findall(r"<bdi>(\d\d)\.md</bdi>", each) for each in (shown, rest)]
    assert names[0] == [f"{n:02}" for n in range(25, 5, -1)]
    assert names[1] == [f"{n:02}" for n in range(5, -1, -1)]
    assert "6 more documents" in rest


def test_cuts_are_counted_and_marked(results: Results, html: str) -> None:
    found, cuts = part(html, "cuts"), results.cuts
    assert cuts
    counts = [int(count) for count in re.findall('class="count">([0-9,]+)<', found)]
    assert counts == sorted((count for count in cuts.counts.values() if count), reverse=True)
    assert found.count('class="cut"') == len(cuts.examples)
    # Text on both sides of every cut is what the document has there.
    texts = {name: re.sub(r"\s|↵", "", own.text) for name, own in corpus().items()}
    for around, where in re.findall(
        'class="around">(.*?)</p><p class="where">(.*?)</p>', found, re.S
    ):
        before, after = around.split('<span class="cut"')
        joined = plain(before) + plain("<" + after)
        assert re.sub(r"\s|↵|…", "", joined) in texts[plain(where).split(" · ")[0]].replace("…", "")
    # People count from one.
    first = cuts.examples[0]
    assert f"{first.doc_id} · chunk {first.chunk + 1:,} · offset {first.offset:,}" in plain(found)
    for kind, count in cuts.counts.items():
        assert (KINDS[kind] in unescape(found)) == bool(count)


def test_cuts_without_issues_are_good_news(results: Results) -> None:
    assert results.cuts
    none = dataclasses.replace(
        results.cuts, with_issues=0, counts=dict.fromkeys(KINDS, 0), examples=()
    )
    assert "No cut hurts" in part(evaluation_page(dataclasses.replace(results, cuts=none)), "cuts")


def test_the_worst_questions_tell_what_was_missed_and_what_came_instead(
    results: Results, html: str
) -> None:
    found = part(html, "worst")
    cards = found.split("<article")[1:]
    assert len(cards) == len(results.worst)
    assert found.index("7 more questions") > found.index(cards[4])
    by_id = {own.id: own for own in results.questions}
    documents = corpus()
    for id, card in zip(results.worst, cards, strict=True):
        question, text = by_id[id], plain(card)
        assert re.sub(r"\s+", " ", question.text) in text
        for piece in question.missed:
            place = f"{piece.passage.doc_id} {piece.passage.start:,}–{piece.passage.end:,}"
            told = f"stands at rank {piece.rank}" if piece.rank else "is not among the hits"
            assert f"{place} {told}" in text
        for hit in question.hits:
            assert f"{hit.start:,}–{hit.end:,}" in text
            line = documents[hit.doc_id].text[hit.start : hit.end].strip().splitlines()[0]
            assert re.sub(r"\s+", " ", line)[:40].strip() in text


def test_without_documents_hits_have_no_text(results: Results) -> None:
    found = part(evaluation_page(results), "worst")
    assert 'class="hits"' in found
    assert 'class="text"' not in found


def test_every_question_is_a_row_with_all_of_its_scores(results: Results, html: str) -> None:
    rows = re.findall('<tr role="row" data-types.*?</tr>', part(html, "questions"), re.S)
    assert len(rows) == len(results.questions)
    for row, question in zip(rows, results.questions, strict=True):
        text = plain(row)
        for name, score in question.scores.items():
            assert f"{name} {'unscored' if score is None else f'{score:.3f}'}" in text
        for judge in ("spans", "similarity"):
            ranks = [str(hit.rank) for hit in question.hits if hit.relevant[judge]]
            told = f"relevant at {', '.join(ranks)}" if ranks else "none relevant"
            assert f'aria-label="{judge}: {told}"' in row
        assert ('aria-label="labels:' in row) == (
            "retrieval_precision.labels" not in question.unscored
        )


def test_questions_are_counted_by_score_in_a_chart_and_its_table(
    results: Results, html: str
) -> None:
    found = part(html, "questions").split("<form")[0]
    table = re.findall('<th scope="row"><bdi>(.*?)</bdi></th><td>(.*?)</td>', found)
    scores = [question.scores[OBJECTIVE] or 0.0 for question in results.questions]
    assert sum(int(count) for _, count in table) == len(scores)
    assert dict(table)["the full score"] == str(sum(score >= 1 for score in scores))
    assert dict(table)["none"] == str(sum(score <= 0 for score in scores))
    assert "0.4 to under 0.6" in dict(table)
    for name, count in table:
        if count != "0":
            assert f"<title>{name}: {count} question" in found


def test_sureness_cost_advice_and_making_are_told(results: Results, html: str) -> None:
    least = results.detectable[OBJECTIVE]
    text = plain(html)
    assert (
        f"With 80 questions, a difference of less than {100 * least:.1f} points in recall@5" in text
    )
    assert "labels and spans88 % alikeCohen’s κ 0.71 · 200 hits" in text
    assert "no κ: one of them always says the same" in text
    for each in results.advice:
        assert each.text in text
    assert "1.19×" in part(html, "cost")
    for told in ("9f2c" * 16, "documents › count", "0.1.0", "left out › no reference", "cl100k"):
        assert told in plain(part(html, "made"))


def test_the_policy_allows_the_two_inline_texts_and_nothing_else(html: str) -> None:
    page = Page(html)

    def source(text: str) -> str:
        digest = hashlib.sha256(text.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"

    assert page.policy["default-src"] == "'none'"
    assert page.policy["style-src"] == source(page.style)
    assert page.policy["script-src"] == source(page.script)
    assert not re.search(r"@import|url\(|https?://", page.style + page.script)
    for _, attributes in page.tags:
        assert not [
            name for name in attributes if name.startswith("on") or name in ("style", "src")
        ]
        assert (attributes.get("href") or "#").startswith("#")


def hostile(results: Results, text: str, kept: set[str]) -> tuple[Results, dict[str, Document]]:
    """`text` behind every string that is not among those `kept`."""

    def change(given: str) -> str:
        return given if given in kept else given + text

    documents = {
        change(name): Document(change(name), text + own.text.replace("\n", f"{text}\n"))
        for name, own in corpus().items()
    }
    return changed(results, change), documents


def known(results: Results) -> set[str]:
    """Names that the program gives, so that all parts are drawn."""
    given = {*results.configuration, *results.data, *results.cost, "excellent", "good", "below", ""}
    return {*results.summary, *KINDS, *given, "count", "hash"}


@pytest.mark.usefixtures("large_inputs")
@cases("names", [True, False])
def test_hostile_text_adds_no_element_and_no_control(names: bool) -> None:
    results = evaluated(10)
    kept = known(results) if names else {""}
    page = evaluation_page(*hostile(results, EVIL, kept))
    calm = evaluation_page(*hostile(results, "lamp", kept))
    tags = [[tag for tag, _ in Page(each).tags if tag != "wbr"] for each in (page, calm)]
    assert tags[0] == tags[1]
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", page
    )
    assert page.encode("utf-8")
    assert "<script>document.title='owned'</script>" in Page(page).text


def test_nothing_at_all_is_still_a_page() -> None:
    page = Page(evaluation_page(_EMPTY))
    assert page.headings == ["Made with"]
    assert page.title == "An evaluation – evaluation"


def test_hits_of_another_system_and_questions_without_scores(results: Results) -> None:
    bare = [
        dataclasses.replace(
            own, scores={OBJECTIVE: None}, unscored={OBJECTIVE: "no <b>gold</b>"}, hits=()
        )
        for own in results.questions[:3]
    ]
    given = dataclasses.replace(
        _EMPTY, configuration={"hits": "theirs.jsonl", "k": 5}, questions=tuple(bare), objective=OBJECTIVE,
        summary={OBJECTIVE: Figure(None, unscored={"no <b>gold</b>": 3})},
    )  # fmt: skip
    html = evaluation_page(given)
    assert "theirs.jsonl" in html
    assert Page(html).headings == ["Every figure", "All questions", "Made with"]
    assert html.count('title="no &lt;b&gt;gold&lt;/b&gt;">unscored') == 3
    assert html.count(">no hits<") == 3


@pytest.mark.unwatched
def test_the_same_results_make_the_same_file(results: Results, tmp_path: Path) -> None:
    for name in ("a.html", "folder/b.html"):
        write_page(evaluation_view(results, corpus()), tmp_path / name)
    first = (tmp_path / "a.html").read_bytes()
    assert first == (tmp_path / "folder" / "b.html").read_bytes()
    (tmp_path / "in the way").mkdir()
    with pytest.raises(ChunkwiseError, match="in the way"):
        write_page(evaluation_view(results), tmp_path / "in the way")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.html", "folder", "in the way"]


def test_marks_stay_inside_their_scale() -> None:
    def shown(**summary: Figure) -> str:
        return evaluation_page(dataclasses.replace(_EMPTY, summary=summary))

    drawn = shown(odd=Figure(-0.2, -0.3, 1.4), boundary_issues=Figure(0.62, 0.5, 0.7))
    places = [float(x) for x in re.findall('(?:x1|x2|cx|x|width)="([0-9.-]+)%"', drawn)]
    assert places
    assert all(0 <= x <= 100 for x in places)
    # Little matters beyond a few times the bound, so the scale ends there; but never before the figure.
    assert ">40 %</text>" in shown(boundary_issues=Figure(0.12))
    assert ">62 %</text>" in shown(boundary_issues=Figure(0.62))
    counted = shown(boundary_issues=Figure(0.62, scored=41))
    assert "41 chunks" in counted
    assert "41 questions" not in counted


def test_dots_are_one_mark_a_hit(results: Results) -> None:
    verdicts = [True, False, None, True, *[False] * 20]
    hits = tuple(
        FoundSpan("a", 0, 1, rank, 1.0, 1, {'a "b"': verdict})
        for rank, verdict in enumerate(verdicts, 1)
    )
    question = dataclasses.replace(results.questions[0], hits=hits)
    drawn = part(evaluation_page(dataclasses.replace(_EMPTY, questions=(question,))), "questions")
    marks = {
        name: path.count("M")
        for name, path in re.findall('class="(yes|ring|none)" d="([^"]*)"', drawn)
    }
    assert marks == {"yes": 2, "ring": 9, "none": 1}
    assert "+12" in drawn
    assert 'aria-label="a &#34;b&#34;: relevant at 1, 4"' in drawn


def test_passages_are_a_few_lines() -> None:
    assert few_lines("one\n\n two <b>\nthree\nfour", 100, 3) == "one\ntwo <b>\nthree …"
    assert few_lines("abcdef", 3, 3) == "abc …"
    assert few_lines("", 3, 3) == ""


@cases("dark", [False, True])
def test_text_can_be_read_on_its_ground(dark: bool) -> None:
    style = (files("chunkwise.report") / "assets" / "page.css").read_text("utf-8")
    themes = [
        dict(re.findall("--([a-z-]+): (#[0-9a-f]{6})", each)) for each in style.split(":root")[1:3]
    ]
    colors = themes[dark]
    assert set(themes[0]) == set(themes[1])
    for ink, grounds in {
        "ink": ("page", "card", "mark-soft"), "soft": ("page", "card"), "green": ("card", "green-soft"),
        "accent": ("page", "card", "accent-soft"), "mark": ("card", "mark-soft"), "blue": ("blue-soft",),
    }.items():  # fmt: skip
        for ground in grounds:
            low, high = sorted((luminance(colors[ink]), luminance(colors[ground])))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, ground)


_DRIVE = """
const shown = () => [...document.querySelectorAll("#questions-table tbody tr:not([hidden])")];
const first = () => shown()[0].cells[0].textContent, count = () => shown().length;
const head = (key) => document.querySelector(`[data-sort="${key}"] button`).click();
const type = document.getElementById("type"), wanted = document.getElementById("wanted");
const tell = (element, value, event) => { element.value = value; element.dispatchEvent(new Event(event)); };
const found = [count()];
document.getElementById("more").click(); found.push(count());
head("score"); found.push(first()); head("score"); found.push(first()); head("id"); head("id"); found.push(first());
tell(type, "1", "change"); found.push(count()); tell(type, "", "change");
tell(wanted, "Q007", "input"); found.push(count(), document.getElementById("shown").textContent);
tell(wanted, "no such words", "input"); found.push(count());
return found;
"""


@pytest.mark.usefixtures("processes")
@needs_browser
def test_questions_are_paged_sorted_and_filtered(tmp_path: Path) -> None:
    results = evaluated(300)
    found = in_browser(evaluation_page(results), tmp_path, _DRIVE)
    scores = [own.scores[OBJECTIVE] or 0.0 for own in results.questions]
    second = sorted({type for own in results.questions for type in own.types})[1]
    of_type = sum(second in own.types for own in results.questions)
    assert found == [
        "50", "250", f"q{scores.index(min(scores)):03}", f"q{scores.index(max(scores)):03}", "q299",
        str(min(of_type, 50)), "1", "1 question", "0",
    ]  # fmt: skip


@pytest.mark.usefixtures("browser")
@needs_browser
def test_a_telephone_needs_no_scrolling_sideways_and_hostile_text_does_nothing(
    tmp_path: Path,
) -> None:
    results = evaluated(10)
    html = evaluation_page(*hostile(results, EVIL, known(results)))
    script = """
    for (const each of document.querySelectorAll("details")) each.open = true;
    const root = document.documentElement;
    const out = [...document.querySelectorAll("main *")].filter((each) => !each.closest("caption")
      && each.getBoundingClientRect().right > root.clientWidth + 12).map((each) => each.outerHTML.slice(0, 80));
    return [document.title === "owned", root.clientWidth, root.scrollWidth, out.length];
    """
    *found, title = in_browser(html, tmp_path, script, width=390, as_it_is=True)
    assert found == ["false", "390", "390", "0"]
    assert title == Page(html).title


@pytest.mark.usefixtures("large_inputs")
@pytest.mark.unwatched
def test_a_thousand_questions_make_a_page_of_little_weight(results: Results) -> None:
    many = tuple(
        dataclasses.replace(own, id=f"{own.id}-{turn}")
        for turn in range(13)
        for own in results.questions
    )
    page = evaluation_page(dataclasses.replace(results, questions=many))
    assert len(many) > 1000
    assert len(page) < 3000 * len(many)
