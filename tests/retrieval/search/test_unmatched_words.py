"""Why words of a question find nothing."""

from chunkwise.retrieval.search.unmatched_words import why_unfindable
from tables import cases


@cases(
    "question, languages, word",
    [
        ("to be or not to be", ["en"], "stop words"),
        ("was ist das?", ["de", "en"], "stop words"),
        ("to be or not to be", ["none"], ""),
        ("猫", ["zh"], "single characters"),
        ("猫 犬", ["none"], "single characters"),
        ("猫 a lamp", ["en"], ""),
        ("猫が", ["ja"], ""),
        ("x", ["en"], ""),
        ("7", ["en"], ""),
        ("…?\u200b", ["en"], "no word"),
    ],
)
def test_why_a_question_cannot_be_found_by_words(
    question: str, languages: list[str], word: str
) -> None:
    why = why_unfindable(question, languages)
    assert word in why
    assert bool(why) == bool(word)
