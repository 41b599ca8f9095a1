"""`chunkwise doctor`: on this machine as it is, and with parts taken away."""

import importlib.metadata
import json
import os
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner

from chunkwise.cli import doctor as doctor_module
from chunkwise.cli.doctor import command
from chunkwise.models.llm import local as module
from chunkwise.models.llm.local import LocalModel
from chunkwise.models.weights.catalog import MINILM, SMOLLM2
from chunkwise.models.weights.installed import ensure
from untimed import started_postgres

ROOT = Path(__file__).resolve().parents[2]
KEY = "sk-not-a-real-key-0123456789"


_version, _requires = cache(importlib.metadata.version), cache(importlib.metadata.requires)


@pytest.fixture(autouse=True)
def metadata_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not anew by every run of the command: no package comes or goes between two tests."""
    monkeypatch.setattr(importlib.metadata, "version", _version)
    monkeypatch.setattr(importlib.metadata, "requires", _requires)


def doctor(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(command, list(words), catch_exceptions=False)
    return done.exit_code, done.output


def told(*words: str) -> tuple[int, dict[str, Any]]:
    """Exit status and the findings by name."""
    status, output = doctor(*words, "--json")
    found = json.loads(output)
    assert found["works"] == (status == 0)
    return status, {check["name"]: check for check in found["checks"]}


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home and no keys."""
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CHUNKWISE_MODELS", raising=False)
    for name in ("OPENAI_API_KEY", "CHUNKWISE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


@pytest.fixture
def untried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The language model takes seconds and is read and tried once, by the first test; here it is not."""
    brought = tmp_path / "brought"
    brought.mkdir()
    for name, path in ensure(MINILM).items():
        (brought / name).symlink_to(path)
    monkeypatch.setenv("CHUNKWISE_MODELS", str(brought))
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path / "own"))
    monkeypatch.setattr(doctor_module, "find_spec", lambda name: None)


def test_where_everything_is_here_the_status_is_0(
    monkeypatch: pytest.MonkeyPatch, local_model: LocalModel
) -> None:
    monkeypatch.setattr(module, "packaged", lambda: local_model)  # it is loaded once
    status, found = told()
    assert status == 0
    assert found["embedding"]["state"] == "works"
    assert "384 numbers in" in found["embedding"]["detail"]
    assert found["weights of minilm"]["detail"].startswith("whole")
    assert {name for name, check in found.items() if check["group"] == "extras"} == {
        "parquet", "pandas", "pandoc", "alerts", "code", "postgres", "lancedb", "qdrant", "opensearch", "llm", "ner",
        "sentence-transformers", "fastembed", "studio", "mcp", "mlflow", "otel", "langchain", "llamaindex",
        "haystack", "dspy", "chroma", "milvus", "remote", "ray",
    }  # fmt: skip
    assert found["weights of smollm2"]["detail"].startswith("whole")
    assert found["answering"]["state"] == "works"
    assert "in the form it is held to" in found["answering"]["detail"]
    monkeypatch.setattr(doctor_module, "find_spec", lambda name: None)
    status, shown = doctor()
    assert status == 0
    assert "✓ embedding" in shown
    assert "Embedding and search work on this machine" in shown


@pytest.mark.unwatched
def test_without_weights_it_says_how_to_get_them(bare: Path) -> None:
    status, found = told()
    assert status == 1
    assert found["weights of minilm"]["command"] == "chunkwise models get minilm"
    assert "not here" in found["weights of minilm"]["detail"]
    assert "embedding" not in found
    assert found["cache folder"]["state"] == "works"
    assert not bare.exists()  # looking makes nothing
    status, shown = doctor()
    assert status == 1
    assert "✗ weights of minilm" in shown
    assert "; chunkwise models get minilm" in " ".join(shown.split())


@pytest.mark.unwatched
def test_without_a_language_model_all_else_works(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = bare / "models" / SMOLLM2.name
    found = told()[1]
    assert found["weights of smollm2"]["state"] == "absent"
    assert not found["weights of smollm2"]["needed"]
    assert found["weights of smollm2"]["command"] == "chunkwise models get smollm2"
    kept.mkdir(parents=True)
    (kept / "model.gguf").touch()
    os.truncate(kept / "model.gguf", SMOLLM2.size)
    assert told()[1]["weights of smollm2"]["state"] == "fails"
    assert "answering" not in found


@pytest.mark.usefixtures("untried")
def test_weights_with_a_wrong_byte_are_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = tmp_path / "models" / MINILM.name
    copied.mkdir(parents=True)
    for name, path in ensure(MINILM).items():
        shutil.copy(path, copied / name)
    monkeypatch.delenv("CHUNKWISE_MODELS", raising=False)
    monkeypatch.setenv("CHUNKWISE_HOME", str(tmp_path))
    assert told()[0] == 0
    with (copied / "tokenizer.json").open("r+b") as file:
        file.seek(1000)
        file.write(b"\x00")
    status, found = told()
    assert status == 1
    assert found["weights of minilm"]["state"] == "fails"
    assert "damaged" in found["weights of minilm"]["detail"]


@pytest.mark.usefixtures("untried")
def test_a_missing_extra_comes_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name == "fastembed":
            raise importlib.metadata.PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(importlib.metadata, "version", version)
    status, found = told()
    assert status == 0
    assert "not here: fastembed" in found["fastembed"]["detail"]
    assert found["fastembed"]["state"] == "absent"
    assert found["fastembed"]["command"] == "pip install 'chunkwise[fastembed]'"
    assert found["parquet"]["state"] == "works"


def test_every_extra_that_is_declared_is_looked_at() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    looked_at = {check.name for check in doctor_module.all_checks() if check.group == "extras"}
    assert looked_at == {*declared} - {"all", "dev"}


def test_a_folder_that_cannot_be_used(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare.write_text("a file")
    for place in (bare, bare / "below"):
        monkeypatch.setenv("CHUNKWISE_HOME", str(place))
        status, found = told()
        assert status == 1
        assert found["cache folder"]["state"] == "fails"
        assert "is a file" in found["cache folder"]["detail"]
        assert "CHUNKWISE_HOME" in found["cache folder"]["command"]


@pytest.mark.unwatched
def test_keys_are_told_by_name_only(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for words in ((), ("--json",)):
        output = doctor(*words)[1]
        assert KEY not in output
        assert KEY[:6] not in output
    found = told()[1]
    assert found["OPENAI_API_KEY"]["state"] == "works"
    assert found["CHUNKWISE_API_KEY"]["state"] == "absent"


@pytest.mark.usefixtures("untried")
def test_an_embedding_that_fails_is_told_and_not_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*words: object, **more: object) -> None:
        raise RuntimeError("illegal\x1b[31m instruction")

    monkeypatch.setattr("chunkwise.models.embed.pretrained.PretrainedEmbedder.embed", broken)
    status, found = told()
    assert status == 1
    assert found["embedding"]["detail"] == "RuntimeError: illegal [31m instruction"


@pytest.mark.parametrize(
    "url",
    [f"postgresql://someone:{KEY}@127.0.0.1:1/x", f"host=127.0.0.1 port=1 password={KEY}",
     f"postgresql://someone:{KEY}@[::1/x", f"postgresql://x:{KEY}@127.0.0.1:{KEY}/y",
     f"postgresql://x:%{KEY}@127.0.0.1/y", f"postgresql://127.0.0.1:1/y?password={KEY}"],
)  # fmt: skip
@pytest.mark.usefixtures("untried")
def test_a_server_that_does_not_answer_and_a_password_that_stays_unseen(
    bare: Path, url: str
) -> None:
    status, found = told("--postgres", url)
    assert status == 1
    assert found["server"]["state"] == "fails"
    assert KEY not in json.dumps(found)
    assert KEY not in doctor("--postgres", url)[1]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A real PostgreSQL with pgvector, from its wheel."""
    with tempfile.TemporaryDirectory() as folder:
        started = started_postgres(Path(folder) / "data")
        yield started.get_uri()
        started.cleanup()


@pytest.mark.usefixtures("processes")
@pytest.mark.usefixtures("untried")
def test_a_server_that_answers_with_and_without_pgvector(server: str) -> None:
    status, found = told("--postgres", server)
    assert status == 0
    assert found["server"]["state"] == "works"
    assert found["pgvector"]["state"] == "absent"
    assert "create extension vector" in found["pgvector"]["command"]
    with psycopg.connect(server) as connection:
        connection.execute("create extension vector")
    status, found = told("--postgres", server)
    assert status == 0
    assert found["pgvector"]["state"] == "works"


def test_help_has_examples() -> None:
    status, shown = doctor("--help")
    assert status == 0
    assert "chunkwise doctor --json" in shown


@pytest.mark.usefixtures("processes")
@pytest.mark.unwatched
def test_a_cache_that_is_switched_off_is_told(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKWISE_CACHE", "off")
    assert told()[1]["cache"]["state"] == "works"
    monkeypatch.setenv("CHUNKWISE_CACHE", "maybe")
    status, found = told()
    assert (status, found["cache"]["state"]) == (1, "fails")
    assert "allowed: on, off" in found["cache"]["detail"]
