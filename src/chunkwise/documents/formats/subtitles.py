"""Subtitles (.srt, .vtt, .sbv, .ass, .ssa): what is said as paragraphs, each with the time at which it begins."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

from chunkwise.base.errors import UnreadableDocument
from chunkwise.core import Document
from chunkwise.documents.formats.block_builder import Layout
from chunkwise.documents.loader import LoadOptions, OnUnreadable, SuffixLoader, text_in
from chunkwise.documents.source import Source

_TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIMES = re.compile(rf"\s*{_TIME}(?:\s*-->\s*{_TIME}|,{_TIME}\s*\Z)")
"""With an arrow, or as .sbv has it."""
_TIME_OF_DIALOGUE = re.compile(rf"{_TIME}\Z")
_SPEAKER = re.compile(r"<v(?:\.[^\s>]*)?\s+([^<>]{1,80})>")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>|<[\d:.]+>|\{\\[^{}]{0,200}\}")
_PAUSE = 3.0
"""Seconds of silence behind which another paragraph begins."""
_LONG = 600
"""Characters after which one begins with the next sentence."""
_STOPS = tuple('.!?。！？…"”')


class _Cue(NamedTuple):
    start: float
    end: float
    speaker: str
    text: str


class SubtitleLoader(SuffixLoader):
    """By suffix."""

    suffixes: tuple[str, ...] = (".srt", ".vtt", ".sbv", ".ass", ".ssa")
    guarded = False

    def load(
        self, source: Source, options: LoadOptions, on_unreadable: OnUnreadable
    ) -> Iterator[Document]:
        text = text_in(source, options)
        layout = Layout()
        any_cue = False
        read = _dialogue if source.id.lower().endswith(_DIALOGUES) else _cues
        for paragraph in _paragraphs(read(text.removeprefix("\ufeff"))):
            layout.add("paragraph", paragraph)
            any_cue = True
        if not any_cue:
            why = f"not subtitles: no timestamps such as {_EXAMPLES[read]}"
            raise UnreadableDocument(source.origin, why)
        yield layout.document(source, "subtitles")


def _cues(text: str) -> Iterator[_Cue]:
    """What stands between a line of times and the next blank line."""
    times: re.Match[str] | None = None
    words: list[str] = []
    for line in [*text.splitlines(), ""]:
        match = _TIMES.match(line) if "-->" in line or line[:1].isdigit() else None
        if match or not line.strip():
            if times and words:
                yield _cue(times, words)
            times, words = match, []
        elif times:
            words.append(line.strip())


def _dialogue(text: str) -> Iterator[_Cue]:
    """Lines of SubStation Alpha, by their times; styles, fonts and pictures stand in other sections of the file."""
    columns: list[str] = []
    inside = False
    result = []
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        if line.startswith("["):
            inside = line.strip().lower() == "[events]"
        elif inside and name == "Format":
            columns = [part.strip().lower() for part in rest.split(",")]
        elif inside and name == "Dialogue" and columns:
            row = dict(zip(columns, rest.strip().split(",", len(columns) - 1), strict=False))
            times = [
                _TIME_OF_DIALOGUE.match(row.get(item, "").strip()) for item in ("start", "end")
            ]
            if all(times) and not _DRAWN.search(row.get("text", "")):
                start, end = (_seconds(time.groups()) for time in times if time)
                words = _BREAK.sub(" ", _TAG.sub("", row.get("text", "")))
                speaker = " ".join(row.get("name", "").split())
                result.append(_Cue(start, end, speaker, " ".join(words.split())))
    yield from sorted(result, key=lambda cue: (cue.start, cue.end))


_DIALOGUES = (".ass", ".ssa")
_BREAK = re.compile(r"\\[Nnh]")
_DRAWN = re.compile(r"\\p[1-9]")
"""What follows are the points of a drawing."""
_EXAMPLES = {
    _cues: "00:01:02,000 --> 00:01:04,500",
    _dialogue: "Dialogue: 0,0:01:02.00,0:01:04.50,… in [Events]",
}


def _cue(times: re.Match[str], lines: list[str]) -> _Cue:
    text = " ".join(lines)
    speaker = _SPEAKER.match(text)
    words = " ".join(html.unescape(_TAG.sub("", text)).split())
    given = times.groups()
    start, end = _seconds(given[:4]), _seconds(given[4:8] if given[5] else given[8:])
    return _Cue(start, end, " ".join(speaker[1].split()) if speaker else "", words)


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = (int(part or 0) for part in parts)
    shown = len(parts[3] or "")
    return hours * 3600 + minutes * 60 + seconds + fraction / 10**shown


def _paragraphs(cues: Iterator[_Cue]) -> Iterator[str]:
    open_: list[str] = []
    length = 0
    before: _Cue | None = None
    for cue in cues:
        if not cue.text or (before and cue.text == before.text and open_):
            continue  # one that is shown again, as captions that roll up are
        if (
            before
            and open_
            and (
                cue.start - before.end >= _PAUSE
                or cue.speaker != before.speaker
                or (length >= _LONG and before.text.endswith(_STOPS))
            )
        ):
            yield " ".join(open_)
            open_, length = [], 0
        if not open_:
            open_.append(f"[{_clock(cue.start)}]")
            if cue.speaker:
                open_.append(f"{cue.speaker}:")
        open_.append(cue.text)
        length += len(cue.text)
        before = cue
    if open_:
        yield " ".join(open_)


def _clock(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"
