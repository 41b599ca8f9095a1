"""What nobody means who names a folder: pictures, fonts, lock files, minified code, programs, what a tool has built;
and the user's own patterns of what is meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from chunkwise.documents.loader import suffix_of
from chunkwise.documents.patterns import matches, names_a_kind

_KINDS = {
    "picture": "png jpg jpeg gif bmp tif tiff webp ico icns heic heif avif psd ai eps svg svgz xcf raw cr2 nef dng jp2",
    "sound": "mp3 wav flac ogg oga opus m4a aac wma aiff mid midi",
    "video": "mp4 m4v mov avi mkv webm wmv flv mpg mpeg ogv 3gp",
    "font": "ttf otf woff woff2 eot pfb ttc",
    "program or compiled file": "exe dll so dylib a o obj lib class jar war pyc pyo pyd wasm beam elc rlib pdb bin app "
    "msi deb rpm apk dmg iso img",
    "data dump": "npy npz pkl pickle h5 hdf5 hdf mat rdata rds sqlite sqlite3 db mdb dump pt pth "
    "onnx safetensors gguf ckpt tfrecord bson idx pack lmdb",
}
_BY_SUFFIX = {f".{end}": kind for kind, ends in _KINDS.items() for end in ends.split()}
_DRAWN = (".svg", ".svgz", ".ai", ".eps")
"""Pictures made of lines, which no OCR reads."""
_LOCKS = frozenset(
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml poetry.lock pipfile.lock cargo.lock composer.lock "
    "gemfile.lock uv.lock pdm.lock go.sum mix.lock podfile.lock flake.lock bun.lock bun.lockb packages.lock.json "
    "gradle.lockfile conda-lock.yml deno.lock pubspec.lock cartfile.resolved package.resolved".split()
)
_MINIFIED = re.compile(r"[.-]min\.(?:js|css|mjs|cjs)\Z|\.(?:js|css|mjs|cjs)\.map\Z", re.IGNORECASE)
_SCRIPTS = (".js", ".mjs", ".cjs", ".css")
_LONG_LINE = 5_000
"""Bytes; who writes code by hand breaks a line sooner."""
_MANY = {"program or compiled file": "programs and compiled files"}

_BUILT = {
    "dist": ("package.json", "pyproject.toml", "setup.py"),
    "build": (
        "package.json",
        "pyproject.toml",
        "setup.py",
        "build.gradle",
        "build.gradle.kts",
        "CMakeLists.txt",
    ),
    "target": ("Cargo.toml", "pom.xml", "build.sbt"),
    "vendor": ("go.mod", "composer.json", "Gemfile"),
    "bower_components": ("bower.json", "package.json"),
    "Pods": ("Podfile",),
    "_build": ("mix.exs", "dune-project", "conf.py", "Makefile"),
}
"""Folders a tool fills, told by a file beside them: alone their names are anybody's."""
LEFT_OUT_FOLDERS = frozenset(
    {"node_modules", "__pycache__", "__MACOSX", "venv", "CVS", "_darcs", "site-packages"}
)
_EGG = ".egg-info"


def is_left_out(name: str) -> bool:
    """Hidden files, version control, installed packages."""
    return name.startswith(".") or name in LEFT_OUT_FOLDERS or name.endswith(_EGG)


def is_built(name: str, beside: Collection[str]) -> bool:
    """Whether a folder of this name, beside these files, is what a tool made of the others."""
    return any(sign in beside for sign in _BUILT.get(name, ()))


def kind_of_name(name: str) -> str:
    """What is passed over by its name: `picture`, `lock file`; empty for all else."""
    name = name[name.rfind("/") + 1 :].lower()
    if name in _LOCKS:
        return "lock file"
    if _MINIFIED.search(name):
        return "minified file"
    return _BY_SUFFIX.get(suffix_of(name), "")


def is_minified(name: str, head: Callable[[], bytes]) -> bool:
    """Whether a script or a style sheet is one line without end, by its first bytes."""
    if suffix_of(name) not in _SCRIPTS:
        return False
    return max(map(len, head().split(b"\n"))) >= _LONG_LINE


LEFT_OUT = "left out"
"""Why a file is not read that the user's patterns leave out."""


class Choice:
    """Which files below a folder are read: the user's patterns first, then what nobody means."""

    def __init__(
        self, include: Sequence[str] = (), exclude: Sequence[str] = (), *, pictures: bool = False
    ) -> None:
        self._include = tuple(include)
        self._exclude = tuple(exclude)
        self._pictures = pictures

    def why_not(self, path: str, head: Callable[[], bytes], *, named: bool = False) -> str:
        """Empty for a file that is read, else `LEFT_OUT` or its kind; `named`: the user named such files."""
        if any(matches(pattern, path) for pattern in self._exclude):
            return LEFT_OUT
        if self._include:
            fits = [pattern for pattern in self._include if matches(pattern, path)]
            if not fits:
                return LEFT_OUT
            named = named or any(map(names_a_kind, fits))
        if named:
            return ""
        kind = kind_of_name(path)
        if kind == "picture" and self._pictures and suffix_of(path) not in _DRAWN:
            return ""
        return kind or ("minified file" if is_minified(path, head) else "")

    @property
    def patterns(self) -> str:
        """As they are typed."""
        given = [("--include", each) for each in self._include]
        given += [("--exclude", each) for each in self._exclude]
        return " ".join(f"{flag} {pattern!r}" for flag, pattern in given)


def in_words(kinds: Mapping[str, int]) -> str:
    """`12 pictures, 1 lock file`, the most first."""
    counted = sorted(kinds.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(
        f"{count:,} {kind if count == 1 else _MANY.get(kind, f'{kind}s')}"
        for kind, count in counted
    )
