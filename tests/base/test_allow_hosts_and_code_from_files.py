"""Names read from files: which of them are followed, and that no way of writing one gets by."""

from __future__ import annotations

import copy
import json
import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.base import allow_hosts_and_code_from_files, spec
from chunkwise.base.allow_hosts_and_code_from_files import (
    ALLOW,
    PROVIDERS,
    Recorded,
    add_named_by_user,
    check_allowed,
    like,
    named_by_user,
    recorded,
    to_allow,
)
from chunkwise.base.errors import NotAllowed
from chunkwise.base.registry import Registry
from chunkwise.chunkers import get_strategy
from chunkwise.metrics.judges.judge import get_judge
from chunkwise.metrics.registry import parse as parse_metric
from chunkwise.models import get_embedder, get_language_model, get_reranker
from chunkwise.retrieval.retrievers import get_retriever
from tables import cases

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
        make(Recorded(name, "the index kb"))
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
        make(Recorded(name, "the index kb"))


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
        get_strategy(Recorded(label, "the index kb"))
    assert not code.exists()


@cases("host", PROVIDERS)
def test_a_provider_s_own_host_is_asked_whoever_names_it(host: str) -> None:
    get_embedder(Recorded(f"https://{host}/v1#m", "kb"), cache=False)


def test_names_of_what_is_installed_are_followed() -> None:
    assert get_strategy(Recorded("sentences(max_tokens=20)", "kb")).label == (
        "sentences(max_tokens=20, overlap=5)"
    )
    get_embedder(Recorded("openai:text-embedding-3-small", "kb"), cache=False)


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
        check_allowed(Recorded(name, "kb"))
    else:
        with pytest.raises(NotAllowed):
            check_allowed({"a": [Recorded(name, "kb")]})


