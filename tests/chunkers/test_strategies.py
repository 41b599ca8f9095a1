"""What each strategy promises beyond the contract."""

from itertools import pairwise

from chunkwise import Document, chunk_text
from chunkwise.core import Chunk
from chunkwise.ext import get_strategy
from chunkwise.testkit import check_chunks
from chunkwise.text.analyzed import Analyzed
from tables import cases

HANDBOOK = """# Handbook

Welcome to the yard.

## Leave

Leave is asked for in writing. The harbour master approves it. It is paid.

### Sick leave

No approval is needed. A note is due on day three.

## Hours

The early shift starts at five.
"""


def texts(chunks: list[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


def test_characters_are_every_n_with_overlap() -> None:
    chunks = chunk_text("abcdefghij", strategy="characters(max_chars=4, overlap=1)")
    assert texts(chunks) == ["abcd", "defg", "ghij"]


def test_words_have_presets() -> None:
    text = " ".join(f"w{n}" for n in range(1000))
    for preset, size, overlap in (("small", 200, 30), ("medium", 500, 75), ("large", 800, 100)):
        chunks = chunk_text(text, strategy=f"words(preset={preset})")
        assert chunks[0].word_count == chunks[0].token_count == size
        assert len(text[chunks[1].start : chunks[0].end].split()) == overlap


def test_words_given_a_size_overlap_only_when_asked() -> None:
    assert texts(chunk_text("a b c d e", strategy="words(max_words=2)")) == ["a b", "c d", "e"]


def test_han_characters_are_words() -> None:
    assert texts(chunk_text("天地玄黃宇宙", strategy="words(max_words=4)")) == ["天地玄黃", "宇宙"]


def test_tokens_are_exactly_n_where_nothing_forbids_it() -> None:
    text = "The lamps along the causeway are lit an hour before the flood. " * 40
    chunks = chunk_text(text, strategy="tokens(max_tokens=50, overlap=10, tokenizer='cl100k_base')")
    assert {chunk.token_count for chunk in chunks[:-1]} == {50}
    assert all(after.start < before.end for before, after in pairwise(chunks))


def test_sentences_stay_whole_and_overlap_by_sentences() -> None:
    text = " ".join(f"Lamp number {n} is lit." for n in range(40))
    chunks = chunk_text(text, strategy="sentences(max_tokens=40, overlap_sentences=1)")
    assert all(chunk.text.startswith("Lamp") and chunk.text.endswith("lit.") for chunk in chunks)
    for before, after in pairwise(chunks):
        assert text[after.start : before.end].strip().count("lit.") == 1


@cases(
    "sentence, first",
    [
        ("red, or green; blue: white, dark and lit", "red, or green;"),
        ("red, or green: blue white, dark and lit", "red, or green:"),
        ("red or green, blue white dark and lit", "red or green,"),
        ("red or green blue white dark and lit", "red or green blue white"),
    ],
)
def test_an_oversized_sentence_is_cut_at_semicolons_then_colons_then_commas_then_words(
    sentence: str, first: str
) -> None:
    strategy = "sections(max_tokens=5, overlap_sentences=0, tokenizer=words)"
    assert chunk_text(sentence, strategy=strategy)[0].text == first


def test_a_paragraph_is_a_chunk_and_takes_its_heading_along() -> None:
    chunks = chunk_text(HANDBOOK, strategy="paragraphs")
    assert chunks[0].text == "# Handbook\n\nWelcome to the yard."
    assert chunks[1].text.startswith("## Leave\n\nLeave is asked")
    assert len(chunks) == 4


def test_paragraphs_merge_when_asked() -> None:
    chunks = chunk_text("One.\n\nTwo.\n\nThree.", strategy="paragraphs(merge=True)")
    assert texts(chunks) == ["One.\n\nTwo.\n\nThree."]
    apart = chunk_text("One.\n\nTwo.\n\n" + "Long. " * 30, strategy="paragraphs")
    assert len(apart) == 3
    short = chunk_text("One.\n\nTwo.\n\n" + "Long. " * 30, strategy="paragraphs(min_tokens=3)")
    assert [chunk.text[:10] for chunk in short] == ["One.\n\nTwo.", "Long. Long"]


def test_sections_are_never_crossed() -> None:
    chunks = chunk_text(HANDBOOK, strategy="sections(max_tokens=800)")
    assert [chunk.section_path for chunk in chunks] == [
        "Handbook", "Handbook > Leave", "Handbook > Leave > Sick leave", "Handbook > Hours",
    ]  # fmt: skip
    assert all(chunk.text.count("#") <= 3 for chunk in chunks)


def test_fragments_join_a_neighbor_of_their_own_section_alone() -> None:
    text = "# One\n\nFirst of all here. Yes.\n\n# Two\n\nNo."
    spec = "sections(max_tokens=6, overlap=0, min_tokens=3, tokenizer=words)"
    parts = ["# One\n\nFirst of all here.", "Yes.", "# Two\n\nNo."]
    assert [chunk.text for chunk in chunk_text(text, strategy=spec)] == parts


def test_overlap_does_not_cross_a_section() -> None:
    chunks = chunk_text(HANDBOOK, strategy="sections(max_tokens=12, overlap_sentences=1)")
    starts = {HANDBOOK.index(head) for head in ("# Handbook", "## Leave", "### Sick", "## Hours")}
    assert starts <= {chunk.start for chunk in chunks}
    for before, after in pairwise(chunks):
        if after.section != before.section:
            assert after.start >= before.end


def test_a_bare_heading_joins_its_first_subsection() -> None:
    chunks = chunk_text("# A\n\n## B\n\nText of b.\n\n## C\n\nText of c.", strategy="sections")
    assert chunks[0].text == "# A\n\n## B\n\nText of b."
    assert chunks[0].section == ("A", "B")


def test_structure_keeps_lists_tables_and_code_whole_while_they_fit() -> None:
    table = "| lamp | color |\n|---|---|\n| 1 | red |\n| 2 | green |"
    listing = "```python\ndef lit():\n    # a comment\n    return True\n```"
    items = "- one\n- two\n- three"
    parts = ["# Lamps", "Prose about lamps. " * 12, table, "More prose. " * 14, items, listing]
    text = "\n\n".join(parts)
    chunks = texts(chunk_text(text, strategy="structure(max_tokens=60)"))
    for whole in (table, items, listing):
        assert sum(whole in chunk for chunk in chunks) == 1


def test_a_split_table_repeats_its_header_in_the_context_only() -> None:
    header = "| lamp | color |\n|---|---|"
    rows = "\n".join(f"| lamp {n} | color {n} |" for n in range(40))
    chunks = chunk_text(f"{header}\n{rows}\n", strategy="structure(max_tokens=80)")
    assert len(chunks) > 3
    assert chunks[0].context == ""
    assert chunks[0].text.startswith(header)
    for chunk in chunks[1:]:
        assert chunk.context == header
        assert header not in chunk.text
        assert chunk.index_text == f"{header}\n{chunk.text}"
        assert chunk.text.startswith("| lamp")
        assert chunk.text.endswith("|")


PYTHON = '''import os


class Lamp:
    """A lamp."""

    def light(self):
        return self.on(1)

    def douse(self):
        return self.on(0)


# Said above the function.
@cached
def harbour():
    return [Lamp() for _ in range(3)]
'''


@cases("language", ["python", "cobol"])
def test_code_keeps_functions_and_classes_whole(language: str) -> None:
    strategy = get_strategy("code(max_tokens=40)")
    document = Document("lamp.py", PYTHON, format="code", language=language)
    chunks = list(strategy.chunks(document))
    check_chunks(document, chunks, limit=strategy.limit, overlap=False)
    for whole in (
        "def light(self):\n        return self.on(1)",
        "def harbour():\n    return [Lamp() for _ in range(3)]",
    ):
        assert sum(whole in chunk.text for chunk in chunks) == 1


def test_what_is_said_above_a_function_goes_with_it() -> None:
    document = Document("lamp.py", PYTHON, format="code", language="python")
    last = list(get_strategy("code(max_tokens=40)").chunks(document))[-1]
    assert last.text.startswith("# Said above the function.\n@cached\ndef harbour")


def test_recursive_takes_the_users_own_separators_and_regexes() -> None:
    text = "a=1|b=2|c=3"
    assert texts(chunk_text(text, strategy="recursive(max_tokens=4, tokenizer=characters, separators=['|'])")) == [
        "a=1|", "b=2|", "c=3",
    ]  # fmt: skip
    spec = r"recursive(max_tokens=5, tokenizer=characters, separators=['\\d+;'], regex=True)"
    assert texts(chunk_text("ab12;cd3;e", strategy=spec)) == ["ab12;", "cd3;e"]


def test_recursive_prefers_the_coarsest_separator_that_fits() -> None:
    text = "One a. Two b.\n\nThree c. Four d.\n\nFive e."
    chunks = chunk_text(text, strategy="recursive(max_tokens=18, tokenizer=characters)")
    assert texts(chunks) == ["One a. Two b.", "Three c. Four d.", "Five e."]


def test_min_tokens_merges_fragments_where_the_limit_allows() -> None:
    text = "Tiny.\n\n" + "A longer paragraph stands here, with words. " * 5
    spec = "recursive(max_tokens={}, tokenizer=words, min_tokens=3)"
    loose = chunk_text(text, strategy=spec.format(40))
    assert loose[0].text.startswith("Tiny.\n\nA longer")
    assert all(chunk.token_count <= 40 for chunk in loose)


def test_one_analysis_serves_all_strategies() -> None:
    analyzed = Analyzed(Document("x", HANDBOOK, format="markdown"))
    one = analyzed.measure("o200k_base").starts
    for spec in (
        "sentences(max_tokens=20)",
        "sections(max_tokens=20)",
        "structure(max_tokens=20)",
        "tokens",
    ):
        list(get_strategy(spec).chunks(analyzed))
    assert analyzed.measure("o200k_base").starts is one


def test_text_like_a_special_token_is_text() -> None:
    text = "before <|endoftext|> after"
    assert texts(chunk_text(text, strategy="tokens(tokenizer='cl100k_base')")) == [text]


def test_structure_never_puts_two_sections_together() -> None:
    text = "## Refunds\n\nText a.\n\n## Shipping\n\nText b.\n\n### Abroad\n\nText c.\n"
    chunks = chunk_text(text, strategy="structure(max_tokens=400)")
    assert [chunk.section_path for chunk in chunks] == ["Refunds", "Shipping"]
    assert chunks[1].text.endswith("### Abroad\n\nText c.")
    joined = chunk_text(text, strategy="structure(max_tokens=400, min_tokens=50)")
    assert len(joined) == 1


def test_the_head_of_a_class_stays_with_its_first_part_and_lines_keep_their_indentation() -> None:
    document = Document("lamp.py", PYTHON, format="code", language="python")
    chunks = texts(list(get_strategy("code(max_tokens=30)").chunks(document)))
    assert any(text.startswith('class Lamp:\n    """A lamp."""') for text in chunks)
    assert any(text.startswith("    def douse(self):\n        return") for text in chunks)


def test_long_sentences_repeated_leave_half_of_a_chunk_for_fresh_text() -> None:
    text = " ".join(f"This is sentence {n}, {'and it goes on ' * 9}to its end." for n in range(20))
    chunks = chunk_text(text, strategy="sections(max_tokens=100, overlap_sentences=2)")
    assert len(chunks) > 5
    for before, after in pairwise(chunks):
        assert before.end - after.start <= 0.6 * (after.end - after.start)


@cases(
    "given, label",
    [
        ("sentences", "sentences(max_tokens=400, overlap=50)"),
        ("recursive(overlap_sentences=0)", "recursive(max_tokens=400, overlap=0)"),
        ("recursive(overlap='5%')", "recursive(max_tokens=400, overlap=20)"),
        ("sentences(overlap_sentences=2)", "sentences(max_tokens=400, overlap_sentences=2)"),
        ("words(preset='small')", "words(max_words=200, overlap=30)"),
        ("words(max_words=800, preset='large')", "words(max_words=800, overlap=0)"),
        ("parent_child", "parent_child(max_tokens=100, overlap=0)"),
    ],
)
def test_a_label_shows_size_and_overlap_and_makes_the_strategy_again(
    given: str, label: str
) -> None:
    strategy = get_strategy(given)
    assert strategy.label == label
    again = get_strategy(label)
    assert (again.label, again.limit, again.repeated) == (label, strategy.limit, strategy.repeated)
