"""Numbers and lists are short, and right where they round to the next unit."""

from __future__ import annotations

import ast
import re
from itertools import pairwise, starmap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise.base.wording import (
    all_listed,
    as_set,
    beside_limit,
    between,
    counted,
    counted_short,
    dollars,
    from_to,
    interval,
    listed,
    megabytes,
    milliseconds,
    money_words,
    number,
    one_or_many,
    p_words,
    percent,
    plural,
    points,
    points_between,
    rough_dollars,
    score,
    seconds_taken,
    short_number,
    shortened,
    shown,
    signed,
    size_in_bytes,
    target,
    thousands,
    time_words,
    times,
    two_digits,
    with_interval,
)
from tables import cases


@cases(
    "value, shown",
    [
        (0, "0"), (1234.4, "1,234"), (99_999, "99,999"), (99_999.6, "100k"), (123_456, "123k"),
        (999_499, "999k"), (999_999, "1M"), (1_600_000, "1.6M"), (99_960_000, "100M"),
        (1_234_567_890, "1.2B"), (2.5e9, "2.5B"), (4e12, "4T"), (5e15, "5,000T"),
    ],
)  # fmt: skip
def test_short_numbers(value: float, shown: str) -> None:
    assert short_number(value) == shown


def test_labels_are_shortened_earlier() -> None:
    assert [short_number(n, whole=1000) for n in (999, 1000, 12_800, 99_960)] == [
        "999",
        "1k",
        "12.8k",
        "100k",
    ]


@given(st.integers(0, 10**15 - 10**12))
def test_a_short_number_is_close(value: int) -> None:
    shown = short_number(value)
    assert len(shown) <= 6
    digits, unit = re.fullmatch(r"([\d,.]+)([kMBT]?)", shown).groups()  # type: ignore[union-attr]
    scale = 1000 ** " kMBT".index(unit or " ")
    assert float(digits.replace(",", "")) * scale == pytest.approx(value, rel=0.05)


def test_one_is_not_many() -> None:
    assert [counted(n, "chunk") for n in (0, 1, 2000)] == ["0 chunks", "1 chunk", "2,000 chunks"]


def test_what_is_left_out_of_a_list_is_counted() -> None:
    assert [listed(list("abc"[:n]), most=2) for n in range(4)] == [
        "",
        "a",
        "a, b",
        "a, b and 1 more",
    ]


