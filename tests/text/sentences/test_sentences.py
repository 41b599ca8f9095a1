"""Sentences: a table of hard cases in ten languages, an independent splitter, and the cost in function calls."""

import random
import sys
from itertools import pairwise
from types import FrameType

import numpy as np
import nupunkt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.text.characters import CharacterArrays
from chunkwise.text.sentences.boundaries import sentence_starts
from how_many import examples
from tables import cases
from text.nasty_text import NASTY
from text.sentences.sentence_cases import CASES


def cut(text: str) -> list[str]:
    bounds = [0, *sentence_starts(CharacterArrays(text)).tolist(), len(text)]
    return [text[start:end] for start, end in pairwise(bounds)]


@cases("language, case", [(language, case) for language, texts in CASES.items() for case in texts])
def test_the_sentences_of(language: str, case: str) -> None:
    assert cut(case.replace("|", "")) == case.split("|")


def test_every_language_has_its_cases() -> None:
    assert len(CASES) >= 10
    for language, texts in CASES.items():
        assert len(texts) >= (12 if language in ("English", "German") else 5), language


WHO = [
    "The old keeper",
    "Dr. Marsh",
    "Her brother",
    "Mrs. Hale of Acme Inc.",
    "Nobody",
    "The U.S. envoy",
]
DID = [
    "climbed the 3.5 metre wall",
    "wrote to Prof. Lind",
    "sold it for $4.50",
    "left at dawn",
    "read No. 7",
]
THEN = ["", " before the storm came", ", as the paper said,", " and went home", " (or so they say)"]
END = [".", ".", ".", "!", "?"]


def prose(sentences: int) -> str:
    rng = random.Random(11)
    made = [
        f"{rng.choice(WHO)} {rng.choice(DID)}{rng.choice(THEN)}".rstrip(",") + rng.choice(END)
        for _ in range(sentences)
    ]
    return " ".join(made)


def test_english_prose_is_cut_as_nupunkt_cuts_it() -> None:
    text = prose(600)
    theirs = set()
    for start, _ in nupunkt.sent_spans(text):
        while text[start].isspace():
            start += 1
        theirs.add(start)
    ours = {0, *sentence_starts(CharacterArrays(text)).tolist()}
    assert len(theirs) > 500
    assert len(ours & theirs) >= 0.95 * max(len(ours), len(theirs))


PIECES = (
    ". ! ? … .. ?! 。 」 「 ” “ « » ) ( [1] * _ Dr e.g U.S D.C 3 3. Word word A b usw Nr 文 है ไทย ا т — – "
    "α ; \u037e www. Fa der 2 h c med str gem Art § III J.-C av पी जे रु د ดร "
    "\u0301 \u200d \x00 \ud800 \u2028 \x85 \r\n \n \t"
).split(" ")
SPACES = [" ", "  ", "\u00a0", "\u3000"]


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.sampled_from(PIECES + SPACES), max_size=30).map("".join) | st.text(max_size=60))
def test_starts_are_sorted_unique_and_at_a_character_one_can_see(text: str) -> None:
    starts = sentence_starts(CharacterArrays(text))
    assert (np.diff(starts) > 0).all()
    assert all(0 < start < len(text) for start in starts.tolist())
    assert not any(text[start].isspace() for start in starts.tolist())


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.sampled_from(PIECES + SPACES), max_size=30).map("".join))
def test_no_sentence_but_the_last_lacks_an_end(text: str) -> None:
    """What is cut off holds a terminator, or is Thai."""
    for sentence in cut(text)[:-1]:
        assert any(char in ".!?…。।؟;\u037e" or "\u0e01" <= char <= "\u0e5b" for char in sentence)


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.sampled_from(PIECES + SPACES), max_size=12).map("".join))
def test_a_short_text_is_cut_as_within_a_long_one(text: str) -> None:
    """Few full stops are looked up one by one, many as arrays: both find the same."""
    text = "Begin.\n" + text
    many = text + "\n\nEnd." * 40
    alone = sentence_starts(CharacterArrays(text + "\n\nEnd.")).tolist()
    assert sentence_starts(CharacterArrays(many)).tolist()[: len(alone)] == alone


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.sampled_from(PIECES + SPACES), max_size=60).map("".join), st.data())
def test_all_sentences_of_a_span_are_found_within_it(text: str, data: st.DataObject) -> None:
    text = f"{text}\n\n{'x ' * 99}\n\n{text}"
    borders = sorted(data.draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=6)))
    spans = np.array(list(pairwise(borders))[::2])
    wanted = {
        start
        for start in sentence_starts(CharacterArrays(text)).tolist()
        if any(low < start < high and not text[low].isspace() for low, high in spans.tolist())
    }
    found = sentence_starts(CharacterArrays(text), spans).tolist()
    assert wanted <= set(found) <= set(sentence_starts(CharacterArrays(text)).tolist())


