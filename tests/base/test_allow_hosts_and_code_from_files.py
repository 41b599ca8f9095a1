"""Names read from files: which of them are followed, and that no way of writing one gets by."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base import allow_hosts_and_code_from_files
from chunkwise.base.allow_hosts_and_code_from_files import (
    ALLOW,
    PROVIDERS,
    check_allowed,
    distrust,
    named_by_user,
    to_allow,
    trust,
)
from chunkwise.base.errors import InvalidParameter, NotAllowed
from chunkwise.base.registry import Registry
from chunkwise.chunkers import get_strategy
from chunkwise.metrics.judges.judge import get_judge
from chunkwise.metrics.registry import parse as parse_metric
from chunkwise.models import get_embedder, get_language_model, get_reranker
from chunkwise.options import SearchOptions
from chunkwise.retrieval.retrievers import get_retriever
from tables import cases


@pytest.fixture(autouse=True)
def nobody_named_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allow_hosts_and_code_from_files, "_trusted", set())
    monkeypatch.setattr(allow_hosts_and_code_from_files, "_distrusted", {})


def sent(name: str, origin: str = "the index kb") -> str:
    """The name, which a file has."""
    distrust(name, origin)
    return name


def fetched(make: Any, name: str) -> object:
    """What chunkwise itself makes of a name, whoever calls this test."""
    caller = {"__name__": "chunkwise.anything", "make": make, "name": name}
    return eval("make(name)", caller)


MAKERS = [
    get_strategy,
    get_embedder,
    get_reranker,
    get_language_model,
    get_retriever,
    get_judge,
    parse_metric,
]


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that leaves a trace when it is run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("open('ran', 'w').close()\nclass Mine:\n    pass\n")
    return tmp_path / "ran"


@cases("make", MAKERS)
@cases("name", ["mine.py:Mine", " ./mine.py:Mine", "mine.py:Mine(size=1)"])
def test_code_that_a_file_names_is_run_by_no_kind_of_part(make, name, code: Path) -> None:
    with pytest.raises(NotAllowed, match=r"the index kb names code .*--allow"):
        fetched(make, sent(name))
    assert not code.exists()


@cases("make", [get_embedder, get_reranker, get_language_model])
@cases(
    "name",
    ["https://evil.example/v1#m", "HTTPS://evil.example/v1#m", "http://localhost:1/v1#m(timeout=1)",
     "http://api.openai.com/v1#m", "https://api.openai.com:8443/v1#m", "https://api.openai.com@evil.example/v1#m",
     "https://api.openai.com\\@evil.example/v1#m", "https://api.openai.com.evil.example/v1#m",
     "https://api.openai.com'.evil.example/v1#m", 'https://api.openai.com".evil.example/v1#m',
     "https://api.openai.com'\u3002evil.example/v1#m", "https://api.openai.com'@evil.example/v1#m",
     "https://api.openai.com'", "https://api.openai.com'%2eevil.example/#m", "https://api.openai.com./v1#m",
     "https://api.openai.com\t.evil.example/v1#m", "https://[api.openai.com/v1#m", " https://api.openai.com'@a/v1#m",
     "https:///api.openai.com/v1#m", "https://api.openai.com/,https://evil.example/v1#m", "https://api.openai.com\u2100.evil.example/v1#m",
     "/tmp/m.onnx", "m.gguf", "sentence-transformers:."],
)  # fmt: skip
def test_a_server_or_a_file_that_a_file_names_is_no_model(make, name: str) -> None:
    with pytest.raises(NotAllowed, match="the index kb names a"):
        fetched(make, sent(name))


@cases(
    "label",
    ["semantic(embedder=\"https://api.openai.com'.evil.example/v1#m\")",
     "semantic(embedder='https://evil.example/v1#m')", r"semantic(embedder='\x68ttps://evil.example/v1#m')",
     "semantic(embedder='mine.py:Mine')", r"semantic(embedder='mine\x2epy:Mine')", "raptor(llm='http://127.0.0.1/v1#m')"],
)  # fmt: skip
def test_what_stands_among_the_parameters_of_a_name_is_held_back_too(
    label: str, code: Path
) -> None:
    with pytest.raises(NotAllowed, match="the index kb names"):
        fetched(get_strategy, sent(label))
    assert not code.exists()


@cases("host", PROVIDERS)
def test_a_provider_s_own_host_is_asked_whoever_names_it(host: str) -> None:
    get_embedder(sent(f"https://{host}/v1#m"), cache=False)


def test_names_of_what_is_installed_are_followed() -> None:
    assert get_strategy(sent("sentences(max_tokens=20)")).label == (
        "sentences(max_tokens=20, overlap=5)"
    )
    get_embedder(sent("openai:text-embedding-3-small"), cache=False)


@pytest.mark.parametrize(
    ("allowed", "name", "is_followed"),
    [("mine.py:Mine", "./mine.py:Mine", True), ("./mine.py:Mine", "mine.py:Other", False),
     ("mine.py", "mine.py:Mine", False),
     ("evil.example", "https://evil.example/v1#m", True), ("Evil.Example", "https://evil.EXAMPLE/v1#m", True),
     ("evil.example", "http://evil.example/v1#m", False), ("http://evil.example", "http://evil.example/v1#m", True),
     ("evil.example", "https://evil.example:8443/v1#m", False),
     ("x, evil.example:8443 ", "https://evil.example:8443/#m", True),
     ("evil.example", "https://evil.example.org/v1#m", False), ("", "https:///v1#m", False)],
)  # fmt: skip
def test_what_the_user_allows_is_followed_and_nothing_like_it(
    allowed: str, name: str, is_followed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ALLOW, allowed)
    assert bool(to_allow(name)) is not is_followed
    if is_followed:
        check_allowed(sent(name))
    else:
        with pytest.raises(NotAllowed):
            check_allowed({"a": [sent(name)]})


def test_what_a_refusal_says_to_type_is_what_allows_it(
    code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("./mine.py:Mine", "http://127.0.0.1:8/v1#m", "https://evil.example/#m"):
        with pytest.raises(NotAllowed) as refused:
            check_allowed(sent(name))
        monkeypatch.setenv(ALLOW, str(refused.value).partition("--allow ")[2].split()[0])
        check_allowed(sent(name))


def test_the_same_name_from_the_user_is_followed(code: Path) -> None:
    made = Registry("part", "chunkwise.nothing", {}, needs=()).get("mine.py:Mine")
    assert made.__name__ == "Mine"
    assert code.exists()


@cases("name", ["mine.py:Mine", "https://named.example/v1#m"])
def test_a_command_follows_what_its_own_words_or_the_user_s_file_name_and_nothing_else(
    name: str, code: Path
) -> None:
    distrust([name], "the index kb")
    with named_by_user({"source": ("docs",), "strategy": "sentences", "other": None}):
        get_strategy_fails(name)
        for make in (get_embedder, get_language_model, get_reranker):
            with pytest.raises(NotAllowed, match="the index kb names"):
                make(f" {name}")
        with pytest.raises(NotAllowed, match="the index kb names"):
            check_allowed({"embedder": [name]})
        trust({"sweep": {"embedder": name}})
        check_allowed(name)
    assert not code.exists()
    with named_by_user({"strategy": f"semantic(embedder={name!r})"}):
        check_allowed(name)
        with pytest.raises(NotAllowed, match="a request names"):  # whatever the user named
            check_allowed(name, "a request")


def get_strategy_fails(name: str) -> None:
    """In a command only its words count, not what code that it runs calls."""
    with pytest.raises(NotAllowed):
        get_strategy(f"semantic(embedder={name!r})")


def test_what_the_user_s_program_names_is_followed_though_an_index_names_it_too(code: Path) -> None:
    distrust("mine.py:Mine", "the index kb")
    with pytest.raises(NotAllowed):
        fetched(get_strategy, "mine.py:Mine")
    assert not code.exists()
    with pytest.raises(InvalidParameter, match="not a valid strategy"):
        get_strategy("mine.py:Mine")
    assert code.exists()


def test_names_in_a_value_of_options_are_the_user_s_too() -> None:
    name = "https://named.example/v1#m"
    distrust(name, "the index kb")
    with named_by_user([SearchOptions(reranker=name)]):
        check_allowed(name)


_words = st.lists(
    st.sampled_from(["a", ".py:", "B", " ", "'", "(", ",", "=", "/", "x.py"]), max_size=9
)


@given(_words.map("".join))
def test_code_is_found_in_a_text_whatever_stands_around_it(text: str) -> None:
    slowly = re.findall(r"[^\s'\"(),=]*\.py:\w*", text)
    assert allow_hosts_and_code_from_files._CODE.findall(text) == slowly


def test_one_long_word_is_looked_through_once() -> None:
    """Where every letter began a search of its own, a megabyte took hours."""
    check_allowed("l" * 2_000_000, "a request")
    check_allowed("/a" * 1_000_000, "a request")