@cases(
    "told, shown",
    [
        (score(0.12345), "0.123"), (score(-0.0001), "0.000"), (score(None), "unscored"),
        (number(9.9999), "10.000"), (number(12.34), "12.3"), (number(1234.5), "1,234"), (number(-0.0001), "0.000"),
        (signed(0.05), "+0.050"), (signed(-0.05), "-0.050"), (signed(0.0001), "0.000"),
        (points(0.0712), "+7.1"), (points(-0.1), "−10.0"), (points(0.0001), "0.0"),
        (between("0.1", "0.2"), "0.1–0.2"), (between("-0.1", "0.2"), "-0.1 to 0.2"),
        (interval(0.1, 0.25), "0.100–0.250"), (interval(None, 0.2), ""),
        (interval(-0.0001, 0.1), "0.000–0.100"), (interval(-0.0001, 0.1, two_digits), "0.00–0.10"),
        (with_interval(-0.0001, -0.0001, 0.1), "0.000 (0.000 to 0.100)"),
        (with_interval(0.5, 0.4, 0.6, two_digits), "0.50 (0.40 to 0.60)"),
        (with_interval(0.5, 0.4, 0.6), "0.500 (0.400 to 0.600)"), (with_interval(0.5, None, None), "0.500"),
        (with_interval(None, None, None), "not known"), (points_between(-0.012, 0.3), "−1.2 to +30.0"),
        (points(0.0712, plus=False), "7.1"), (points_between(-0.012, 0.3, plus=False), "−1.2 to 30.0"),
        (all_listed(["a"]), "a"), (all_listed(["a", "b", "c"]), "a, b and c"),
        (plural(1, "token"), "token"), (plural(0, "token"), "tokens"),
        (size_in_bytes(12), "12 bytes"), (size_in_bytes(1_482_112), "1.5 MB"), (size_in_bytes(2e9), "2.0 GB"),
        (megabytes(1_482_112), "1.5 MB"),
        (time_words(0.2), "a moment"), (time_words(40), "40 s"), (time_words(4800), "1 h 20 min"),


        (dollars(0), "$0.00"), (dollars(1234.5), "$1,234.50"), (dollars(1e-7), "$0.0000001"),
        (thousands(1234), "1,234"), (thousands(1234.5), "1,234"), (from_to(1200, 1350), "1,200–1,350"),
        (counted(1.2, "token"), "1 token"), (counted_short(123_456, "token"), "123k tokens"),
        (counted_short(1.2, "token"), "1 token"), (counted_short(0.2, "token"), "0 tokens"),
        (one_or_many(1, "is", "are"), "is"), (one_or_many(0, "is", "are"), "are"),
        (two_digits(0.456), "0.46"), (two_digits(-0.001), "0.00"), (times(1.254), "1.25×"),
        (as_set(0.8), "0.8"), (as_set(30.0), "30"), (as_set(0.1 + 0.2), "0.3"), (as_set(1e6), "1,000,000"),
        (as_set(123456789012), "123,456,789,012"), (as_set(0.00001), "0.00001"), (as_set(float("inf")), "inf"),
        (beside_limit(0.10004, 0.1), "0.10004"), (beside_limit(0.2, 0.1), "0.2"),
        (beside_limit(1 / 30_000, 0), "0.0000333"),
        (beside_limit(1 + 2**-40, 1), "1.000000000001"), (beside_limit(1234.5, 1), "1,234"),
        (target(0.7), "0.70"), (target(0.005), "0.005"), (target(30), "30"),
        (target(1000), "1,000"), (target(12.5), "12.5"),
        (p_words(0.042), "p = 0.042"), (p_words(1e-9), "p < 0.001"), (p_words(None), "p not known"),

        (seconds_taken(1234.56), "1,234.6 s"), (milliseconds(0.00821), "8.2 ms"), (milliseconds(1.5), "1,500 ms"),
        (rough_dollars(0.004), "under $0.01"), (money_words(0.001, "EUR"), "0.0010 EUR"),
    ],
)  # fmt: skip
def test_figures_times_sizes_and_money(told: str, shown: str) -> None:
    assert told == shown


def test_all_but_a_few_are_not_all() -> None:
    assert [percent(share) for share in (0.99, 0.994, 0.9991, 0.99999, 1.0)] == [
        "99 %", "99.4 %", "99.9 %", "over 99.9 %", "100 %",
    ]  # fmt: skip


