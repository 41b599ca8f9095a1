"""Install a wheel or an sdist (default: a wheel built now) without extras in a clean environment, and use it there."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

USE = """
import importlib, pkgutil, sys
from pathlib import Path
import chunkwise
assert not {"numpy", "click", "jinja2", "rich", "lxml"} & set(sys.modules), "import chunkwise is not light"
adapters = {f"chunkwise.{name}" for name in ("dspy", "haystack", "langchain", "llamaindex")}
optional = {"chunkwise.__main__", "chunkwise.pytest_plugin", *adapters}
servers = ("chunkwise.mcp_server.", "chunkwise.studio.")  # imported when one is started
for module in pkgutil.walk_packages(chunkwise.__path__, "chunkwise."):
    if module.name not in optional and not module.name.startswith(servers):
        importlib.import_module(module.name)
for name in adapters:
    try:
        importlib.import_module(name)
    except chunkwise.ChunkwiseError as error:
        assert f"pip install 'chunkwise[{name.partition('.')[2]}]'" in str(error), error
    else:
        raise AssertionError(f"what {name} is for should not be here")
assert (Path(chunkwise.__file__).parent / "py.typed").exists()
chunks = list(chunkwise.chunk(chunkwise.__path__[0] + "/corpus"))
assert len(chunks) > 50, len(chunks)
assert all(c.text == c.document.text[c.start:c.end] for c in chunks)
text = "def f():\\n    pass\\n\\n\\ndef g():\\n    pass\\n"
code = chunkwise.Document("a.py", text, format="code", language="python")
assert len(chunkwise.ext.chunk_document(code, "code(max_tokens=6)")) >= 2
try:
    from chunkwise.chunkers.write_chunks import schema
    schema()
except chunkwise.ChunkwiseError as error:
    assert "pip install 'chunkwise[parquet]'" in str(error), error
else:
    raise AssertionError("pyarrow should not be here")
from chunkwise.profiling import profile
from chunkwise.report.profile_report import profile_report
from chunkwise.report.to_html import report_page
found = report_page(profile_report(profile(list(dict.fromkeys(c.document for c in chunks)))))
assert "Start with" in found and "<figure" in found
assert chunks[0].doc_id in chunks[0]._repr_html_()
from chunkwise.models.llm.cost import price_of
from chunkwise.models.llm.prompt import load_prompt, prompt_names
from chunkwise.models.llm.client import read_structured
assert len(prompt_names()) > 5 and all(load_prompt(name).gaps for name in prompt_names())
assert price_of("gpt-4o-mini")
try:
    read_structured("{}", {"type": "object"})
except chunkwise.ChunkwiseError as error:
    assert "pip install 'chunkwise[llm]'" in str(error), error
else:
    raise AssertionError("fastjsonschema should not be here")
print(f"bare wheel: {len(chunks)} chunks from the corpus inside")
"""


def run(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], check=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if len(sys.argv) == 1:
            run(sys.executable, "-m", "build", "--wheel", "--outdir", place, ROOT)
        (package,) = map(Path, sys.argv[1:]) if sys.argv[1:] else place.glob("*.whl")
        venv.create(place / "venv")  # its own pip would take longer than all it has to install
        python = place / "venv" / "bin" / "python"
        pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
        run(*pip, "--constraint", ROOT / "constraints.txt", package)
        run(python, "-c", USE)
        command = place / "venv" / "bin" / "chunkwise"
        run(command, "--version")
        for name in ("ferry-safety-manual.md", "glossary.md"):
            shutil.copy(ROOT / "src" / "chunkwise" / "corpus" / name, place)
        # The default model, whose weights come through pip: no extra may be needed.
        run(
            command,
            "index",
            place / "glossary.md",
            place / "ferry-safety-manual.md",
            "--into",
            place / "kb",
        )
        run(command, "search", place / "kb", "When does the ferry leave?", "-k", "1")


if __name__ == "__main__":
    main()
