"""Splitters of other frameworks as strategies: places held against the truth (`make test-adapters` installs them)."""

import json
import pickle
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import chunkwise
from chunkwise.base.allow_hosts_and_code_from_files import distrust, named_by_user
from chunkwise.base.errors import ChunkwiseError, MissingExtra, NotAllowed, UnknownName
from chunkwise.chunkers.third_party_splitters import OtherSplitter
from chunkwise.chunkers.third_party_splitters import _located as located
from chunkwise.chunkers.third_party_splitters import _Overlap as Overlap
from chunkwise.chunkers.third_party_splitters import _SplitText as SplitText
from chunkwise.cli.main import group as main_group
from chunkwise.core import Document
from chunkwise.testkit.hostile import hostile_documents
from tables import cases
from untimed import is_linear

INSTALLED = {
    "langchain": "langchain_text_splitters", "llamaindex": "llama_index.core", "haystack": "haystack"
}  # fmt: skip


def test_a_package_that_is_missing_is_told_with_the_command_that_installs_it() -> None:
    for library, module in INSTALLED.items():
        try:
            __import__(module)
        except ImportError:
            with pytest.raises(MissingExtra, match=rf"pip install 'chunkwise\[{library}\]'"):
                chunkwise.ext.get_strategy(f"{library}:SentenceSplitter")


def test_a_file_names_splitters_of_the_text_alone() -> None:
    """Whether they are installed or not: others load models, which a name in a file may point to."""
    for name in (
        "langchain:SpacyTextSplitter(pipeline='evil')", "langchain:os.system", "haystack:pipeline",
        "llamaindex:LangchainNodeParser", "llamaindex:./own.py:Own", "langchain:./own.py:Own",
    ):  # fmt: skip
        distrust(name, "the index kb")
        with named_by_user({}), pytest.raises(NotAllowed, match="the index kb names"):
            chunkwise.ext.get_strategy(name)


def cut(text: str, size: int, step: int) -> list[tuple[int, int]]:
    """Windows of `size` characters, each `step` behind the one before, without white space at their ends."""
    spans = []
    for start in range(0, len(text), step):
        part = text[start : start + size]
        if part.strip():
            begin = start + len(part) - len(part.lstrip())
            spans.append((begin, begin + len(part.strip())))
        if start + size >= len(text):
            break
    return spans


@given(st.text("ab. \n", min_size=1, max_size=120).filter(str.strip), st.integers(3, 20))
def test_places_are_found_again_with_nothing_but_texts(text: str, size: int) -> None:
    spans = cut(text, size, size)
    found = located(
        [SplitText(text[start:end]) for start, end in spans], Document("d", text), Overlap(0, len)
    )
    assert found == spans


def test_places_of_texts_that_leave_something_out_or_are_changed_or_lost() -> None:
    text = "# Lamps\n\nLamps are  lit.\n\n# Ropes\n\nRopes are tarred. Lamps are  lit.\n"
    given_texts = ["Lamps are lit.", "Ropes are tarred.", "Lamps are lit.", "Oars are kept."]
    found = located([SplitText(each) for each in given_texts], Document("d", text), None)
    assert [None if each is None else text[each.start : each.end] for each in found] == [
        "Lamps are  lit.", "Ropes are tarred.", "Lamps are  lit.", None,
    ]  # fmt: skip
    assert found[0] != found[2]


def test_a_place_that_is_claimed_and_right_is_taken() -> None:
    text = "Yes. No. " * 9
    found = located(
        [SplitText("Yes.", 9), SplitText("No.", 14), SplitText("Yes.", 1)],
        Document("d", text),
        None,
    )
    assert [each and each.start for each in found] == [9, 14, 18]


@cases("repeated", ["word ", "INFO request done\n", "."])
def test_work_grows_with_the_text_however_it_repeats_itself(repeated: str) -> None:
    def work(size: int) -> None:
        text = (repeated * size)[:size]
        parts = [SplitText(text[start:end]) for start, end in cut(text, 100, 80)]
        assert None not in located(parts, Document("d", text), Overlap(20, len))

    is_linear(work, 4_000)


def marked(text: str) -> str:
    """The same length with the same white space, and no other character twice: every piece of it stands once."""
    return "".join(sign if sign.isspace() else chr(0x20000 + at) for at, sign in enumerate(text))


def check_places(text: str, size: int, overlap: int) -> None:
    splitters = pytest.importorskip("langchain_text_splitters")
    plain = splitters.RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap)
    unique = marked(text)
    truth = {
        (unique.find(part), unique.find(part) + len(part)) for part in plain.split_text(unique)
    }
    strategy = (
        f"langchain:RecursiveCharacterTextSplitter(chunk_size={size}, chunk_overlap={overlap})"
    )
    found = chunkwise.chunk_text(text, strategy, format="text")
    assert {(chunk.start, chunk.end) for chunk in found} == truth


@cases("size, overlap", [(100, 0), (60, 10), (40, 15)])
def test_places_are_the_true_ones_however_often_a_text_repeats_itself(
    size: int, overlap: int
) -> None:
    for document in hostile_documents():
        if document.text.strip():
            check_places(document.text, size, overlap)


_WORDS = st.lists(st.sampled_from(["a", "ab", "lamp", "no", "\n", "\n\n"]), max_size=60).map(
    " ".join
)


