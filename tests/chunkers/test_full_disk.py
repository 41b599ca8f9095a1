"""A disk without room: said in one line, nothing half is there, and the run goes on where there is room again.

Needs the right to mount a small disk in memory; without it nothing is tried.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("fsspec")

import chunkwise
from chunkwise.options import LoadOptions

pytestmark = pytest.mark.usefixtures("processes")

Resize = Callable[[str], None]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[tuple[Path, Resize]]:
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(place)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("a disk cannot be mounted here: that takes the rights of root")

    def resize(size: str) -> None:
        subprocess.run(["mount", "-o", f"remount,size={size}", str(place)], check=True)

    yield place, resize
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(3_000):
        noise = os.urandom(200).hex()
        (folder / f"{number:04}.md").write_text(f"# Title {number}\n\nText {noise}.\n")
    return folder


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "chunkwise", *words]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("name", ["out", "out.parquet", "out.jsonl"])
def test_what_is_written(
    disk: tuple[Path, Resize], docs: Path, tmp_path: Path, name: str, jobs: str
) -> None:
    place, resize = disk
    words = ["chunk", str(docs), "-j", jobs, "-o", str(place / name)]
    done = _run(*words)
    assert done.returncode == 1, done.stderr
    (line,) = (each for each in done.stderr.splitlines() if each.startswith("error: "))
    assert line.startswith(f"error: cannot write {place}/{name}")
    assert "No space left on device" in line
    assert "Traceback" not in done.stderr
    if "." in name:
        assert list(place.iterdir()) == []
    else:
        assert not list((place / name).glob("*.parquet"))
        assert not (place / name / "_chunkwise.json").exists()
    resize("100m")
    done = _run(*words)
    assert done.returncode == 0, done.stderr
    assert "3,000 documents, 3,000 chunks" in done.stderr
    if name == "out":
        assert "reused" in done.stderr


def test_a_copy_of_what_lies_in_a_store(
    disk: tuple[Path, Resize], monkeypatch: pytest.MonkeyPatch
) -> None:
    import fsspec

    files = fsspec.filesystem("memory")
    with files.open("/full/long.md", "wb") as out:
        out.write(b"# A\n\nSome words.\n\n" * 1_000_000)
    with files.open("/full/short.md", "wb") as out:
        out.write(b"# B\n\nSome other words.\n")
    monkeypatch.setattr("tempfile.tempdir", str(disk[0]))
    problems: list[str] = []
    try:
        found = list(
            chunkwise.chunk(
                "memory://full",
                options=LoadOptions(on_unreadable=lambda each: problems.append(str(each))),
            )
        )
    finally:
        files.store.clear()
    assert [each.document.id for each in found] == ["short.md"]
    (problem,) = problems
    assert problem.startswith("memory://full/long.md: no room for a copy in ")
    assert problem.endswith("(TMPDIR): no space left on device")