PACKAGE = Path(chunkwise.__file__).parent
NO_WORDING: dict[str, tuple[str, ...]] = {
    # Options to type in: --limits memory=2GB, a reranker's seconds.
    "limits.py": ("{count / 1000000000.0:g}", "{count / 1000000.0:g}", "{2 * allowed:g}"),
    # The identity that kept scores go by, and an option to type in.
    "cross_encoder.py": ("{self.seconds:g}", "{2 * self.seconds:g}"),
    "maxsim.py": ("{self.weight_of_first:g}",),
    # Files that are read again.
    "toml_file.py": ("f'{name} = {shown}' if len(values) == 1 else f'{name} = [{shown}]'",),
    "sweep_budget.py": ("{budget.seconds / seconds:.0f}", "{amount:.6f}"),
    # A share as the plan has it, a text.
    "tuning/plan/grid.py": ("f'{share.rstrip('%').strip()} %'",),
    # Lengths of vectors and differences of any size, and shapes of arrays.
    "testkit/models.py": ("{length:g}", "{moved[worst]:g}", "{each:g}", "{given.shape} scores"),
    "models/sentence_transformers.py": ("{found.shape} numbers",),
    # The text of a cell, as the document has it.
    "xlsx.py": ("f'{number * 100:.10g}%'", "{number * 100:.10g}", "{number:.15g}"),
    # Words and amounts of texts, written alike to be compared.
    "claims/numbers.py": ("f'{unit}s'",),
    "text_normalization.py": ("{unicodedata.numeric(each):g}",),
    # The format of Prometheus.
    "request_metrics.py": ("{value:g}", "{self._sums[path]:.6f}"),
    # Attributes of a drawing and of a page, and what a script sorts by.
    "report/charts.py": (
        "f'{100 * self.share(value):.4g}%'", "{round(float(number[0]), 1):g}", "{100 * self.share(value):.4g}",
    ),
    "report/page.py": (
        "f'{100 * min(max(share, 0.0), 1.0):.4g}%'", "{100 * min(max(share, 0.0), 1.0):.4g}", "{11 * at + left:g}",
        "{value:.6g}",
    ),
    # Words before the noun: "static vectors", "2 questions quote passages".
    "report/views/sweep_charts.py": ("{like.vectors} vectors",),
    "cli/testset/convert.py": ("{who} passages",),
    # A prompt and its answer are two tokens at least; the tokens of a stretch, and a limit of thousands, are many.
    "models/llm/client.py": ("{counted(needed, 'token')} are",),
    "studio/documents.py": ("{thousands(end)} are", "{thousands(_SLOW_CHARACTERS)} are"),
}  # fmt: skip
"""What is read by a program or is no number, by the end of a file's path: why."""
DIGITS = re.compile(r"(?<!%)[,_]|\.?\d*[eEfFgGn%]$")
TEMPLATE = re.compile(r"\{\w*:[^{}]*(?:,|[eEfFgG%])\}|%[-+]?\d*(?:\.\d+)?[dfgeE](?![a-zA-Z])")


NOUNS = re.compile(
    " (?:more |other )?(?:answers|bytes|calls|characters|chunks|citations|claims|configurations|copies|cores|documents|"
    "entries|fields|files|folders|hits|lines|names|numbers|pages|parts|passages|places|questions|records|rows|runs|"
    r"scores|sentences|spellings|summaries|tests|texts|tokens|values|vectors|verdicts|words)\b"
)