@given(_WORDS.filter(str.strip), st.integers(8, 30))
def test_places_without_overlap_are_true_in_any_text(text: str, size: int) -> None:
    check_places(text, size, 0)


STRATEGIES = [
    "langchain:RecursiveCharacterTextSplitter(chunk_size=30, chunk_overlap=8, length_function=o200k_base)",
    "langchain:RecursiveCharacterTextSplitter(chunk_size=80, chunk_overlap=0, separators=['\\n', ' ', ''])",
    "llamaindex:SentenceSplitter(chunk_size=60, chunk_overlap=10)",
    "llamaindex:TokenTextSplitter(chunk_size=60, chunk_overlap=10, tokenizer=cl100k_base)",
    "llamaindex:HierarchicalNodeParser(chunk_sizes=[200, 60])",
    "llamaindex:MarkdownNodeParser",
    "haystack:DocumentSplitter(split_length=20, split_overlap=5)",
    "haystack:DocumentSplitter(split_by=line, split_length=3, split_overlap=1)",
]


@cases("name", STRATEGIES)
def test_texts_that_stand_there_are_all_found(name: str) -> None:
    pytest.importorskip(INSTALLED[name.partition(":")[0]])
    strategy = chunkwise.ext.get_strategy(name)
    assert isinstance(strategy.chunker, OtherSplitter)
    assert chunkwise.ext.get_strategy(strategy.label).label == strategy.label
    assert pickle.loads(pickle.dumps(strategy.chunker)) == strategy.chunker
    assert strategy.code  # with the package's version, which an index is held to
    for document in hostile_documents():
        if document.id == "lone surrogate" or not document.text.strip():
            continue  # two of the three cannot hold it
        covered = set()
        chunks = list(strategy.chunks(document))
        for chunk in chunks:
            covered.update(range(chunk.start, chunk.end))
        assert not [
            at for at, sign in enumerate(document.text) if at not in covered and not sign.isspace()
        ], document.id


def test_a_text_that_stands_nowhere_is_said_to_be_lost() -> None:
    pytest.importorskip("langchain_text_splitters")
    name = "langchain:MarkdownHeaderTextSplitter(headers_to_split_on=[['#', 'title']])"
    with pytest.warns(UserWarning, match="1 of them stands nowhere in it"):
        assert chunkwise.chunk_text("One.\rTwo.\r\rThree.\r" * 9, name) == []


def test_what_a_splitter_raises_is_told_with_its_name() -> None:
    pytest.importorskip("langchain_text_splitters")
    for name, message in (
        ("langchain:RecursiveCharacterTextSplitter(chunk_size=10)", "larger chunk overlap"),
        ("langchain:RecursiveCharacterTextSplitter(size=10)", "has no parameter 'size'"),
        ("langchain:RecursiveCharacterTextSpliter", "did you mean RecursiveCharacterTextSplitter"),
        ("langchain:TextSplitter", "t a splitter: it has no"),
    ):
        with pytest.raises(ChunkwiseError, match=message):
            chunkwise.ext.get_strategy(name)
    with pytest.raises(UnknownName, match="unknown strategy 'lanchain:X'"):
        chunkwise.ext.get_strategy("lanchain:X")


PLAN = """
[sweep]
source = "documents"
queries = "queries.json"
objective = "recall@2"
embedder = "none"

[[sweep.chunkers]]
strategy = ["langchain:RecursiveCharacterTextSplitter(chunk_overlap=0)", "sentences(overlap=0)"]
chunk_size = [40, 80]

[sweep.retrieval]
retriever = "bm25"
"""
SENTENCES = (
    "Lamps {0} are lit at dusk.",
    "Bread {0} is baked before dawn.",
    "Ropes {0} are tarred in spring.",
)


@pytest.mark.usefixtures("processes")
def test_they_are_cut_indexed_and_swept_like_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("langchain_text_splitters")
    monkeypatch.chdir(tmp_path)
    Path("documents").mkdir()
    for number in range(3):
        Path(f"documents/{number}.md").write_text("\n\n".join(SENTENCES).format(number))
    name = "langchain:RecursiveCharacterTextSplitter(chunk_size=50, chunk_overlap=20)"
    index = chunkwise.index("documents", name, into="kb", vectors="none")
    assert index.settings.strategy == name
    changes = chunkwise.index("documents", into="kb").changes  # by what its manifest names
    assert changes is not None
    assert not changes.added
    assert chunkwise.open_index("kb").search("who lights the lamps?")
    cut = ["chunk", "documents", "--strategy", name, "--jobs", "2", "-o", "chunks.jsonl"]
    assert CliRunner().invoke(main_group, cut).exit_code == 0
    assert len(Path("chunks.jsonl").read_text().splitlines()) == sum(1 for _ in index.chunks())
    questions = [
        {"query_id": each[:5] + each[6], "query": each, "relevant_text": each}
        for number in range(3)
        for each in (sentence.format(number) for sentence in SENTENCES)
    ]
    Path("queries.json").write_text(json.dumps(questions))
    Path("sweep.toml").write_text(PLAN)
    run = CliRunner().invoke(main_group, ["tune", "sweep.toml", "-o", "out"])
    assert run.exit_code == 0, run.output
    tried = Path("out/results.json").read_text()
    for size in (40, 80):
        assert (
            f"langchain:RecursiveCharacterTextSplitter(chunk_size={size}, chunk_overlap=0)" in tried
        )
