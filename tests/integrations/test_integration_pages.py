"""The pages about frameworks, run; and the code that reports offer (`make test-adapters` installs all)."""

import importlib.util
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise.tuning.recommendation_file_and_code import Recommendation, snippets
from tables import cases

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
NEEDS = {
    "dspy": "dspy", "haystack": "haystack", "langchain": "langchain_text_splitters", "llamaindex": "llama_index.core",
}  # fmt: skip
PAGES = [Path(__file__).parents[2] / "docs" / "how-to" / f"{name}.md" for name in NEEDS]
CORPUS = Path(chunkwise.__path__[0]) / "corpus"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "handbook").mkdir()
    for name in ("handbook-leave-and-hours.md", "glossary.md"):
        shutil.copy(CORPUS / name, tmp_path / "handbook")
    (tmp_path / "handbook" / "notes.md").write_text("# Notes\n\nAsk. Your question is welcome.\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@cases("page", PAGES)
def test_the_code_of_a_page_runs(page: Path, work: Path) -> None:
    blocks = BLOCK.findall(page.read_text("utf-8"))
    assert len(blocks) >= 3
    assert f"pip install 'chunkwise[{page.stem}]'" in page.read_text("utf-8")
    for block in blocks:
        compile(block, page.name, "exec")
    if not is_installed(NEEDS[page.stem]):
        pytest.skip(f"{page.stem} is not installed: make test-adapters")
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page.name, "exec"), names)


CHOICES = [
    Recommendation(strategy="sentences(max_tokens=60)", vectors="none", retriever="bm25", k=2),
    Recommendation(
        strategy="structure", vectors="none", retriever="multiscale(dense=0)", budget=80
    ),
    Recommendation(
        strategy="sections", context="headings", vectors="none", retriever="bm25", neighbors=1
    ),
]


@cases("choice", CHOICES)
def test_the_code_of_a_report_finds_what_the_index_finds(
    choice: Recommendation, work: Path
) -> None:
    code = snippets(choice, ("handbook/",))
    ran: dict[str, Any] = {}
    exec(compile(code["Python"], "snippet", "exec"), ran)
    places = [(hit.doc_id, hit.start, hit.end) for hit in ran["hits"]]
    assert places
    if is_installed("langchain_text_splitters"):
        exec(compile(code["LangChain"], "snippet", "exec"), ran)
        found = [each.metadata for each in ran["retriever"].invoke("your question")]
        assert [
            (each["doc_id"], each["start_index"], each["end_index"]) for each in found
        ] == places
        if store := code.get("LangChain, for your own store"):
            exec(compile(store, "snippet", "exec"), ran)
            chunks = list(chunkwise.chunk("handbook/", choice.strategy))
            assert [each.page_content for each in ran["documents"]] == [
                chunk.text for chunk in chunks
            ]
    if is_installed("llama_index.core"):
        exec(compile(code["LlamaIndex"], "snippet", "exec"), ran)
        nodes = [each.node for each in ran["retriever"].retrieve("your question")]
        assert [
            (each.source_node.node_id, each.start_char_idx, each.end_char_idx) for each in nodes
        ] == places