def test_what_a_refusal_says_to_type_is_what_allows_it(
    code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("./mine.py:Mine", "http://127.0.0.1:8/v1#m", "https://evil.example/#m"):
        with pytest.raises(NotAllowed) as refused:
            check_allowed(Recorded(name, "kb"))
        monkeypatch.setenv(ALLOW, str(refused.value).partition("--allow ")[2].split()[0])
        check_allowed(Recorded(name, "kb"))


def test_the_same_name_from_the_user_is_followed(code: Path) -> None:
    made = Registry("part", "chunkwise.nothing", {}, needs=()).get("mine.py:Mine")
    assert made.__name__ == "Mine"
    assert code.exists()


@given(st.text(max_size=20), st.text(min_size=1, max_size=3))
def test_parts_and_copies_of_a_recorded_name_are_recorded(text: str, mark: str) -> None:
    name = Recorded(text, "kb")
    parts = [name.strip(), *name.split(mark), name.partition(mark)[0], name.partition(mark)[2],
             name.rpartition(mark)[0], name.rpartition(mark)[2], copy.deepcopy(name),
             pickle.loads(pickle.dumps(name)), like(name, "other")]  # fmt: skip
    assert all(isinstance(part, Recorded) and part.where == "kb" for part in parts)
    assert name == text
    assert hash(name) == hash(text)
    assert type(like("plain", text)) is str


def test_values_of_a_recorded_specification_are_recorded() -> None:
    name, values = spec.parse(Recorded("a(b='c', d=['e', 1], f=2)", "kb"))
    assert isinstance(name, Recorded)
    assert isinstance(values["b"], Recorded)
    assert [type(each) for each in values["d"]] == [Recorded, int]  # type: ignore[attr-defined]
    assert recorded({"a": ["b", 1]}, "kb") == {"a": ["b", 1]}


@cases("name", [each for each in dir(str) if not each.startswith("__")])
def test_no_method_of_texts_takes_the_mark_away(name: str) -> None:
    arguments = {
        "center": (40,), "count": ("p",), "endswith": (")",), "find": ("p",), "index": ("p",), "join": (["a", "b"],),
        "ljust": (40,), "maketrans": ({},), "partition": (":",), "removeprefix": ("./",), "removesuffix": (")",),
        "replace": ("kb", "x"), "rfind": ("p",), "rindex": ("p",), "rjust": (40,), "rpartition": (":",),
        "startswith": ("p",), "translate": ({},), "zfill": (40,), "format_map": ({},),
    }  # fmt: skip
    made = getattr(Recorded("./kb/m.py:M(a=1)", "kb"), name)(*arguments.get(name, ()))
    for each in made if isinstance(made, list | tuple) else [made]:
        assert not isinstance(each, str) or isinstance(each, Recorded)


@cases(
    "make",
    [
        lambda name: name[2:], lambda name: name + "x", lambda name: "x" + name, lambda name: name * 2,
        lambda name: 2 * name, lambda name: name % (), lambda name: f"{name}", lambda name: name.lower().strip("./")[0],
        lambda name: copy.deepcopy(name), lambda name: pickle.loads(pickle.dumps(name)), os.fspath,
        lambda name: next(iter(name)),
    ],
)  # fmt: skip
def test_no_operator_takes_the_mark_away(make: Callable[[str], str]) -> None:
    made = make(Recorded("./kb/m.py:M", "kb"))
    assert isinstance(made, Recorded)
    assert made.where == "kb"


LOSING: list[Callable[[str], str]] = [
    str, lambda name: "".join([name]), lambda name: f" {name}", lambda name: json.loads(json.dumps(name)),
    lambda name: str(Path(name)) if ".py:" in name else f"{name.partition('#')[0]}#other",
]  # fmt: skip


@cases("lose", LOSING)
@cases("name", ["mine.py:Mine", "https://lost.example/v1#m"])
def test_a_command_follows_no_name_of_a_file_whose_mark_got_lost(
    lose: Callable[[str], str], name: str, code: Path
) -> None:
    bare = lose(recorded(name, "the index kb"))
    with named_by_user({"source": ("docs",), "strategy": "sentences", "other": None}):
        for make in (get_embedder, get_language_model, get_reranker):
            with pytest.raises(NotAllowed, match="the index kb names"):
                make(bare)
        with pytest.raises(NotAllowed, match="the index kb names"):
            check_allowed({"embedder": [bare]})
    assert not code.exists()


def test_what_a_command_or_the_user_s_own_file_names_is_followed_though_an_index_names_it_too(
    code: Path,
) -> None:
    name, address = "mine.py:Mine", "https://both.example/v1#m"
    recorded([name, address], "the index kb")
    check_allowed([name, address])  # no command: whoever calls is the user
    with named_by_user({"strategy": f"semantic(embedder={name!r})", "more": [address]}):
        check_allowed(["./mine.py:Mine", "https://both.example/v2#n"])
        with pytest.raises(NotAllowed):  # a mark that is there counts
            check_allowed(Recorded(address, "the index kb"))
    with named_by_user({"config": recorded(address, "a recommendation")}):
        with pytest.raises(NotAllowed):
            check_allowed(address)
        add_named_by_user({"sweep": {"embedder": address}})
        check_allowed(address)


_words = st.lists(
    st.sampled_from(["a", ".py:", "B", " ", "'", "(", ",", "=", "/", "x.py"]), max_size=9
)


@given(_words.map("".join))
def test_code_is_found_in_a_text_whatever_stands_around_it(text: str) -> None:
    slowly = re.findall(r"[^\s'\"(),=]*\.py:\w*", text)
    assert allow_hosts_and_code_from_files._CODE.findall(text) == slowly


def test_one_long_word_is_looked_through_once() -> None:
    """Where every letter began a search of its own, a megabyte took hours."""
    assert recorded("l" * 2_000_000, "a request") == "l" * 2_000_000
    assert recorded("/a" * 1_000_000, "a request").startswith("/a")
