"""Parameters that make no sense together are refused; the bounds there are, are told."""

import pytest

from chunkwise.base.errors import InvalidParameter
from chunkwise.chunkers import describe_strategies, get_strategy
from tables import cases


@cases(
    "spec, message",
    [
        (
            "recursive(max_tokens=10, overlap_words=50)",
            r"overlap_words \(50\) must be smaller than max_tokens \(10\)",
        ),
        (
            "sections(overlap_words=801)",
            r"overlap_words \(801\) must be smaller than max_tokens \(800\)",
        ),
        (
            "sections(max_tokens=20, overlap_sentences=20)",
            r"overlap_sentences \(20\) must be smaller than max_tokens \(20\)",
        ),
        ("recursive(separators=text, regex=true)", "regex is True and separators 'text'"),
        ("recursive(regex=true)", "regex is True and separators 'auto'"),
        ("recursive(separators=[])", r"separators is \[\]; at least one is needed"),
        ('recursive(separators=[""])', r"separators is \[''\]; at least one is needed"),
        ('recursive(separators=[""], regex=true)', "at least one is needed"),
        ("tokens(overlap=true)", "a whole number from 0 up or a share"),
    ],
)
def test_senseless_parameters_are_refused(spec: str, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        get_strategy(spec)


@cases(
    "spec",
    [
        "recursive(max_tokens=10, overlap_words=9)",
        "sections(max_tokens=1)",
        "recursive(separators=['\\n\\n', '\\n', ' ', ''])",
        "recursive(separators=['a+'], regex=true)",
        "tokens(overlap='10%')",
    ],
)
def test_sensible_ones_are_not(spec: str) -> None:
    get_strategy(spec)


def test_every_overlap_tells_its_bounds() -> None:
    told = [
        (parameter["low"], parameter["high"], parameter["help"])
        for strategy in describe_strategies()
        for parameter in strategy["parameters"]
        if parameter["name"] == "overlap"
    ]
    assert len(told) >= 10
    for low, high, words in told:
        assert low == 0
        assert high == 9_999_999
        assert "less than max_" in words
