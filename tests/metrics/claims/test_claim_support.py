from hypothesis import given
from hypothesis import strategies as st

from chunkwise.metrics.claims.claim_support import denied, supports
from chunkwise.metrics.claims.text_normalization import Readable, sentences
from tables import cases
from untimed import is_linear

HOURS = (
    "Lunch breaks take 30 minutes. The day has 8 hours. Overtime of up to 10 hours a week is paid. "
    "Night work is paid at 125 percent."
)


def said(claim: str, text: str) -> bool:
    return all(supports(Readable(text), each) for each in sentences(claim))


@cases(
    "claim, text",
    [
        ("Pets are allowed in the office on Fridays.", "Pets are not allowed in the office on Fridays."),
        ("Employees may not carry over unused days.", "Employees may carry over unused days every year."),
        ("Overtime work on Sundays is never paid.", "Overtime work on Sundays is paid."),
        ("You can bring dogs into the library.", "You can't bring dogs into the library."),
        ("allowed in the library", "Dogs are not allowed in the library."),
        ("Pets are not allowed in the garden.", "Pets are allowed in the garden. They are not allowed indoors."),
        ("Das Büro bleibt im Sommer ohne Besucher geöffnet.", "Das Büro bleibt im Sommer für Besucher geöffnet."),
        ("Les animaux sont admis dans le bureau.", "Les animaux ne sont pas admis dans le bureau."),
        ("Los perros están permitidos en la oficina.", "Los perros nunca están permitidos en la oficina."),
        ("公司允许员工在家工作。", "公司不允许员工在家工作。"),
    ],
)  # fmt: skip
def test_the_opposite_is_not_said(claim: str, text: str) -> None:
    assert not said(claim, text)
    assert not said(text, claim)
    assert said(claim, claim)
    assert said(text, text)


@cases(
    "claim, text",
    [
        ("The maximum baggage weight is 23kg per traveller.", "The maximum baggage weight is 32kg per traveller."),
        ("The refund is paid within 5 days after the return.", "The refund is paid within 5 weeks after the return."),
        ("Employees get three weeks of paid vacation per year.", "Employees get four weeks of paid vacation per year."),
        ("Members get twenty five days of paid vacation.", "Members get twenty six days of paid vacation."),
        ("The meeting room costs $50 per hour for members.", "The meeting room costs €50 per hour for members."),
        ("The tax rate is 19 % for 7 products.", "The tax rate is 7 % for 19 products."),
        ("Die Kündigungsfrist beträgt drei Monate zum Quartalsende.",
         "Die Kündigungsfrist beträgt sechs Monate zum Quartalsende."),
        ("Die Frist beträgt fünfundzwanzig Tage ab dem Kauf.", "Die Frist beträgt 26 Tage ab dem Kauf."),
        ("员工每年有十五天带薪年假。", "员工每年有五天带薪年假。"),
        ("The rate is 3,5 percent for long credits.", "The rate is 5,3 percent for long credits."),
        ("Version v2.1 of the driver supports Linux kernels.", "Version v1.2 of the driver supports Linux kernels."),
        ("Revenue grew in Q3 to the highest level ever.", "Revenue grew in Q2 to the highest level ever."),
        ("The desk opens at 9am on all working days.", "The desk opens at 9pm on all working days."),
        ("The island has 3 million birds in winter.", "The island has 3 thousand birds in winter."),
    ],
)  # fmt: skip
def test_another_number_or_unit_is_not_said(claim: str, text: str) -> None:
    assert not said(claim, text)
    assert not said(text, claim)
    assert said(claim, claim)


@cases(
    "claim",
    [
        "Overtime of up to 8 hours a week is paid.",
        "Night work is paid at 30 percent.",
        "Night work hours are paid at 10 percent.",
        "The lunch break takes 8 hours.",
    ],
)
def test_a_number_of_another_sentence_is_not_this_ones(claim: str) -> None:
    assert not said(claim, HOURS)


def test_a_name_inside_the_sentence_must_stand_in_the_text() -> None:
    assert not said(
        "The Berlin office is managed by Anna.", "The Berlin office is managed by Peter."
    )
    assert said("Anna manages the Berlin office.", "The Berlin office is managed by Anna.")


@cases(
    "claim, text",
    [
        ("The manager approves requests within 5 days.", "Requests are approved by the manager within five days."),
        ("Night work is paid at 125 %.", HOURS),
        ("Lunch breaks take 30 minutes a day.", HOURS),
        ("Staff get twenty days of paid leave every year.",
         "Employees get 20 days of paid leave every year. New employees get 10."),
        ("A deposit of 9,310 florins is returned at the end.",
         "The deposit of 9,310 florins, which bears no interest, shall be returned at the end."),
        ("The island holidays are Sunday, Monday and Friday.",
         "The island holidays are:\n\n- Sunday\n- Tuesday\n- Wednesday\n- Monday\n- Friday\n"),
        ("Das Büro hat 1.000 Mitarbeiter in zwei Häusern.", "In zwei Häusern hat das Büro 1000 Mitarbeiter."),
    ],
)  # fmt: skip
def test_other_words_may_say_the_same(claim: str, text: str) -> None:
    assert said(claim, text)


def test_words_from_all_over_a_text_say_nothing() -> None:
    filler = "The weather was grey and the sea was rough for many days in that long winter. " * 4
    text = f"The harbour has a lamp. {filler}Paint is kept in the shed. {filler}Green is the color of hope."
    assert not said("The harbour lamp has green paint.", text)
    assert said("The harbour lamp has green paint.", "The lamp of the harbour is painted green.")


def test_a_long_text_that_repeats_itself_is_read_in_a_moment() -> None:
    text = Readable("The manager approves requests within five days of asking. " * 2000)
    assert not supports(text, Readable("The manager never approves requests of asking", "en"))
    assert len(text.windows(Readable("manager approves requests", "en").terms("en"), 2, "en")) == 1


WORDS = st.lists(
    st.sampled_from("Anna Berlin not never 5 days weeks three manager pays office the in $".split()),
    min_size=1, max_size=9,
).map(" ".join)  # fmt: skip


@given(WORDS, WORDS)
def test_every_sentence_says_itself_and_nothing_fails(one: str, other: str) -> None:
    assert said(one, one)
    said(one, other)


@cases("text, claim, expected", [
    ("The trial period lasts 6 months.", "Six months.", True),
    ("The trial period lasts 6 months.", "Seven months.", False),
    ("Members do not pay the fee.", "Paid fees.", False),
    ("The fee was paid by members. The desk is closed.", "A closed fee.", False),
    ("Keys are stored at the desk.", "The desk stores them.", True),
])  # fmt: skip
def test_a_short_claim_is_held_by_one_sentence_with_all_its_words(
    text: str, claim: str, expected: bool
) -> None:
    assert supports(Readable(text), Readable(claim)) is expected


def test_a_short_claim_takes_work_in_proportion_to_the_text() -> None:
    def work(size: int) -> None:
        text = Readable("The fee is 20 dollars on 3/5/2021 in May. " * size)
        for claim in ("Thirty dollars.", "6 March 2021", "no fines", "dollar fees"):
            supports(text, Readable(claim))

    is_linear(work, 60)


def test_what_is_denied_is_among_the_next_words() -> None:
    plain = " the dogs are not allowed in the library and never barked "
    assert denied(plain, "en") == [{"allow", "librari"}, {"bark"}]


def test_what_is_denied_is_looked_for_in_linear_time() -> None:
    is_linear(lambda size: denied(" not allowed" * size + " ", "en"), 300)
