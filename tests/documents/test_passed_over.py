"""What is read of a folder: what nobody means is counted in one line, the user's patterns come first."""

from __future__ import annotations

import warnings

import pytest

from chunkwise.base.errors import InvalidParameter
from chunkwise.documents import LoadOptions, read
from chunkwise.documents.glob_patterns import matches
from chunkwise.documents.walk import kind_of_name
from documents.office_files import zipped
from tables import cases
from untimed import is_linear

PNG = b"\x89PNG\r\n\x1a\n\0\0"


class Told:
    """Reads inputs and keeps what was said."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.problems: list[str] = []

    def __call__(self, *inputs: object, **options: object) -> list[str]:
        self.lines.clear()
        self.problems.clear()
        chosen = LoadOptions(
            on_passed_over=self.lines.append,
            on_unreadable=lambda problem: self.problems.append(problem.reason),
            **options,  # type: ignore[arg-type]
        )
        found = read([str(each) for each in inputs], chosen)
        return [document.id for document in found]


@pytest.fixture
def told() -> Told:
    return Told()


@cases(
    "name, kind",
    [
        ("a.PNG", "picture"), ("a.svg", "picture"), ("a.mp3", "sound"), ("a.mp4", "video"), ("a.woff2", "font"),
        ("package-lock.json", "lock file"), ("Cargo.lock", "lock file"), ("go.sum", "lock file"),
        ("x/jquery.min.js", "minified file"), ("a.css.map", "minified file"), ("a.so", "program or compiled file"),
        ("a.npy", "data dump"), ("a.md", ""), ("lock.md", ""), ("a.js", ""), ("a.map", ""), ("png", ""), ("a.txt", ""),
        ("a.pdf", ""), ("a.docx", ""), ("a.ipynb", ""),
    ],
)  # fmt: skip
def test_kinds_by_name(name, kind) -> None:
    assert kind_of_name(name) == kind


def test_a_folder_is_read_without_them_and_one_line_says_so(told, write, tmp_path) -> None:
    write("a.md", "words")
    for name in ("a.png", "b.jpg", "sub/c.gif", "yarn.lock", "x.min.js", "f.ttf"):
        write(name, PNG)
    write("one-line.js", "var a=1;" * 2000)
    write("app.js", "var a = 1;\n" * 2000)
    assert told(tmp_path) == ["a.md", "app.js"]
    assert told.problems == []
    assert told.lines == [
        "skipped 3 pictures, 2 minified files, 1 font, 1 lock file; to read a file anyway, give its path"
    ]


def test_from_python_the_line_is_a_warning(write, tmp_path) -> None:
    write("a.md", "words")
    write("a.png", PNG)
    with pytest.warns(UserWarning, match="skipped 1 picture;"):
        assert len(list(read(tmp_path))) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(read(tmp_path / "a.md"))) == 1


def test_what_is_named_is_always_read(told, write, tmp_path) -> None:
    lock = write("yarn.lock", "# yarn lockfile\n")
    script = write("x.min.js", "var a=1;")
    assert told(lock, script) == ["yarn.lock", "x.min.js"]
    assert told(tmp_path / "*.lock") == ["yarn.lock"]
    assert told(tmp_path / "*") == []
    assert told(tmp_path, include=["*.lock"]) == ["yarn.lock"]
    assert told(tmp_path, exclude=["x.*"], include=["*.lock"]) == ["yarn.lock"]
    assert told.lines == []


def test_a_folder_of_nothing_else_says_what_is_in_it(told, write, tmp_path) -> None:
    for number in range(3):
        write(f"{number}.png", PNG)
    assert told(tmp_path) == []
    assert told.problems == ["it contains only 3 pictures; to read a file anyway, give its path"]
    assert told.lines == []


def test_what_a_tool_built_is_told_by_the_file_beside_it(told, write, tmp_path) -> None:
    for name in (
        "js/package.json",
        "js/dist/a.md",
        "rust/Cargo.toml",
        "rust/target/b.md",
        "dist/c.md",
        "target/d.md",
    ):
        write(name, "words")
    for name in ("go/go.mod", "go/vendor/e.md", "x/site-packages/f.md", "y/p.egg-info/g.md"):
        write(name, "words")
    assert [id for id in told(tmp_path) if id.endswith(".md")] == ["dist/c.md", "target/d.md"]
    assert told(tmp_path / "js" / "dist") == ["a.md"]


def test_members_of_archives_are_chosen_alike(told, write) -> None:
    path = write("a.zip", zipped({"a.md": "x", "b.png": PNG, "docs/c.txt": "y", "yarn.lock": "z"}))
    assert told(path) == ["a.zip/a.md", "a.zip/docs/c.txt"]
    assert told.lines == ["skipped 1 lock file, 1 picture; to read a file anyway, give its path"]
    assert told(path, include=("docs",)) == ["a.zip/docs/c.txt"]
    assert told(path, exclude=("*.md", "docs/**")) == []
    (problem,) = told.problems
    assert problem.startswith("exclude '*.md' exclude 'docs/**'")
    assert problem.endswith("all 4 files")


@cases(
    "pattern, fits",
    [
        ("*.md", ["a.md", "x/b.md", "x/y/c.md"]),
        ("x", ["x/b.md", "x/n.txt", "x/y/c.md"]),
        ("x/", ["x/b.md", "x/n.txt", "x/y/c.md"]),
        ("y", ["x/y/c.md"]),
        ("x/*.md", ["x/b.md"]),
        ("x/**/*.md", ["x/b.md", "x/y/c.md"]),
        ("./a.md", ["a.md"]),
        ("/a.md", ["a.md"]),
        ("[ab].md", ["a.md", "x/b.md"]),
        ("*", ["a.md", "x/b.md", "x/n.txt", "x/y/c.md"]),
        ("b", []),
    ],
)
def test_patterns_of_what_is_meant(told, write, tmp_path, pattern, fits) -> None:
    names = ["a.md", "x/b.md", "x/n.txt", "x/y/c.md"]
    for name in names:
        write(name, "words")
    assert [name for name in names if matches(pattern, name)] == fits
    assert told(tmp_path, include=[pattern]) == fits
    assert told(tmp_path, exclude=[pattern]) == [name for name in names if name not in fits]


def test_a_file_that_is_named_is_read_whatever_the_patterns_say(told, write) -> None:
    assert told(write("a.md", "x"), exclude=("*.md",)) == ["a.md"]


def test_patterns_that_leave_nothing_say_so(told, write, tmp_path) -> None:
    write("a.md", "x")
    assert told(tmp_path, include=["*.rst"]) == []
    (problem,) = told.problems
    assert problem.startswith("include '*.rst'")
    write("b.md", "x")
    assert told(tmp_path / "*.md", exclude=("*.md",)) == []
    (problem,) = told.problems
    assert problem.startswith("exclude '*.md'")
    assert problem.endswith("all 2 files")


@cases("pattern", ["", "/", "[z-a]", " "])
def test_a_pattern_that_is_none_is_an_error(pattern) -> None:
    with pytest.raises(InvalidParameter, match=r"pattern|include"):
        LoadOptions(include=[pattern])


@pytest.mark.usefixtures("large_inputs")
def test_patterns_match_in_linear_time() -> None:
    is_linear(lambda n: matches("*a*a*a*.md", "a" * n), 100)
