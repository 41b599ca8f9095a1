"""Any text, in any format, by any strategy: held to the contract of chunks."""

from __future__ import annotations

import random
import warnings
from functools import cache
from importlib.resources import files

from chunkwise import Document
from chunkwise.chunkers import Strategy, strategies
from chunkwise.ext import get_strategy
from chunkwise.testkit import check_chunks
from chunkwise.testkit.hostile import hostile_documents
from hash_embedder import HashEmbedder
from rule_summarizer import FirstSentences
from torture.run import Part

TOKENIZERS = ("o200k_base", "cl100k_base", "words", "characters")
BY_MEANING = ("semantic", "cluster", "raptor")
FORMATS = [
    *(("text", ""), ("markdown", ""), ("pdf", ""), ("rst", ""), ("tex", ""), ("asciidoc", ""), ("org", "")),
    *(("code", language) for language in ("python", "javascript", "ruby", "c", "go", "rust", "java", "")),
]  # fmt: skip
SIGNS = [
    " ", "  ", "\n", "\n\n", "\r\n", "\r", "\t", ".", ". ", "? ", "! ", "…", "。", "।", ",", "; ", ": ",
    ":\n\n", "'", '"', "(", ")", "[", "]", "{", "}", "\n}\n", "\n)\n", "a", "Word", "word", "Dr", "e.g", "U.S",
    "3", "12", "1.", "٣", "é", "e\u0301", "ß", "文", "字", "है", "क्ष", "ไทย", "한국", "👨‍👩‍👧‍👦", "🇩🇪",
    "👍🏽", "\u200d", "\u0301", "\ufeff", "\x00", "\x0c", "\x85", "\u00ad", "\u202e", "\ud800", "\u2028",
    "<|endoftext|>", "# ", "\n# Head\n", "\n## Sub\n\n", "\n===\n", "\n---\n", "```\n", "\n```python\n",
    "~~~\n", "\n- ", "\n* ", "\n1. ", "\n2) ", "\na) ", "\n\t* ", "| a | b |\n|---|---|\n| 1 | 2 |\n", "|",
    "\n    code\n", "> ", "**", "_", "`", "[x](y)", "<!-- ", " -->", '"""', "\n'''\n", "\n.. note::\n\n   ",
    "::\n\n", "\\section{x}", "\\begin{itemize}\n\\item ", "\\end{itemize}", "\n== Head\n", "\n----\n",
    "\n* TODO x\n", "#+BEGIN_SRC\n", "\ndef f(x):\n    ", "\nclass A:\n", "\nfunction f() {\n", "=begin\n",
    "<<~EOS\n", "/*", "*/", "//", "=> ", "internationalisation", "CHAPTER I\n\n", "Section 2.1. ", "Table 3: ",
]  # fmt: skip
RANGES = [
    (0x20, 0x7F),
    (0, 0x100),
    (0x300, 0x370),
    (0x900, 0x980),
    (0x4E00, 0x4F00),
    (0x1F300, 0x1F700),
    (0, 0x110000),
]
STRATEGIES = sorted(strategies.names())
# Those that ask a model take ten times as long, and cut at the same places as the others.
OFTEN = [1 if name in BY_MEANING else 8 for name in STRATEGIES]


@cache
def _prose() -> list[str]:
    """The sample corpus and the hostile documents."""
    corpus = files("chunkwise") / "corpus"
    texts = [file.read_text(encoding="utf-8") for file in corpus.iterdir() if file.is_file()]
    return [*texts, *(document.text for document in hostile_documents() if document.text)]


def any_text(rng: random.Random) -> str:
    """Signs in a row, characters of all of Unicode, and prose that signs were thrown into."""
    kind = rng.random()
    length = rng.randrange(
        rng.choice([6, 20, 80])
    )  # most faults show in short ones, which take little time
    if kind < 0.6:
        return "".join(rng.choices(SIGNS, k=length))
    if kind < 0.75:
        return "".join(chr(rng.randrange(*rng.choice(RANGES))) for _ in range(length))
    pieces = []
    for _ in range(1 + length // 20):
        text = rng.choice(_prose())
        start = rng.randrange(len(text))
        pieces.append(text[start : start + rng.randrange(200)])
        pieces += rng.choices(SIGNS, k=rng.randrange(4))
    return "".join(pieces) * (1 if rng.random() < 0.99 else rng.randrange(2, 40))


def any_strategy(rng: random.Random) -> tuple[str, bool]:
    """A specification, and whether its chunks overlap."""
    [name] = rng.choices(STRATEGIES, OFTEN)
    size = rng.choice([rng.randrange(1, 4), rng.randrange(4, 41), rng.randrange(41, 400)])
    overlap = rng.choice([0, 0, size // 3, size - 1])
    if name in ("characters", "words"):
        unit = {"characters": "max_chars", "words": "max_words"}[name]
        return f"{name}({unit}={size}, overlap={overlap})", overlap > 0
    spec = f"max_tokens={size}, tokenizer={rng.choice(TOKENIZERS)}"
    if name == "tokens":
        return f"tokens({spec}, overlap={overlap})", overlap > 0
    unit = rng.choice(["overlap", "overlap_words", "overlap_sentences"])
    spec = f"{name}({spec}, {unit}={overlap}, min_tokens={rng.randrange(size + 1)})"
    return spec, overlap > 0


def made(spec: str) -> Strategy:
    """The contract does not depend on how good a model is: one that costs nothing will do."""
    model: dict[str, object] = {"model": HashEmbedder()} if spec.startswith(BY_MEANING) else {}
    if spec.startswith("raptor"):
        model |= {"llm": FirstSentences(), "branching": 40, "summary_tokens": 12}
    return get_strategy(spec, **model)


def case(rng: random.Random) -> str:
    """One text, cut once; one in ten a second time."""
    text = any_text(rng)
    format, language = rng.choice(FORMATS)
    spec, overlaps = any_strategy(rng)
    document = Document("any", text, format=format, language=language)
    try:
        strategy = made(spec)
        with warnings.catch_warnings():
            # Of signs alone no summary can be written, and that is told.
            warnings.filterwarnings("ignore", ".*failed: ", UserWarning)
            chunks = list(strategy.chunks(document))
            check_chunks(
                document, chunks, limit=strategy.limit, overlap=overlaps, summary_limit=strategy.summary_limit
            )  # fmt: skip
            if rng.random() < 0.1 and list(strategy.chunks(document)) != chunks:
                raise AssertionError("a second run returned other chunks")
    except Exception as error:
        error.args = (f"{spec} of {format} {language} {text!r}: {error}",)
        raise
    return spec.partition("(")[0]


CHUNKS = Part(
    "chunks",
    "Texts cut",
    "any text in any format, cut by any strategy: spans exact, nothing lost, no limit passed, no cluster cut",
    case,
    block=500,
    hang=120,
)