@cases(
    "stop",
    [
        "Mr.",
        "dr.",
        "p.",
        "1.",
        "U.S.",
        "l'avv.",
        "Done.",
        "MR.",
        "тыс.",
        "ed.",
        "der 2.",
        "I am 2.",
        "Dr. med.",
        "du med.",
        "vol. III.",
        "J.-C.",
        "av. J.-C.",
        "पी.",
        "أ. م. د.",
    ],
)
def test_a_word_among_many_is_read_as_among_few(stop: str) -> None:
    """Of many words most are told by how they end, of few all are read."""
    few = f"He saw {stop} Hale there."
    many = " ".join([few] * 40)
    starts = [*sentence_starts(CharacterArrays(few)).tolist(), len(few) + 1]
    assert sentence_starts(CharacterArrays(many)).tolist()[: len(starts)] == starts


@cases("text", ["", " ", "\n", "\n\n\n", ".", "x", "\x00", "\ud83d", "...", "?!", "。"])
def test_the_smallest_texts_are_one_sentence(text: str) -> None:
    assert len(sentence_starts(CharacterArrays(text))) == 0


def test_dense_terminators() -> None:
    assert cut("Yes. No. " * 3) == ["Yes. ", "No. "] * 3
    assert cut("." * 50) == ["." * 50]
    assert cut("好。" * 4) == ["好。"] * 4


def calls(text: str) -> int:
    """Function calls, Python's and NumPy's, that finding the sentences takes."""
    count = 0

    def profile(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        sentence_starts(CharacterArrays(text))
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.usefixtures("large_inputs")
@cases(
    "unit",
    [
        "Yes. No. ", ".", ". ", "Dr. A. B. came at 5 p.m. to see Fig. 2. ", "好。", "«Да?» — да. ",
        "So.[1] It was.[2][3] ", "好!\"", "ไทย ", "word ", "है। ", "?", "” ", "[", "z. B. ",
        "in 2. He ", "Yes 1) no ", "item(s) ",
    ],
)  # fmt: skip
def test_the_work_is_linear_in_the_text(unit: str) -> None:
    short = 100_000 // len(unit) // 4
    calls(unit * 8)  # what is learnt about characters is learnt once
    assert calls(unit * short * 4) < 4.1 * calls(unit * short)


@pytest.mark.parametrize("at_once", [1, 2, 7])
@settings(max_examples=examples(40), deadline=None)
@given(NASTY)
def test_sentences_found_in_parts_are_those_of_the_whole(at_once: int, text: str) -> None:
    whole = sentence_starts(CharacterArrays(text)).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chunkwise.text.sentences.boundaries._AT_ONCE", at_once)
        assert sentence_starts(CharacterArrays(text)).tolist() == whole


@cases("at_once", [1, 3])
def test_notes_and_quotes_are_read_alike_in_parts(at_once: int) -> None:
    text = (
        'So.[1] It was.[2][3] 好。"a" 好!"是。" Dr. [a] B.)[4][5][6][7][8] C.[9 D. “E.” F.[x]' * 9
    )
    whole = sentence_starts(CharacterArrays(text)).tolist()
    assert len(whole) > 9
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chunkwise.text.sentences.boundaries._AT_ONCE", at_once)
        assert sentence_starts(CharacterArrays(text)).tolist() == whole
