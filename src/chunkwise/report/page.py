"""Templates filled in, as pages that need nothing else; texts are shown, never obeyed.

Templates escape everything, and every text they show is first put on one line without control characters.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import lru_cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from chunkwise.base import wording
from chunkwise.report.sanitize import clean_lines, one_line

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


# "<" could end the script element; the rest would reorder the page's source or not be UTF-8.
_UNSAFE = re.compile("[<>&\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
_BETWEEN_TAGS = re.compile(r"(?<=[>}])[ \t]*\n\s*(?=[<{])")
_WHOLE_PAGE = re.compile(r"(?<![\w.#-])(?::root|html|body|main)(?![\w-])(?=[ ,{])")


OWN = "chunkwise.report"


def rendered(template: str, package: str, **values: object) -> str:
    """A template filled in, by the rules of all pages.

    One of the same name in `package` stands for ours: so a page that extends "base.html.j2" is drawn inside another
    frame.
    """
    return _environment(package).get_template(template).render(nav=[], **values)


def stream(template: str, **values: object) -> Iterator[str]:
    """The same in pieces, as they are made."""
    return _environment().get_template(template).generate(**values)


def asset(*names: str) -> str:
    """Styles or scripts that come with the package, one behind the other."""
    folder = files(OWN) / "assets"
    return "".join((folder / name).read_text(encoding="utf-8") for name in names)


def _in_scope(*names: str) -> str:
    """Scripts that share names with each other and with nothing else."""
    folder = files(OWN) / "assets"
    texts = "\n".join((folder / name).read_text(encoding="utf-8") for name in names)
    return f"(() => {{\n{texts}}})();\n"


def scoped_style(scope: str, *names: str) -> str:
    """Rules of pages nested in one: what they say of the whole page, they say of the element of this class."""
    return f".{scope} {{\n{_WHOLE_PAGE.sub('&', asset(*names))}}}\n"


def policy(style: str, script: str = "") -> str:
    """Only these two texts may style or run anything: whatever a question or a document holds stays text."""
    scripts = f" script-src '{_hash(script)}';" if script else ""
    return (
        f"default-src 'none'; style-src '{_hash(style)}';{scripts} "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _shown(value: object) -> object:
    """What every `{{ }}` goes through before it is escaped."""
    if isinstance(value, str):
        return value if hasattr(value, "__html__") else one_line(value)
    if value is None:
        raise TypeError("a template renders None")
    return value


@lru_cache(maxsize=4)
def _environment(package: str = OWN) -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        loader=FunctionLoader(partial(_source, package)),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.do"],
    )
    made.filters |= {
        "breakable": _breakable,
        "counted": wording.counted,
        "line": one_line,
        "lines": _lines,
        "number": wording.thousands,
        "score": _score,
        "script_json": _script_json,
        "sortable": lambda value: "" if value is None else f"{value:.6g}",
    }
    made.globals |= {
        "asset": lambda *names: _trusted(asset(*names)),
        "asset_in_scope": lambda *names: _trusted(_in_scope(*names)),
        "policy": lambda style, script: _trusted(policy(style, script)),
    }
    return made


def _source(package: str, name: str) -> tuple[str, str, None]:
    """A template; line breaks between two tags are for its readers, and become comments."""
    file = files(package) / "templates" / name
    if not file.is_file():
        file = files(OWN) / "templates" / name
    text = file.read_text(encoding="utf-8")
    # So that an error names the line it has in the file.
    return (
        _BETWEEN_TAGS.sub(lambda gap: "{#" + "\n" * gap[0].count("\n") + "#}", text),
        str(file),
        None,
    )


def _script_json(value: object) -> Markup:
    return _trusted(script_json(value))


def script_json(value: object) -> str:
    """JSON for a script element: no markup, no line separators, no lone surrogates."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_fields)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _fields(value: Any) -> dict[str, Any]:
    if not is_dataclass(value):
        raise TypeError(f"{type(value).__name__} is not JSON: {value!r:.80}")
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _trusted(text: str) -> Markup:
    """HTML, styles and scripts of our own."""
    from markupsafe import Markup

    return Markup(text)


def _breakable(name: str) -> Markup:
    """The name of a metric, which may be broken behind its dots and underscores."""
    from markupsafe import Markup, escape

    text = str(escape(one_line(name)))
    return Markup(text.replace("_", "_<wbr>").replace(".", ".<wbr>").replace("@", "<wbr>@"))


def _score(value: float | None, metric: str) -> str:
    # Metrics import numpy, which the first page of a studio need not wait for.
    from chunkwise.metrics.registry import format_score

    return format_score(metric, value)


def _lines(text: str) -> Markup:
    """Escaped, with its line ends; empty lines are one."""
    from markupsafe import escape

    return escape(clean_lines(text))


def code_lines(text: str) -> Markup:
    """Line by line as it is, with what it is indented by."""
    from markupsafe import escape

    return escape(
        "\n".join(
            " " * (len(line) - len(line.lstrip(" "))) + one_line(line.lstrip(" "))
            for line in text.splitlines()
        )
    )
