from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core import Fact
from chunkwise.metrics.claims.hit_texts import is_named
from chunkwise.metrics.claims.text_normalization import holds, plain_form
from tables import cases


def named(fact: str, text: str, *aliases: str) -> bool:
    return is_named(Fact(fact, aliases), plain_form(text))


@cases(
    "fact, text",
    [
        ("Two Weeks", "You have two\n  weeks' notice."),
        ("1,000", "It costs 1000 euros"),
        ("1000", "It costs 1,000,"),
        ("1,234,567.5", "about 1234567.5 of them"),
        ("10,000", "exactly 10\u202f000 lamps"),
        ("12/31/14", "(due 12/31/14)"),
        ("12/31/14", "due 12-31-14."),
        ("120 m²", "a hall of 120 square metres"),
        ("six months", "after 6 months"),
        ("5%", "a share of 5 % or so"),
        ("$20", "pays $20."),
        ("straße", "in der STRASSE 5"),
        ("café", "the cafe\u0301 is open"),
        ("ﬁne", "a fine"),
        ("don’t", "they don't"),
        ("東京", "本社は東京都にあります。"),
        ("서울", "본사는 서울에 있다"),
        ("٢٥", "there are 25"),
        ("-5 °C", "down to −5 °C"),
        ("C++", "written in C++."),
        ("co\u00adoperate", "they cooperate"),
        ("v2.1", "since v2.1, that is"),
        ("5 kg", "It weighs 5kg."),
        ("5kg", "It weighs 5 kg."),
        ("1,5", "a factor of 1.5"),
        ("3.5", "٣٫٥"),
        ("-5 °C", "down to –5 °C"),
        ("1 200", "about 1200 lamps"),
        ("12,34,567", "about 1234567 lamps"),
        ("1.234.567,50", "about 1,234,567.50"),
        ("1000", "Der Verein hat nur 1.000 Mitglieder und die Stadt keine."),
        ("1.000", "Der Verein hat nur 1.000 Mitglieder und die Stadt keine."),
        ("1.125", "The pipe is 1.125 inches wide and the hose is not."),
        ("€5", "costs 5 €"),
        ("10²", "10² lamps"),
        ("十五天", "年假十五天"),
    ],
)
def test_a_fact_is_found_however_it_is_written(fact: str, text: str) -> None:
    assert named(fact, text)


@cases(
    "fact, text",
    [
        ("5", "15 lamps"),
        ("5", "5.2 lamps"),
        ("5", "1,005 lamps"),
        ("2", "5.2 lamps"),
        ("ten", "often"),
        ("5 °C", "down to -5 °C"),
        ("5%", "5 lamps"),
        ("30 minutes", "takes half a day"),
        ("5 p.m.", "opens at 5 a.m."),
        ("C++", "written in C."),
        ("C", "written in C++"),
        ("C", "written in C#"),
        ("100", "1,000"),
        ("two weeks", "two long weeks"),
        ("&", "salt and rope"),
        ("5 Prozent", "Der Zins ist 3,5 Prozent"),
        ("3,5", "5,3 Prozent"),
        ("102", "10² lamps"),
        ("5 °C", "down to –5 °C"),
        ("5", "٣٫٥"),
        ("200", "about 1 200 lamps"),
        ("1125", "The pipe is 1.125 inches wide and the hose is not."),
        ("五", "年假十五天"),
        ("5e3", "5 e3"),
        ("1", "the 1st lamp"),
        ("", "anything"),
        ("…", "anything …"),
    ],
)
def test_what_only_looks_alike_is_not_found(fact: str, text: str) -> None:
    assert not named(fact, text)


def test_an_alias_counts() -> None:
    assert named("United Kingdom", "made in the UK", "UK")
    assert not named("United Kingdom", "made in Ukraine", "UK")


@given(st.text())
def test_the_plain_form_is_its_own_plain_form_and_never_fails(text: str) -> None:
    plain = plain_form(text)
    assert plain == " " or (plain[0] == plain[-1] == " " and "  " not in plain)
    assert holds(plain, plain) == (plain != " ")


@given(st.lists(st.from_regex(r"[a-z]{1,4}|[1-9][0-9]?", fullmatch=True), min_size=1, max_size=8))
def test_finding_is_finding_runs_of_words(words: list[str]) -> None:
    """Against a comparison of lists of words."""
    text, runs = ", ".join(words), {
        tuple(words[low:high]) for low in range(len(words)) for high in range(low + 1, len(words) + 1)
    }  # fmt: skip
    # A number and the letters behind it are two words, with or without a space.
    longer = words[0] + ("0" if words[0].isdigit() else "x")
    for run in [*runs, (words[0][:1],), (longer,), (words[-1], words[0])]:
        assert named(" ".join(run), text) == (run in runs)
