"""Code by its grammar: what is said above a function, and the function."""

from __future__ import annotations

from chunkwise import Document
from chunkwise.ext import get_strategy
from chunkwise.testkit import check_chunks
from chunkwise.text.tokens.tokenizers import get_tokenizer
from tables import cases

BODY = {
    "rust": "fn lamp(x: i32) -> i32 {{\n{}    x\n}}\n",
    "python": "def lamp(x):\n{}    return x\n",
}
STATEMENT = {
    "rust": "    let x = x * {0} + harbour({0});\n",
    "python": "    x = x * {0} + harbour({0})\n",
}
SAID = {"rust": "/// Said above the function, line {}.\n", "python": "# Said above it, line {}.\n"}


def of_code(text: str, language: str, limit: int) -> list[str]:
    document = Document("lamp", text, format="code", language=language)
    strategy = get_strategy(f"code(max_tokens={limit}, tokenizer=words)")
    chunks = list(strategy.chunks(document))
    check_chunks(document, chunks, limit=strategy.limit, overlap=False)
    return [chunk.text for chunk in chunks]


def words(text: str) -> int:
    return get_tokenizer("words").count(text)


@cases("language", ["rust", "python"])
def test_a_function_that_fits_only_without_what_is_said_above_it_stays_whole(language: str) -> None:
    said = "".join(SAID[language].format(n) for n in range(6))
    body = BODY[language].format("".join(STATEMENT[language].format(n) for n in range(20)))
    text = f"{body}\n{said}{body}\n{body}"
    for limit in range(words(body) + 2, words(said + body) - 1, 5):
        function = body.rstrip()
        assert of_code(text, language, limit) == [function, said.rstrip(), function, function]
    assert of_code(text, language, words(said + body) + 1)[1] == (said + body).rstrip()


def test_blank_lines_behind_a_function_of_just_the_limit_take_no_room() -> None:
    body = "def add(a, b):\n    return a + b"
    text = f"# It adds.\n{body}\n\n\n\ndef one():\n    return 1\n"
    strategy = get_strategy(f"code(max_tokens={get_tokenizer('o200k_base').count(body)})")
    chunks = list(strategy.chunks(Document("d", text, format="code", language="python")))
    assert [chunk.text for chunk in chunks][:2] == ["# It adds.", body]


def test_an_attribute_stays_with_its_function_where_the_comment_alone_is_too_much() -> None:
    body = BODY["rust"].format("".join(STATEMENT["rust"].format(n) for n in range(20))).rstrip()
    said = "".join(SAID["rust"].format(n) for n in range(6))
    text = f"{said}#[inline]\n{body}\n"
    whole = f"#[inline]\n{body}"
    assert of_code(text, "rust", words(whole) + 1) == [said.rstrip(), whole]
    assert of_code(text, "rust", words(body)) == [f"{said}#[inline]", body]


def test_what_is_said_above_a_function_too_large_goes_with_its_first_lines() -> None:
    said = SAID["rust"].format(0)
    body = BODY["rust"].format("".join(STATEMENT["rust"].format(n) for n in range(20)))
    chunks = of_code(f"{said}{body}", "rust", words(body) // 2)
    assert chunks[0].startswith(f"{said}fn lamp(x: i32) -> i32 {{\n    let x")


JAVADOC = """    /**
     * Says what it does.
     * @param x the x
     */
    @Override
    int lamp(int x) {
        int y = x + harbour(x); // lit
        int z = y * y; // doused
        return z;
    }
"""


def test_a_comment_of_several_lines_is_not_cut_from_the_function_below_it() -> None:
    text = "class Harbour {\n" + "\n".join([JAVADOC] * 4) + "}\n"
    size = words(JAVADOC)
    for limit in range(size + 5, 4 * size, 7):
        chunks = of_code(text, "java", limit)
        assert sum(chunk.count(JAVADOC.strip()) for chunk in chunks) == 4
    function = JAVADOC[JAVADOC.index("    @") :].rstrip()
    chunks = of_code(text, "java", words(function) + 1)
    assert sum(function in chunk for chunk in chunks) == 4
    assert sum(chunk.startswith("    /**") for chunk in chunks) == 3
    assert sum(chunk.endswith("*/") for chunk in chunks) == 4


def test_a_comment_behind_a_statement_says_nothing_of_the_next() -> None:
    lamp = "LAMP = harbour(\n    1,\n    2,\n)  # lit\n"
    size = words(lamp)
    assert of_code(lamp * 9, "python", 3 * size) == [(lamp * 3).rstrip()] * 3
    assert of_code(lamp * 9, "python", 4 * size - 1) == [(lamp * 3).rstrip()] * 3


def test_the_head_of_a_function_stays_with_a_comment_and_what_it_is_said_above() -> None:
    body = "".join(STATEMENT["python"].format(n) for n in range(9))
    text = f"def lamp(x):\n    # First of all.\n{body}"
    head = f"def lamp(x):\n    # First of all.\n{STATEMENT['python'].format(0)}".rstrip()
    for limit in range(words(head), words(text)):
        assert of_code(text, "python", limit)[0].startswith(head)
