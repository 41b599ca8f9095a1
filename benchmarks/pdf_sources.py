"""PDFs whose structure is known: Markdown set by LaTeX, groff, Typst and a browser, with what disturbs readers."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from benchmarks import corpora

HEAD = "Collected Notes on Practice"
"""The running head of every document; it is no part of its text."""
_FILES = 5
"""Of the source in one PDF."""
_CHARACTERS = 45_000
_EVERY = 4
"""Paragraphs from one disturbance to the next."""


class Part(NamedTuple):
    """A heading (level from 1), a paragraph, an item or a piece of code."""

    kind: str
    text: str
    level: int = 0


@dataclass
class Made:
    """A PDF and what it was made from."""

    name: str
    setting: str
    path: Path
    parts: list[Part]
    """Without formulas, figures, tables and notes, which no reader is asked for."""
    numbered: bool = field(default=True)

    @property
    def headings(self) -> list[tuple[int, str]]:
        return [(part.level, part.text) for part in self.parts if part.kind == "heading"]

    @property
    def paragraphs(self) -> list[str]:
        return [part.text for part in self.parts if part.kind == "paragraph"]


_ASCII = str.maketrans("’‘“”–—…\u00a0•→×", "''\"\"--. *>x")
_INLINE = re.compile(
    r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])|<[^<>]*>|\{\s*[#.][^{}]*\}|[*`]|(?<!\w)_|_(?!\w)"
)
_HEADING = re.compile(r"(#{1,4})\s+(\S.*)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+\.)\s+(\S.*)")


def _plain(text: str) -> str:
    """BM25 only, in ASCII: what every setter can set."""
    text = _INLINE.sub(lambda match: match[1] or "", text)
    text = unicodedata.normalize("NFKD", html.unescape(text).translate(_ASCII))
    return " ".join(text.encode("ascii", "ignore").decode().split())


def parts_of(markdown: str) -> Iterator[Part]:
    """Headings, paragraphs, items and code; all else is left out."""
    fence, lines = "", list[str]()
    for line in [*markdown.split("\n"), ""]:
        if fence:
            if line.strip().startswith(fence):
                fence = ""
                yield Part("code", "\n".join(lines[:12]))
                lines = []
            elif line.strip():
                lines.append(_plain(line)[:60])
            continue
        heading, item = _HEADING.match(line), _ITEM.match(line)
        if line.strip() and not (
            heading or item or line[:1] in "|<!>:/" or line.startswith(("```", "    ", "{{"))
        ):
            lines.append(line)
            continue
        text = _plain(" ".join(lines))
        if len(text) > 40:
            yield Part("paragraph", text)
        lines = []
        if line.strip().startswith("```"):
            fence = "```"
        elif heading and _plain(heading[2]):
            yield Part("heading", _plain(heading[2])[:80], len(heading[1]))
        elif item and len(_plain(item[1])) > 3:
            yield Part("item", _plain(item[1]))


def documents(source: str) -> Iterator[list[Part]]:
    """A few files of a book each, with a list of references and an appendix behind them."""
    path = corpora.SHARED / source / "corpus.jsonl"
    with path.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    for first in range(0, len(texts) - _FILES, _FILES):
        found: list[Part] = []
        size = 0
        for text in texts[first : first + _FILES]:
            for part in parts_of(text):
                if size < _CHARACTERS and (part.kind != "heading" or part.level <= 3):
                    found.append(part)
                    size += len(part.text)
        # The first heading is of the first level, and none skips one.
        depth, kept = 0, list[Part]()
        for part in found:
            if part.kind == "heading":
                part = part._replace(level=min(part.level, depth + 1))
                depth = part.level
            if depth:
                kept.append(part)
        while kept and kept[-1].kind == "heading":
            kept.pop()
        kinds = [part.kind for part in kept]
        if kinds.count("heading") >= 8 and kinds.count("paragraph") >= 40:
            yield [
                *kept,
                Part("heading", "References", 1),
                *(
                    Part(
                        "item",
                        f"A. Smith and B. Jones. Results of study number {n}. Journal of Studies, {1990 + n}.",
                    )
                    for n in range(6)
                ),
                Part("appendix", "Tables of Results", 1),
                Part(
                    "paragraph",
                    "This appendix has what was left out above, in the order in which it was left out.",
                ),
            ]


_WORDS = "soon often then again perhaps never also rarely always still".split()


def _disturbance(template: str, number: str) -> str:
    """No note is that of another page."""
    word = " ".join(_WORDS[int(number) // _EVERY**2 // 10**power % 10] for power in range(2))
    return template.replace("%s", number).replace("%w", word)


def _disturbed(parts: list[Part]) -> Iterator[Part]:
    """The parts with a formula, a figure, a table or a note behind every fourth paragraph."""
    count = 0
    for part in parts:
        yield part
        if part.kind == "paragraph":
            count += 1
            if count % _EVERY == 0:
                yield Part(("formula", "figure", "table", "note")[count // _EVERY % 4], str(count))


# LaTeX

_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    mark: "\\" + mark for mark in "{}$&#_%"
}


def _tex(text: str) -> str:
    text = "".join(_TEX.get(each, each) for each in text)
    return (
        text.replace("<", r"\textless{}")
        .replace(">", r"\textgreater{}")
        .replace('"', "''")
        .replace("|", r"\textbar{}")
    )


_NOTE = "A note to number %s, which stands at the foot of its page, and %w goes on in a second line here."
_TEX_EXTRAS = {
    "formula": r"\begin{equation} E_{%s} = \sum_{i=1}^{n} \frac{x_i^2 + 3}{2 A_i} \end{equation}",
    "figure": r"""\begin{figure}[h]\centering\setlength{\unitlength}{1pt}\begin{picture}(160,60)
