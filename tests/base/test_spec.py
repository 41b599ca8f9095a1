"""A specification is read, refused with reasons, and written the same way again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base.errors import ChunkwiseError, InvalidParameter, UnknownName
from chunkwise.base.spec import key, parse
from chunkwise.chunkers import strategies as registry
from chunkwise.ext import describe_strategies, get_strategy
from tables import cases


@cases(
    "text, message",
    [
        ("sentences(max_tokens=0)", "sentences: max_tokens is 0; the minimum is 1"),
        ("sentences(max_tokens='many')", "max_tokens is 'many'; expected an integer"),
        ("sentences(max_tokens=True)", "expected an integer"),
        (
            "sentences(max_tokens=512, overlap=600)",
            r"overlap \(600\) must be smaller than max_tokens \(512\)",
        ),
        (
            "sentences(overlap=-1)",
            "overlap is -1; expected an integer, 0 or more, or a share such as '10%'",
        ),
        ("sentences(overlap='x%')", "a share such as '10%'"),
        ("sentences(overlap=5, overlap_sentences=1)", "conflict; give the overlap in one unit"),
        (
            "sentences(max_tokens=5, min_tokens=6)",
            r"min_tokens \(6\) must not exceed max_tokens \(5\)",
        ),
        (
            "sentences(max_token=5)",
            "sentences has no parameter 'max_token'; did you mean max_tokens?",
        ),
        ("sentences(max_tokens=5, chunk_size=5)", "the same parameter"),
        ("words(preset=huge)", "preset is 'huge'; allowed: 'small', 'medium', 'large'"),
        (
            "tokens(tokenizer='gpt')",
            "unknown tokenizer 'gpt'; did you mean gpt-3.5-turbo or gpt-4",
        ),
        ("tokens(tokenizer='xyz')", "unknown tokenizer 'xyz'; known: o200k_base"),
        ("tokens(tokenizer=3)", "tokenizer is 3"),
        ("recursive(separators=klingon)", "separators is 'klingon'"),
        ("recursive(separators=['('], regex=True)", "is not a regular expression"),
        ("sentences(overlap=50, overlap_sentences=0)", "conflict; give the overlap in one unit"),
        ("sentences(overlap='²%')", "a share such as '10%'"),
        ("sentences(overlap=50%)", "quote percentages: overlap="),
        ("sentences(max_tokens=100,max_tokens=50)", "'max_tokens' twice"),
        (
            "sentences(max_tokens=9, tokenizer= /nope/tokenizer.json )",
            "quote text values: tokenizer='/nope/tokenizer.json'$",
        ),
        ("tokens(tokenizer=./tokenizer.json", r"values: tokenizer='\./tokenizer\.json'$"),
        ("raptor(llm=openai:gpt-4o-mini)", "values: llm='openai:gpt-4o-mini'$"),
        ("raptor(llm=https://me:secret@host/v1?key=k)", "values: llm='https://…@host/v1[?]…'$"),
        ("tokens(tokenizer='a/b' max_tokens=5)", "expected a form such as sentences"),
        ("paragraphs(merge='no')", "merge is 'no'; allowed: True, False"),
        ("code(language=pyhton)", "language is 'pyhton'; allowed: 'auto', 'python'"),
        ("recursive(separators=5)", "expected a list of texts"),
        ("tokens(chunk_size=5, max_tokens=6)", "'chunk_size' and 'max_tokens' are the same"),
        ("./mine.py", "is a file; add the class"),
        ("sentences(100)", "a value without a parameter name"),
        ("sentences(max_tokens=", "cannot read the strategy"),
        (
            "sentences(max_tokens=open('x'))",
            "must be a number, quoted text, True, False, None or a list of these",
        ),
        ("sentences(**x)", "cannot read the strategy"),
        ("sentences() + x(", "cannot read"),
    ],
)
def test_a_wrong_specification_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(ChunkwiseError, match=message):
        get_strategy(text)


def test_bare_words_for_true_and_false() -> None:
    assert get_strategy("paragraphs(merge=false)").chunker == get_strategy("paragraphs").chunker
    assert get_strategy("paragraphs(merge=true)").chunker.merge is True


def test_an_unknown_strategy_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean sentences"):
        get_strategy("sentence(max_tokens=5)")
    with pytest.raises(UnknownName, match="known: characters"):
        get_strategy("xyzzy")


@cases("name", registry.names())
def test_labels_make_the_same_strategy_again(name: str) -> None:
    plain = get_strategy(name)
    assert plain.label.startswith(name)
    assert get_strategy(plain.label).label == plain.label
    assert key(name, plain.chunker) == key(name, get_strategy(name).chunker)


def test_a_label_shows_size_and_overlap_and_what_differs_from_the_defaults() -> None:
    made = get_strategy(
        "recursive(chunk_size=100, chunk_overlap='10%', separators=['a', 'b'], tokenizer=words)"
    )
    assert (
        made.label
        == "recursive(max_tokens=100, overlap=10, tokenizer='words', separators=['a', 'b'])"
    )
    assert get_strategy(made.label).label == made.label
    assert key("recursive", made.chunker) != key("recursive", get_strategy("recursive").chunker)


@given(st.text(max_size=60))
def test_no_text_breaks_the_parser(text: str) -> None:
    try:
        name, values = parse(text)
    except InvalidParameter:
        return
    assert isinstance(name, str)
    assert isinstance(values, dict)


def test_every_strategy_tells_what_it_is_for_and_what_each_parameter_means() -> None:
    listed = describe_strategies()
    assert [each["name"] for each in listed] == registry.names()
    for each in listed:
        assert each["purpose"], each["name"]
        assert each["use"].startswith("Use it"), each["name"]
        for parameter in each["parameters"]:
            assert parameter["help"], (each["name"], parameter["name"])
