"""TREC judgments with their topics."""

from pathlib import Path

import pytest

from chunkwise.base.errors import ChunkwiseError
from chunkwise.core import Document, Query, Reference
from chunkwise.testsets.formats import WHOLE, detect
from tables import cases
from testsets.formats.format_files import queries, read, write

QRELS = "301 0 FT-1 1\n301 0 FT-2 0\r\n\n302\t0\tFT-2\t2\n303 0 FT-3 -1\n"
CLASSIC = """<top>
<num> Number: 301
<title> International
 Organized Crime

<desc> Description:
Identify organizations.
</top>

<top><num>302</num><title>Topic: Lamps</title></top>
<TOP><NUM> Number: 303 <TITLE> Third </TOP>
"""
TABLE = "301\tInternational Organized Crime\n302\tLamps\r\n303\tThird\n304\tNever judged\n"
EXPECTED = [
    Query("301", "International Organized Crime", (Reference("FT-1", 0, WHOLE),)),
    Query("302", "Lamps", (Reference("FT-2", 0, WHOLE),)),
    Query("303", "Third"),
]


@cases("topics", [CLASSIC, TABLE])
@cases("given", ["", "qrels.txt", "topics.txt"])
def test_judged_topics_are_read_from_a_folder_or_either_file(
    tmp_path: Path, topics: str, given: str
) -> None:
    (tmp_path / "qrels.txt").write_bytes(b"\xef\xbb\xbf" + QRELS.encode())
    (tmp_path / "topics.txt").write_bytes(topics.encode())
    path = tmp_path / given
    if topics is TABLE and given == "topics.txt":
        return  # a table of two columns alone may be anything
    assert detect(path).name == "trec"
    assert queries("trec", path) == EXPECTED


def test_bad_lines_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("1 0 d1 1\n1 0 d2\n1 0 d2 high\n9 0 d1 1\n")
    (tmp_path / "queries.tsv").write_text("1\tWhy?\nno tab\n\tno id\n")
    drafts, bad = read("trec", tmp_path)
    assert [draft.query.id for draft in drafts] == ["1"]
    places = [each.where.removeprefix(f"{tmp_path}/") for each in bad]
    assert places == [
        *("qrels.txt, line 2", "qrels.txt, line 3", "queries.tsv, line 2"),
        *("queries.tsv, line 3", "qrels.txt, line 4"),
    ]


def test_a_topic_without_a_number_is_told(tmp_path: Path) -> None:
    (tmp_path / "topics.txt").write_text("<top><title> x </top><top><num> 1 <title> y </top>")
    drafts, bad = read("trec", tmp_path / "topics.txt")
    assert [draft.query for draft in drafts] == [Query("1", "y")]
    assert "expected <num> and <title>" in bad[0].reason


def test_topics_without_ends_are_read_in_one_walk(tmp_path: Path) -> None:
    count = 20_000
    tops = "".join(f"<top><num> {n} <title> t{n} <desc> x" for n in range(count))
    (tmp_path / "topics.txt").write_text(tops + "<top><num>" + " " * 200_000 + "<title>")
    drafts, bad = read("trec", tmp_path / "topics.txt")
    assert [draft.query.text for draft in drafts] == [f"t{n}" for n in range(count)]
    assert len(bad) == 1


def test_missing_topics_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(QRELS)
    with pytest.raises(ChunkwiseError, match=r"no topics beside .*topics\.tsv"):
        read("trec", tmp_path / "qrels.txt")


def test_writing_says_what_is_lost(tmp_path: Path) -> None:
    asked = [
        Query("a b", "One\ntwo?", (Reference("d", 0, 2),)),
        Query("2", "?", (Reference("d", 0, 4),)),
    ]
    assert write("trec", tmp_path / "t", asked, [Document("d", "Text")]) == [
        "TREC can't represent ids: question 'a b'",
        "TREC can't represent references as they are: question 'a b'",
    ]
    assert (tmp_path / "t/qrels.txt").read_text() == "a_b 0 d 1\n2 0 d 1\n"
    assert (tmp_path / "t/topics.tsv").read_text() == "a_b\tOne two?\n2\t?\n"
