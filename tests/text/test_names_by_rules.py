"""Names and where they stand: each a place, short forms lead to the full name, hostile text stays linear."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core import Document, Link
from chunkwise.text.analyzed import Analyzed
from chunkwise.text.names import (
    HEADING,
    MENTION,
    TITLE,
    Mentions,
    name_hash,
    name_key,
    name_spans,
)
from chunkwise.text.names_by_rules import _repeated_han, document_names
from tables import cases

Found = set[tuple[str, str]]


def names(text: str, title: str = "", format: str = "text", language: str = "en") -> Mentions:
    analyzed = Analyzed(Document("d", text, title=title, format=format))
    return document_names(analyzed, analyzed.atoms(), language)


def said(text: str, **given: str) -> set[str]:
    """The texts of all places."""
    found = names(text, **given)
    return {
        text[low:high] for low, high in zip(found.start.tolist(), found.end.tolist(), strict=True)
    }


def stands_for(text: str, name: str, **given: str) -> set[str]:
    """The texts of the places that stand for a name."""
    found = names(text, **given)
    of = found.name == name_hash(name_key(name))
    return {
        text[low:high]
        for low, high in zip(found.start[of].tolist(), found.end[of].tolist(), strict=True)
    }


@cases(
    "text, expected",
    [
        ("We met Anna Orme in London.", {"Anna Orme", "London"}),
        ("The film was made by J. R. Finch.", {"J. R. Finch"}),
        ("She studied at the University of Oxford.", {"University of Oxford", "Oxford"}),
        ("Although it rained, they went.", set()),
        ("Мы видели Анну Каренину в Москве.", {"Анну Каренину", "Москве"}),
        ("彼は「塩の台所」を読んだ。", {"塩の台所"}),
        ("他读了《红楼梦》。", {"红楼梦"}),
        ("قرأ «كتاب البحر» أمس.", {"كتاب البحر"}),
        ("Call `open_index` or see [the manual](manual.md).", {"open_index", "the manual"}),
        ('In this contract the "Supplier" delivers.', {"Supplier"}),
        (
            "The term 'covered worker' means all, ‘the yard’ a place.",
            {"covered worker", "the yard"},
        ),
        ("first call get_user_id and then parseConfig there.", {"get_user_id", "parseConfig"}),
        ("it is due on 2021-05-03 at noon.", {"2021-05-03"}),
        ("رأى نجيب محفوظ البحر. ثم كتب نجيب محفوظ كتابا.", {"نجيب محفوظ"}),
        ("the workers' hall and the boss' desk are shut.", set()),
    ],
)
def test_names_by_hand(text: str, expected: set[str]) -> None:
    assert expected <= said(text)
    if not expected:
        assert not said(text)


def test_short_forms_stand_for_the_full_name_where_there_is_one() -> None:
    text = "John Smith came. Later Smith left, and J. Smith wrote to us."
    assert stands_for(text, "John Smith") == {"John Smith", "Smith", "J. Smith"}


def test_what_could_be_two_names_is_kept_apart() -> None:
    text = "John Smith met Mary Smith. We asked what Smith had said."
    assert stands_for(text, "John Smith") == {"John Smith"}
    assert stands_for(text, "Smith") == {"Smith"}


def test_an_acronym_stands_for_its_long_form() -> None:
    text = "It was the World Health Organization (WHO) that said so. Then the WHO left."
    assert stands_for(text, "World Health Organization") == {"World Health Organization", "WHO"}


def test_titles_and_headings_say_what_a_text_is_about() -> None:
    text = "# Salt Kitchen\n\nIt opened late.\n\n## The Menu\n\nSoup.\n"
    found = names(text, title="Salt Kitchen (house)", format="markdown")
    assert name_hash("menu") in found.name[found.kind == HEADING].tolist()
    assert found.name[found.kind == TITLE].tolist() == [name_hash("salt kitchen house")]
    assert name_hash("salt kitchen") in found.name[found.kind == HEADING].tolist()


def test_a_german_noun_behind_an_article_is_no_name() -> None:
    found = said(
        "Heute traf die Hafenmeisterin im Winter noch Anna Orme aus Ostende bei der NATO.",
        language="de",
    )
    assert found & {"Hafenmeisterin", "Winter"} == set()
    assert found >= {"Anna Orme", "Ostende", "NATO"}


def test_a_short_line_is_not_wrapped_and_ends_a_name() -> None:
    assert "Silent Harbour" in said("Silent Harbour\nSilent Harbour is a film.")
    assert not any("\n" in each for each in said("Anna Orme\nJohn Vale\nPeter Lime"))


def test_a_name_may_be_wrapped_but_ends_with_its_sentence() -> None:
    assert "Anna Orme" in {
        each.replace("\n", " ")
        for each in said("On the way back to the harbour we met Anna\nOrme there.")
    }
    assert said("We like Anna.\n\nOrme is near.") >= {"Anna", "Orme"}


@given(st.text(max_size=300))
def test_every_mention_is_a_place(text: str) -> None:
    found = names(text, title=text[:20])
    assert ((found.start >= 0) & (found.start <= found.end) & (found.end <= len(text))).all()
    assert (found.start[1:] >= found.start[:-1]).all()


@cases(
    "piece",
    [
        lambda number: f"Name{number}\n",
        lambda number: "Anna Orme came. ",
        lambda number: f"Anna Orme{number} ",
        lambda number: f"A{number} Smith. ",
        lambda number: '"',
        lambda number: "A" * 50,
        lambda number: "[[[",
        lambda number: "A  of  of  ",
        lambda number: "# Same\n\nx\n\n",
    ],
)
def test_twice_the_text_has_about_twice_the_names(piece: Callable[[int], str]) -> None:
    small, large = ("".join(piece(number) for number in range(count)) for count in (400, 800))
    one, two = (len(names(text, format="markdown")) for text in (small, large))
    assert two <= 2 * one + 20
    assert two <= len(large)


def test_a_day_is_one_name_however_it_is_written() -> None:
    text = "He came on 3 May 2021, on May 3rd, 2021, am 3. Mai 2021, 03.05.2021 and 2021-05-03; not on 2021-19-03."
    assert stands_for(text, "2021-05-03") == {
        "3 May 2021", "May 3rd, 2021", "3. Mai 2021", "03.05.2021", "2021-05-03",
    }  # fmt: skip


@cases(
    "target, name",
    [
        ("leave-policy.md", "Leave policy"),
        ("../rules/leave_policy.html#who", "Leave policy"),
        ("leave%20policy", "Leave policy"),
        ("leave-policy/README.md", "Leave policy"),
        ("https://example.org/leave-policy", None),
        ("#leave-policy", None),
        ("mailto:leave-policy@example.org", None),
        ("../", None),
    ],
)
def test_a_link_speaks_of_the_document_it_leads_to(target: str, name: str | None) -> None:
    text = f"See [how to ask]({target})."
    assert stands_for(text, "Leave policy") == ({"how to ask"} if name else set())


@cases(
    "format, text",
    [
        ("markdown", "See [how to ask][rules].\n\n[Rules]: ../leave-policy.md\n"),
        ("markdown", "See [how to ask][].\n\n[how to ask]: <leave-policy.md>\n"),
        ("markdown", "See [how to ask].\n\n[how to ask]: leave-policy.md 'title'\n"),
        ("markdown", "See [how to ask](<leave policy.md>)."),
        ("rst", "See `how to ask <leave-policy.rst>`_."),
        ("rst", "See :doc:`how to ask <../leave-policy>`."),
        ("asciidoc", "See xref:leave-policy.adoc#who[how to ask]."),
        ("asciidoc", "See <<leave-policy.adoc#,how to ask>>."),
        ("org", "See [[file:leave-policy.org][how to ask]]."),
    ],
)
def test_links_in_the_ways_of_each_markup(format: str, text: str) -> None:
    assert "how to ask" in stands_for(text, "Leave policy", format=format)


def test_a_link_of_sphinx_without_a_text_names_the_document() -> None:
    assert "rules/leave-policy" in stands_for(
        "See :doc:`rules/leave-policy`.", "Leave policy", format="rst"
    )


def _linked(text: str, target: str, said: str = "how to ask") -> Mentions:
    at = text.index(said)
    document = Document("d", text, format="html", links=(Link(at, at + len(said), target),))
    analyzed = Analyzed(document)
    return document_names(analyzed, analyzed.atoms(), "en")


@cases(
    "target, expected",
    [
        ("leave-policy.html", {"leave policy", "how to ask"}),
        ("https://example.org/leave-policy", {"how to ask"}),
        ("//example.org/leave-policy", {"how to ask"}),
    ],
)
def test_a_link_that_the_text_does_not_show_is_one_all_the_same(
    target: str, expected: set[str]
) -> None:
    """As in Markdown: what it says, and where it leads."""
    found = _linked("See how to ask in time.", target)
    rows = zip(found.start.tolist(), found.end.tolist(), found.name.tolist(), strict=True)
    assert {name for low, high, name in rows if (low, high) == (4, 14)} == {
        name_hash(name_key(each)) for each in expected
    }


def test_a_whole_paragraph_that_is_linked_is_no_name() -> None:
    long = "the rules of the house that all of us wrote together in one long night of winter " * 2
    found = _linked(f"See {long}.", "leave-policy.html", long.strip())
    assert not (found.start == 4).any()


@cases(
    "id, name",
    [
        ("rules/leave_policy.md", "Leave policy"),
        ("rules/leave-policy/index.html", "Leave policy"),
        ("leave-policy", None),
        ("corpus.jsonl#leave-policy", None),
    ],
)
def test_a_document_is_about_what_its_file_is_called(id: str, name: str | None) -> None:
    """So links lead to it, whatever its title is."""
    analyzed = Analyzed(Document(id, "Ask in time.", title="Rules of absence", format="markdown"))
    found = document_names(analyzed, analyzed.atoms(), "en")
    titles = set(found.name[found.kind == TITLE].tolist())
    expected = {name_hash(name_key(each)) for each in ("Rules of absence", name) if each}
    assert titles == expected


@cases(
    "text",
    [
        'The European Central Bank ("ECB") met. ECB raised it.',
        "The European Central Bank (the ECB) met. ECB raised it.",
        "The ECB (European Central Bank) met. ECB raised it.",
    ],
)
def test_an_acronym_stands_for_its_long_form_wherever_that_is(text: str) -> None:
    assert "ECB" in stands_for(text, "European Central Bank")
    assert "ECB" not in stands_for(text.replace("Central", "Civil"), "European Civil Ban")


@cases(
    "text, expected",
    [
        ("萨克森花园很大。他常去萨克森花园。", {"萨克森花园"}),
        ("剧院是里昂·席勒的。", {"里昂·席勒"}),
        (
            "这是由Digital Equipment设计的，后来Internet2宣布退役。",
            {"Digital Equipment", "Internet2"},
        ),
        ("他说：“管理权处于多数人手中，而不是别人。”", set()),
        ("源氏物語は長い。源氏物語を読んだ。", {"源氏物語"}),
        ("1973年10月6日开战。", {"1973年10月6日"}),
        ("अन्ना ओर्मे ने किया। अन्ना ओर्मे का जन्म हुआ।", {"अन्ना ओर्मे"}),
        ("안나 오름 감독은 왔다. 안나 오름 영화.", {"안나 오름"}),
    ],
)
def test_names_in_scripts_without_capitals(text: str, expected: set[str]) -> None:
    """Repeated, with a dot, between other letters: and no clause that somebody said."""
    assert {each for each in said(text, language="zh") if each} == expected


def test_a_question_without_blanks_says_its_names() -> None:
    text = "请问里昂·席勒去过萨克森花园吗？"
    wanted = {name_hash(name_key(each)) for each in ("里昂·席勒", "萨克森花园")}
    spans = {each.name: text[each.start : each.end] for each in name_spans(text)}
    assert {spans[each] for each in wanted} == {"里昂·席勒", "萨克森花园"}
    assert len(name_spans("花" * 10_000)) < 1_000


@given(
    st.lists(st.sampled_from(["the", "A", "who's", "Dr.", "met", "3", "May", "e-mail", "Café", "ﬁlm"]), max_size=62),
    st.sampled_from(["Anna Orme", "Orme", "J. R. Finch", "the Salt Kitchen", "Ghent's", "3 May 1981", "Zürich"]),
    st.sampled_from([" ", "  ", ", ", "\n", " – "]),
)  # fmt: skip
def test_a_name_is_known_wherever_a_question_says_it(
    before: list[str], name: str, between: str
) -> None:
    """To the walk, which skips it, and to who explains, by its place."""
    words = len(_words(" ".join(before)))
    text = between.join([*before, name, "then"])
    wanted = name_hash(name_key(name))
    spans = name_spans(text)
    for each in spans:
        assert 0 <= each.start < each.end <= len(text)
        assert each.name == name_hash(name_key(text[each.start : each.end]))
    if words + len(_words(name)) <= 64:
        assert wanted in {each.name for each in spans}
        assert any(
            name_key(text[each.start : each.end]) == name_key(name)
            for each in spans
            if each.name == wanted
        )


def _words(text: str) -> list[str]:
    return regex.findall(r"[\p{L}\p{M}\p{N}]+", text)


def test_a_question_of_any_size_is_looked_through_in_no_time() -> None:
    for text in ("x" * 1_000_000, "Orme " * 200_000, "' " * 500_000):
        assert len(name_spans(text)) < 1_000


@given(st.text("ab. \n#(", max_size=30), st.integers(0, 30), st.sampled_from(["text", "markdown"]))
def test_no_place_runs_over_the_end_of_its_sentence(text: str, length: int, format: str) -> None:
    """Titles and headings least of all: a title may be longer than the first sentence."""
    analyzed = Analyzed(Document("d", text, title=text[:length], format=format))
    starts = analyzed.atoms()
    found = document_names(analyzed, starts, "en")
    ends = np.append(starts[1:], len(text))
    assert (found.end <= ends[starts.searchsorted(found.start, "right") - 1]).all()


@cases(
    "text, name, expected",
    [
        ("Anna Orme came. Then Anna left, and Orme slept.", "Anna Orme", {"Anna Orme", "Anna", "Orme"}),
        ("They met in Paris. There Paris Hilton sang. They left Paris.", "Paris Hilton", {"Paris Hilton"}),
        ("There the March Hare sat. It rained in March.", "March Hare", {"March Hare"}),
        ("They came by Oxford and saw Oxford Street.", "Oxford Street", {"Oxford Street"}),
    ],
)  # fmt: skip
def test_a_first_word_stands_for_a_name_that_was_said_before_it(
    text: str, name: str, expected: set[str]
) -> None:
    assert stands_for(text, name) == expected


def test_a_title_keeps_what_stands_in_its_brackets() -> None:
    """And is called without them, too; who writes a list of planets says nothing of it."""
    text = "Mercury is small. A Planet is large."
    found = names(text, title="Mercury (planet)")
    kinds = dict(zip(found.name.tolist(), found.kind.tolist(), strict=True))
    assert kinds[name_hash("mercury planet")] == TITLE
    assert set(found.kind[found.name == name_hash("mercury")].tolist()) == {MENTION, HEADING}
    assert stands_for(text, "Mercury (planet)", title="Mercury (planet)") == {""}


def test_a_day_is_found_in_a_question_however_it_is_written() -> None:
    wanted = name_hash("1981 05 03")
    for said in ("3 May 1981", "03.05.1981", "1981-05-03", "1981年5月3日"):
        assert name_hash(name_key(said)) == wanted
        assert wanted in {each.name for each in name_spans(f"what was on {said}?")}
        places = {(each.start, each.end) for each in name_spans(said) if each.name == wanted}
        assert (0, len(said)) in places


def test_a_month_in_an_old_print_is_a_month() -> None:
    analyzed = Analyzed(Document("a", "It was signed on 3 Auguſt 1776 and again on 3 Augusſ 1776."))
    document_names(analyzed, analyzed.atoms(), "en")


@pytest.mark.parametrize("letters", [3, 40, 3000])
def test_the_work_for_chinese_grows_with_the_text_and_no_faster(
    letters: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in the runs that are compared: each place once a length; what is found shares no character."""
    compared: list[int] = []
    unique = np.unique

    def counting(values: Any, **given: Any) -> Any:
        compared.append(len(values))
        return unique(values, **given)

    monkeypatch.setattr("chunkwise.text.names_by_rules.np.unique", counting)
    drawn = random.Random(1)
    text = "".join(chr(0x5000 + drawn.randrange(letters)) for _ in range(4_000))
    found = sorted((low, high) for low, high, _ in _repeated_han(text))
    assert sum(compared) <= 6 * len(text)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(found))
    assert found or letters == 3000