\put(0,40){\framebox(40,16){Input}}\put(60,40){\framebox(40,16){\textbf{MODEL}}}
\put(120,40){\framebox(40,16){Output}}
\put(50,5){\footnotesize Phase A}\end{picture}\caption{How the parts of step %s work together}\end{figure}""",
    "table": r"""\begin{center}\begin{tabular}{lrr}\hline Name & Size & Share\\\hline Alpha & %s & 1.0\\
Beta & 20 & 2.0\\
Gamma rays & 30 & 3.5\\\hline\end{tabular}\end{center}""",
    "note": rf"\footnote{{{_NOTE}}}",
}


def _latex(parts: list[Part], *, options: str, kind: str) -> str:
    commands = (
        ["chapter", "section", "subsection"]
        if kind == "book"
        else ["section", "subsection", "subsubsection"]
    )
    out = [
        rf"\documentclass[{options}]{{{kind}}}\pagestyle{{myheadings}}",
        rf"\markboth{{{HEAD}}}{{{HEAD}}}\sloppy\begin{{document}}",
    ]
    for part in _disturbed(parts):
        if part.kind == "heading":
            star = "*" if part.text == "References" else ""
            out.append(rf"\{commands[part.level - 1]}{star}{{{_tex(part.text)}}}")
        elif part.kind == "appendix":
            out.append(rf"\appendix\{commands[0]}{{{_tex(part.text)}}}")
        elif part.kind == "item":
            out.append(rf"\begin{{itemize}}\item {_tex(part.text)}\end{{itemize}}")
        elif part.kind == "code":
            out.append("\\begin{verbatim}\n" + part.text[:600] + "\n\\end{verbatim}")
        elif part.kind in _TEX_EXTRAS:
            extra = _disturbance(_TEX_EXTRAS[part.kind], part.text)
            if part.kind == "note":
                out[-1] = out[-1].rstrip() + extra
            else:
                out.append(extra)
        else:
            out.append(_tex(part.text))
    return "\n\n".join([*out, r"\end{document}"])


def _run_latex(text: str, path: Path) -> None:
    path.with_suffix(".tex").write_text(text, encoding="utf-8")
    command = [
        "pdflatex",
        "-interaction=batchmode",
        f"-output-directory={path.parent}",
        str(path.with_suffix(".tex")),
    ]
    subprocess.run(command, stdout=subprocess.DEVNULL, timeout=120, check=False)


# groff

_GROFF_EXTRAS = {
    "formula": "\n.EQ (%s)\nE = sum from i=1 to n {x sub i sup 2 + 3} over {2 A sub i}\n.EN",
    "figure": "\n.DS C\nInput        MODEL        Output\n"
    "Phase A\n.ft B\nFigure %s. How the parts work together\n.ft R\n.DE",
    "table": "\n.TS\ncenter;\nlB rB rB\nl r r.\nName\tSize\tShare\n"
    "Alpha\t%s\t1.0\nBeta\t20\t2.0\nGamma rays\t30\t3.5\n.TE",
    "note": f"\n.FS\n{_NOTE}\n.FE",
}


def _groff(parts: list[Part], *, columns: int) -> str:
    def said(text: str) -> str:
        text = text.replace("\\", "\\e")
        return "\\&" + text if text[:1] in ".'" else text

    out = [f".ds LH {HEAD}", ".ds CH", ".ds RH \\n%", ".ds CF", ".nr PS 10", ".nr VS 12", "\\&"]
    out += [".2C"] if columns == 2 else []
    for part in _disturbed(parts):
        if part.kind == "heading":
            macro = ".SH" if part.text == "References" else f".NH {part.level}"
            out += [macro, said(part.text)]
        elif part.kind == "appendix":
            out += [".SH", f"Appendix A. {said(part.text)}"]
        elif part.kind == "item":
            out += [".IP \\(bu 2", said(part.text)]
        elif part.kind == "code":
            out += [".LD", *(said(line) for line in part.text.split("\n")), ".DE"]
        elif part.kind in _GROFF_EXTRAS:
            out.append(_disturbance(_GROFF_EXTRAS[part.kind].lstrip("\n"), part.text))
        else:
            out += [".PP", said(part.text)]
    return "\n".join([*out, ""])


def _run_groff(text: str, path: Path) -> None:
    with path.open("wb") as out:
        command = ["groff", "-ms", "-e", "-t", "-Tpdf", "-P-pa4"]
        subprocess.run(
            command,
            input=text.encode(),
            stdout=out,
            stderr=subprocess.DEVNULL,
            timeout=60,
            check=False,
        )


# Typst

_TYPST_EXTRAS = {
    "formula": "$ E_%s = sum_(i=1)^n (x_i^2 + 3) / (2 A_i) $",
    "figure": "#figure(grid(columns: 3, gutter: 12pt, rect[Input], rect[*MODEL*], "
    "rect[Output]), caption: [How step %s works])",
    "table": "#table(columns: 3, [*Name*], [*Size*], [*Share*], "
    "[Alpha], [%s], [1.0], [Beta], [20], [2.0], [Gamma], [30], [3.5])",
    "note": f"#footnote[{_NOTE}]",
}


def _typst(parts: list[Part], *, columns: int, numbered: bool, size: int) -> str:
    def said(text: str) -> str:
        return f"#{json.dumps(text)}"

    out = [
        f'#set page(paper: "a4", columns: {columns}, header: align(center, text(8pt)[{HEAD}]), numbering: "1 / 1")',
        f"#set text(size: {size}pt)\n#set par(justify: true)",
        *(['#set heading(numbering: "1.1")'] if numbered else []),
    ]
    for part in _disturbed(parts):
        if part.kind == "heading":
            number = ", numbering: none" if part.text == "References" else ""
            out.append(f"#heading(level: {part.level}{number}, {json.dumps(part.text)})")
        elif part.kind == "appendix":
            out.append(
                f"#heading(level: 1, numbering: none, {json.dumps('Appendix A: ' + part.text)})"
            )
        elif part.kind == "item":
            out.append(f"- {said(part.text)}")
        elif part.kind == "code":
            out.append(f"#raw(block: true, {json.dumps(part.text)})")
        elif part.kind in _TYPST_EXTRAS:
            extra = _disturbance(_TYPST_EXTRAS[part.kind], part.text)
            if part.kind == "note":
                out[-1] += extra
            else:
                out.append(extra)
        else:
            out.append(said(part.text))
    return "\n\n".join(out)


def _run_typst(text: str, path: Path) -> None:
    import typst

    path.with_suffix(".typ").write_text(text, encoding="utf-8")
    typst.compile(str(path.with_suffix(".typ")), output=str(path))


# A browser

_HTML_EXTRAS = {
    "formula": "<p class=f><i>E</i> = 3<i>x</i> + 2<i>A</i> &nbsp; (%s)</p>",
    "figure": "<div class=g><span>Input</span><span><b>MODEL</b></span><span>Output</span></div>"
    "<p class=c>Figure %s: How the parts work</p>",
    "table": "<table><tr><th>Name<th>Size<th>Share<tr><td>Alpha<td>%s"
    "<td>1.0<tr><td>Beta<td>20<td>2.0<tr><td>Gamma<td>30<td>3.5</table>",
    "note": "<p class=n>Note: number %s is said in a few more words here.</p>",
}
_STYLE = """@page { size: A4; margin: 22mm 20mm; @top-left { content: "%s"; font-size: 8pt }
@bottom-center { content: counter(page); font-size: 8pt } }
body { font: 10.5pt/1.4 %s; columns: %s; column-gap: 8mm }
h1 { font-size: 20pt } h2 { font-size: 15pt } h3 { font-size: 11.5pt }
.f, .c { text-align: center } .c, .n { font-size: 8.5pt } .g span { border: 1px solid; padding: 4px; margin: 8px }
td, th { padding: 2px 12px } table { border-collapse: collapse; border-top: 1px solid }"""


def _html(parts: list[Part], *, columns: int, font: str) -> str:
    style = _STYLE % (HEAD, font, columns if columns > 1 else "auto")
    out = [f"<!doctype html><meta charset=utf-8><style>{style}</style>"]
    for part in _disturbed(parts):
        text = html.escape(part.text)
        if part.kind == "heading":
            out.append(f"<h{part.level}>{text}</h{part.level}>")
        elif part.kind == "appendix":
            out.append(f"<h1>Appendix A: {text}</h1>")
        elif part.kind == "item":
            out.append(f"<ul><li>{text}</ul>")
        elif part.kind == "code":
            out.append(f"<pre>{text}</pre>")
        elif part.kind in _HTML_EXTRAS:
            out.append(_disturbance(_HTML_EXTRAS[part.kind], part.text))
        else:
            out.append(f"<p>{text}</p>")
    return "\n".join(out)


def _run_browser(text: str, path: Path) -> None:
    page = path.with_suffix(".html")
    page.write_text(text, encoding="utf-8")
    command = [
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--print-to-pdf={path}",
        page.as_uri(),
    ]
    subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=False
    )


Setting = tuple[str, Callable[[list[Part]], str], Callable[[str, Path], None]]
SETTINGS: dict[str, Setting] = {
    "LaTeX article, two columns": (
        "pdflatex", lambda parts: _latex(parts, options="twocolumn,10pt", kind="article"), _run_latex,
    ),
    "Typst, one column": (
        "typst", lambda parts: _typst(parts, columns=1, numbered=True, size=11), _run_typst,
    ),
    "browser, one column": (
        "chromium", lambda parts: _html(parts, columns=1, font="sans-serif"), _run_browser,
    ),
    "LaTeX book": ("pdflatex", lambda parts: _latex(parts, options="11pt", kind="book"), _run_latex),
    "Typst, two columns": (
        "typst", lambda parts: _typst(parts, columns=2, numbered=False, size=10), _run_typst,
    ),
    "groff, one column": ("groff", lambda parts: _groff(parts, columns=1), _run_groff),
    "groff, two columns": ("groff", lambda parts: _groff(parts, columns=2), _run_groff),
    "browser, two columns": (
        "chromium", lambda parts: _html(parts, columns=2, font="serif"), _run_browser,
    ),
}  # fmt: skip


def made(source: str, setting: str, folder: Path, most: int) -> Iterator[Made]:
    """The first documents of a source in one setting; none where its program is not installed."""
    program, write, run = SETTINGS[setting]
    if not (shutil.which(program) or (program == "typst" and find_spec("typst"))):
        return
    for number, parts in enumerate(documents(source)):
        if number == most:
            return
        name = f"{source}-{number}-{''.join(filter(str.isalnum, setting))}"
        path = folder / f"{name}.pdf"
        if not path.exists():
            run(write(parts), path)
        if path.exists() and path.stat().st_size > 1000:
            yield Made(name, setting, path, [_as_heading(part) for part in parts])


def _as_heading(part: Part) -> Part:
    return part._replace(kind="heading") if part.kind == "appendix" else part