def spec_of(node: ast.FormattedValue) -> str:
    parts = node.format_spec.values if isinstance(node.format_spec, ast.JoinedStr) else ()
    return "".join(str(each.value) if isinstance(each, ast.Constant) else "0" for each in parts)


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def is_call_of(name: str, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def is_plural(node: ast.IfExp) -> bool:
    """`"is" if count == 1 else "are"`; `f"…" if count > 1 else ""` says whether there is something to say."""
    one = isinstance(node.test, ast.Compare) and any(
        isinstance(each, ast.Constant) and each.value == 1 for each in node.test.comparators
    )
    said = [
        each.value if isinstance(each, ast.Constant) else "…" for each in (node.body, node.orelse)
    ]
    both = is_text(node.body) and is_text(node.orelse)
    return one and both and (all(said) or bool({"s", "es"}.intersection(said)))


VERBS = re.compile(
    r"(?: of (?:them|these|those)| more)?(?: that(?: may be chosen)?)? (?:are|were|have|stand|lead)\b(?! allowed)"
)
"""With a limit there is no other verb: nobody allows one of anything."""
NO_VERBS = re.compile(" (?:more |other )?(?!names|answers)")
"""Which name or answer something as often as they are counted: `{path} names no strategy`."""


def without_count(value: ast.expr, behind: ast.expr) -> str | None:
    """`{size} tokens`, which are "1 tokens" one day, and `{counted(n, …)} are`, which are "1 chunk are"."""
    if not isinstance(value, ast.FormattedValue) or not isinstance(behind, ast.Constant):
        return None
    text, number = str(behind.value), value.value
    is_bare = isinstance(number, ast.Name | ast.Attribute | ast.BinOp | ast.Subscript)
    found = NOUNS.match(text) if is_bare and NO_VERBS.match(text) else None
    if is_call_of("counted", number) or is_call_of("thousands", number):
        found = VERBS.match(text)
    return f"{{{ast.unparse(number)}}}{found[0]}" if found else None


def is_worded(value: ast.expr, behind: ast.expr) -> bool:
    """`{…} %`, `{noun}s`, `{len(…)} chunks`."""
    if not isinstance(value, ast.FormattedValue) or not isinstance(behind, ast.Constant):
        return False
    text = str(behind.value)
    is_share, is_noun = re.match(" ?%", text), re.match(r"s(?=[ ,.;:)]|$)", text)
    is_many = is_call_of("len", value.value) and NOUNS.match(text)
    return bool(is_share or (is_noun and isinstance(value.value, ast.Name)) or is_many)


def by_hand(source: str) -> list[str]:
    """What formats digits or a plural of its own, as it stands in the source."""
    tree = ast.parse(source)
    # Of a number that stays one, such as float(f"{x:.10g}"); documentation; and the parts of f-strings.
    silent: set[ast.AST] = set()
    found: list[ast.AST] = []
    counts: list[str] = []
    for node in ast.walk(tree):
        if is_call_of("float", node) or is_call_of("Decimal", node):
            silent.update(part for each in node.args for part in ast.walk(each))  # type: ignore[attr-defined]
        elif isinstance(node, ast.Expr):
            silent.add(node.value)
        elif isinstance(node, ast.JoinedStr):
            silent.update(each for each in node.values if isinstance(each, ast.Constant))
            counts += filter(None, starmap(without_count, pairwise(node.values)))
            found += [
                node for each in pairwise([*node.values, ast.Constant("")]) if is_worded(*each)
            ]
    for node in ast.walk(tree):
        if node in silent:
            continue
        if (
            (isinstance(node, ast.FormattedValue) and DIGITS.search(spec_of(node)))
            or (isinstance(node, ast.FormattedValue) and is_call_of("round", node.value))
            or is_call_of("format", node)
            or (
                isinstance(node, ast.Constant)
                and is_text(node)
                and TEMPLATE.search(str(node.value))
            )
            or (isinstance(node, ast.IfExp) and is_plural(node))
        ):
            found.append(node)
    # Of which kind the quotes inside of an f-string are depends on the version of Python.
    return [ast.unparse(each).replace('"', "'") for each in found] + counts


def exceptions(path: Path) -> set[str]:
    ends = [end for end in NO_WORDING if path.as_posix().endswith(f"/{end}")]
    return {each for end in ends for each in NO_WORDING[end]}


SOURCES = {
    path: path.read_text("utf-8")
    for path in PACKAGE.rglob("*.py")
    if path != PACKAGE / "base" / "wording.py"
}


@pytest.mark.usefixtures("large_inputs")
def test_numbers_and_plurals_are_worded_in_one_place() -> None:
    """`chunkwise.base.wording` has a function for whatever is found here, or is to get one."""
    found = {
        str(path.relative_to(PACKAGE)): each
        for path, source in SOURCES.items()
        if (each := [one for one in by_hand(source) if one not in exceptions(path)])
    }
    assert found == {}


@cases("exception", NO_WORDING)
def test_what_is_excepted_has_something_to_except(exception: str) -> None:
    paths = [path for path in SOURCES if path.as_posix().endswith(f"/{exception}")]
    assert len(paths) == 1
    assert {*NO_WORDING[exception]} <= {*by_hand(SOURCES[paths[0]])}


@cases(
    "planted",
    [
        'f"{x:.3f}"', 'f"{n:,} of them"', 'f"{n:>10,}"', 'f"{x:.{digits}f}"', 'f"{x:g} s"', 'f"{x:.1%}"', 'f"{x} %"',
        'f"{round(x)} points"', '"{:,.0f}".format(x)', '"%.2f" % x', 'format(x, ",")', 'f"{len(x)} chunks"',
        '"is" if n == 1 else "are"', 'f"{n} chunk" + ("" if n == 1 else "s")', '"has" if n <= 1 else "have"',
        'f"{n} {noun}s"', 'f"{noun}s"', 'f"{n} tokens"', 'f"has {x.size} more files"', 'f"{n - 1} chunks"',
        """f"{counted(n, 'chunk')} are kept\"""", 'f"{thousands(n)} of them lead on"',
        'f"{thousands(n)} more were there"', """f"{counted(n, 'file')} that are too large\"""",
    ],
)  # fmt: skip
def test_a_number_worded_by_hand_is_found(planted: str) -> None:
    assert by_hand(f"def words(x, n, noun, digits):\n    return {planted}\n")


@cases(
    "allowed",
    [
        'f"{score(x)} {counted(n, noun)}"', 'float(f"{x:.10g}")', 'f"{name:<12}{name!r:.80}"', 'f"part-{n:06}"',
        'f"{moment:%Y-%m-%d %H:%M}"', 'f"{ord(x):04x}"', 'f", and {more}" if n > 1 else ""', '"a{1,2}"', '"95 %"',
        'f"at most {thousands(n)} are allowed"', 'f"{name} names no strategy"', 'f"{noun} tokenizer"',
        """f"{counted(n, 'chunk')} {one_or_many(n, 'is', 'are')} kept\"""",
    ],
)  # fmt: skip
def test_what_is_no_wording_is_let_be(allowed: str) -> None:
    assert by_hand(f"def words(x, n, noun, more, name, moment):\n    return {allowed}\n") == []


@cases("own_wording", [r"\[:[^\[\]]*\](?:!r)?\}…", r"\[:[^\[\]]*\] \+ ['\"]…"])
def test_texts_are_cut_in_one_place(own_wording: str) -> None:
    found = {str(path): re.findall(own_wording, text) for path, text in SOURCES.items()}
    assert {path: each for path, each in found.items() if each} == {}


OWN_OF_TEMPLATES = re.compile(r"%\.?\d*[dfge]\W|\}\} ?%(?!\})|(?:==|!=) 1\b|\|format\(")
OWN_OF_SCRIPTS = re.compile(r"toFixed|toLocaleString|NumberFormat|(?:===|!==) 1 \?")
SCRIPTS = {
    "shared.js": "the one place of the studio",
    "cuts_summary.js": "a page that stands alone has its own",
    "tables.js": "a page that stands alone has its own",
    "strategy_form.js": "the value of a slider, which stays a number",
}


def test_pages_word_numbers_by_filters() -> None:
    pages = [*PACKAGE.rglob("*.j2"), *PACKAGE.rglob("*.html")]
    assert len(pages) > 20
    found = {path.name: OWN_OF_TEMPLATES.findall(path.read_text("utf-8")) for path in pages}
    assert {name: each for name, each in found.items() if each} == {}
    assert OWN_OF_TEMPLATES.search('{{ "%.2f"|format(row.storage) }}×')


def test_scripts_word_numbers_in_one_place() -> None:
    found = {
        path.name
        for path in PACKAGE.rglob("*.js")
        if OWN_OF_SCRIPTS.search(path.read_text("utf-8"))
    }
    assert found == {*SCRIPTS}


@given(st.text(max_size=200), st.integers(3, 100))
def test_a_text_is_cut_where_it_is_too_long(text: str, most: int) -> None:
    cut = shortened(text, most)
    assert cut == text or (len(cut) == most and text.startswith(cut[:-1]) and cut[-1] == "…")
    assert (cut == text) == (len(text) <= most)
    assert shown(text, most + 2) == repr(cut)


def test_a_value_is_shown_but_not_all_of_it() -> None:
    assert shown("x" * 100, 10) == repr("x" * 7 + "…")
    assert shown(["y" * 100], 10) == "['yyyyyyy…"
    assert [shown(value) for value in (None, 1.5, 10**39)] == ["None", "1.5", str(10**39)]
    assert shown(10**5000) == "a number of more than 40 digits"


def test_a_noun_with_y_has_its_plural() -> None:
    assert [plural(2, noun) for noun in ("entry", "day", "query", "chunk")] == [
        "entries", "days", "queries", "chunks",
    ]  # fmt: skip
