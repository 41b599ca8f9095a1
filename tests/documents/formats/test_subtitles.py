"""Subtitles: what is said, in paragraphs with their times."""

from __future__ import annotations

import pytest

from chunkwise.documents.formats.subtitles import SubtitleLoader
from chunkwise.documents.loader import LoadOptions
from chunkwise.documents.source import Source
from tables import cases
from untimed import is_linear

SRT = (
    "1\r\n00:00:01,000 --> 00:00:03,000\r\n<i>Good</i> morning,\r\neveryone.\r\n\r\n"
    "2\r\n00:00:03,500 --> 00:00:05,000\r\n{\\an8}We begin.\r\n\r\n3\r\n01:02:03,000 --> 01:02:05,000\r\nLater on.\r\n"
)
VTT = (
    "WEBVTT\n\nNOTE a remark\n\nSTYLE\n::cue { color: red }\n\nintro\n00:01.000 --> 00:02.000 align:start\n"
    "<v Anna>Hello <c.loud>there</c> &amp; you.</v>\n\n00:02.000 --> 00:03.000\n<v Bob>Hi.</v>\n\n"
    "00:03.000 --> 00:04.000\n<v Bob>Hi.</v>\n"
)


def test_cues_are_joined_until_somebody_is_silent(reader, write) -> None:
    document = reader.one(write("a.srt", SRT))
    assert document.text == "[00:00:01] Good morning, everyone. We begin.\n\n[01:02:03] Later on."
    assert document.format == "subtitles"


def test_speakers_part_paragraphs(reader, write) -> None:
    text = reader.one(write("a.vtt", VTT)).text
    assert text == "[00:00:01] Anna: Hello there & you.\n\n[00:00:02] Bob: Hi."


ASS = (
    "\ufeff[Script Info]\nTitle: x\n\n[V4+ Styles]\nStyle: Default,Arial,48\n\n"
    "[Fonts]\nfontname: a.ttf\n!!13E:*2A!A%\n\n"
    "[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
    "Dialogue: 0,0:00:09.50,0:00:11.00,Default,Bob,0,0,0,,{\\i1}Well, yes,{\\i0}\\Nindeed.\n"
    "Comment: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,a remark\n"
    "Dialogue: 0,0:00:01.00,0:00:02.00,Default,Anna,0,0,0,,Hello, you.\n"
    "Dialogue: 0,0:00:03.00,0:00:04.00,Default,,0,0,0,,{\\p1}m 0 0 l 100 0 100 100{\\p0}\n"
)
SBV = "0:00:00.599,0:00:04.160\nHi, my name is Alice\n\n0:00:04.160,0:00:06.770\nand this is John.\n\n1,200 people\n"


def test_dialogue_without_its_fonts_and_drawings(reader, write) -> None:
    text = reader.one(write("a.ass", ASS)).text
    assert text == "[00:00:01] Anna: Hello, you.\n\n[00:00:09] Bob: Well, yes, indeed."
    assert reader(write("b.ssa", "[Events]\nDialogue: 0\n")) == []
    assert reader.reasons[-1].endswith("in [Events]")


def test_lines_of_one_time_stay_in_their_order(reader, write) -> None:
    line = "Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,"
    head = ASS.partition("Dialogue:")[0]
    text = reader.one(write("a.ass", f"{head}{line}Zebra first.\n{line}Apple second.\n")).text
    assert text.index("Zebra") < text.index("Apple")


def test_two_times_with_a_comma_between_them(reader, write) -> None:
    assert (
        reader.one(write("a.sbv", SBV)).text == "[00:00:00] Hi, my name is Alice and this is John."
    )


def test_a_long_speech_is_parted_at_sentences(reader, write) -> None:
    cues = "\n\n".join(
        f"00:{at:02}.000 --> 00:{at + 1:02}.000\nThis is sentence {at:02}." for at in range(58)
    )
    paragraphs = reader.one(write("a.vtt", f"WEBVTT\n\n{cues}\n")).text.split("\n\n")
    assert len(paragraphs) == 2
    assert all(paragraph.endswith(".") for paragraph in paragraphs)


@cases("text", ["words", "WEBVTT", "1\n2\n3\n", "-->", "00:00 --> 00:01\nx", "\n" * 500 + "x"])
def test_what_has_no_times_is_one_line(reader, write, text) -> None:
    assert reader(write("a.srt", text)) == []
    assert reader.reasons[0].startswith("not subtitles: no timestamps such as")


def test_time_is_linear() -> None:
    for part in (
        "00:01.000 --> 00:02.000\na\n\n",
        "<" * 50,
        "-->\n",
        "a\n",
        "00:01.000 --> 00:02.000\n",
    ):

        def work(size: int, part: str = part) -> object:
            text = "00:01.000 --> 00:02.000\nfirst\n\n" + part * size
            source = Source("a", "a.vtt", data=text.encode())
            return list(SubtitleLoader().load(source, LoadOptions(), pytest.fail))

        is_linear(work, 300)
