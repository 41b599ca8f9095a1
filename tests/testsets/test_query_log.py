"""What people asked: spellings counted once, near-duplicates joined, clusters made, a sample that keeps frequencies."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.testsets.query_log import (
    LiveQuery,
    QueryLog,
    grouped,
    read_query_log,
    sampled,
    without_private,
)
from hash_embedder import PlainHashEmbedder
from how_many import examples
from tables import cases
from untimed import is_linear

ENGLISH = (
    "Who approves leave?",
    "who approves leave",
    "  WHO approves\tleave??  ",
    "“Who approves leave?”",
)


def read(
    tmp_path: Path, text: str | bytes, name: str = "log.jsonl", **options: str
) -> tuple[QueryLog, list[str]]:
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    bad: list[str] = []
    return read_query_log(str(file), bad.append, **options), bad  # type: ignore[arg-type]


def test_one_question_in_four_spellings_is_one(tmp_path: Path) -> None:
    log, bad = read(tmp_path, "\n".join(json.dumps({"query": text}) for text in (*ENGLISH, ENGLISH[0])))  # fmt: skip
    assert bad == []
    (query,) = log.spellings()
    assert (query.text, query.asked) == ("Who approves leave?", 5)


@cases(
    "name, text",
    [
        ("log.jsonl", '{"question": "a b"}\n{"q": "c d", "count": 3}\n'),
        ("log.json", '[{"user_input": "a b"}, {"prompt": "c d", "times": "3"}]'),
        ("log.csv", "when,query,count\n1,a b,1\n2,c d,3\n"),
        ("log.txt", "a b\nc d\nc d\nc d\n"),
        ("log.tsv", "Query\tcount\na b\t1\nc d\t3.0\n"),
    ],
)
def test_fields_are_found_in_whatever_form_the_log_has(tmp_path: Path, name: str, text: str) -> None:  # fmt: skip
    log, bad = read(tmp_path, text, name)
    assert bad == []
    assert [(each.text, each.asked) for each in log.spellings()] == [("c d", 3), ("a b", 1)]


def test_a_field_inside_another_can_be_named(tmp_path: Path) -> None:
    line = json.dumps({"query": "no", "request": {"body": {"ask": "yes"}, "n": 7}})
    log, _ = read(tmp_path, line, query_field="request.body.ask", count_field="request.n")
    assert [(each.text, each.asked) for each in log.spellings()] == [("yes", 7)]


def test_a_bad_entry_costs_only_itself(tmp_path: Path) -> None:
    lines = [
        b'{"query": "good one"}', b"{broken", b'{"query": 5}', b'{"other": "x"}', b"[1, 2]", b'{"query": null}',
        b'{"query": "\xff\xfe"}', b'{"query": "two", "count": -4}', b'{"query": "two", "count": 1e400}',
        b'{"query": "good two", "count": 2}', b'{"query": "\\ud800 half"}',
    ]  # fmt: skip
    log, bad = read(tmp_path, b"\n".join(lines))
    assert {each.text for each in log.spellings()} == {"good one", "good two", "� half"}
    assert len(bad) == 8
    assert all("log.jsonl, line " in line for line in bad)


def test_a_log_without_any_question_says_how_to_name_the_field(tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match="--query-field"):
        read(tmp_path, '{"body": "a b"}\n{"body": "c d"}\n')
    assert read(tmp_path, '{"body": "a b"}\n', query_field="body")[0].total == 1


def test_what_is_long_or_has_no_word_is_counted(tmp_path: Path) -> None:
    log, bad = read(tmp_path, f"fine\n{'x ' * 400}\n???\n  …  \n\n\x1b[31m\n", "log.txt")
    assert bad == []
    assert (log.rows, log.too_long, log.wordless) == (5, 1, 2)
    assert [each.text for each in log.spellings()] == ["[31m", "fine"]


@cases(
    "text, shown, kinds",
    [
        ("why is sk-abcdEFGH1234567890 refused?", "why is [key] refused?", {"key"}),
        ("use password=hunter2 now", "use password=[key] now", {"key"}),
        ("my password is hunter2", "my password is [key]", {"key"}),
        ("is a password required?", "is a password required?", set()),
        ("what is the key to success", "what is the key to success", set()),
        ("mail to ann.b@example.org please", "mail to [email] please", {"email"}),
        ("card 4111 1111 1111 1111 declined", "card [card] declined", {"card"}),
        ("order 4111 1111 1111 1112 late", "order 4111 1111 1111 1112 late", set()),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc fails", "[key] fails", {"key"}),
        ("ticket 123e4567-e89b-12d3-a456-426614174000", "ticket 123e4567-e89b-12d3-a456-426614174000", set()),
        ("postgresql://me:geheim@host/db is down", "postgresql://me:***@host/db is down", {"key"}),
        ("a1b2c3d4e5f6a7b8c9d0a1b2c3d4e5f6a7b8c9d0 leaked", "[key] leaked", {"key"}),
    ],
)  # fmt: skip
def test_keys_and_addresses_do_not_enter_the_file(text: str, shown: str, kinds: set[str]) -> None:
    assert without_private(text) == (shown, kinds)


def test_the_same_words_in_another_order_are_the_same_question(tmp_path: Path) -> None:
    log, _ = read(
        tmp_path, "who approves the leave?\nwho is approving leaves\nhow do I reset my password?\n", "l.txt"
    )  # fmt: skip
    found = grouped(log, language="en").queries
    assert sorted(each.asked for each in found) == [1, 2]
    joined = next(each for each in found if each.asked == 2)
    assert {joined.text, *joined.wordings} == {"who approves the leave?", "who is approving leaves"}


def test_questions_about_one_thing_are_one_cluster() -> None:
    log = QueryLog()
    for text, times in (
        ("how much parental leave do I get", 5), ("parental leave for fathers", 3), ("parental leave", 9),
        ("reset the tide clock", 4), ("tide clock battery", 2),
    ):  # fmt: skip
        log.add(text, times)
    clusters = grouped(log, language="en").clusters
    assert [[each.asked for each in cluster] for cluster in clusters] == [[9, 5, 3], [4, 2]]
    assert [each.cluster for cluster in clusters for each in cluster] == [1, 1, 1, 2, 2]


def test_vectors_join_what_words_do_not() -> None:
    class Near(PlainHashEmbedder):
        def embed(self, texts, kind="passage"):  # type: ignore[no-untyped-def]
            assert kind == "query"
            angle = {"car": 0.0, "automobile": 0.1, "vehicle": 0.7}
            return np.array([[np.cos(angle.get(text, 2.0)), np.sin(angle.get(text, 2.0))] for text in texts],
                            dtype=np.float32)  # fmt: skip

    log = QueryLog()
    for text in ("car", "car", "automobile", "vehicle", "harbour"):
        log.add(text)
    assert [(each.text, each.asked, each.cluster) for each in grouped(log).queries] == [
        ("car", 2, 1), ("automobile", 1, 2), ("harbour", 1, 3), ("vehicle", 1, 4)
    ]  # fmt: skip
    assert [(each.text, each.asked, each.cluster) for each in grouped(log, embedder=Near()).queries] == [
        ("car", 3, 1), ("vehicle", 1, 1), ("harbour", 1, 2)
    ]  # fmt: skip


asked = st.lists(st.integers(1, 1000), min_size=1, max_size=80)


@settings(max_examples=examples(100))
@given(asked, st.integers(1, 90), st.integers(0, 5))
def test_a_sample_stands_for_everything_that_was_asked(counts: list[int], count: int, seed: int) -> None:  # fmt: skip
    queries = [LiveQuery(str(at), times) for at, times in enumerate(counts)]
    found = sampled(queries, count, seed=seed)
    assert len(found) == min(count, len(queries))
    assert len({each.text for each in found}) == len(found)
    assert sum(each.weight for each in found) == pytest.approx(sum(counts))
    assert all(each.weight >= each.asked - 1e-6 for each in found)
    assert found == sampled(queries, count, seed=seed)
    assert [each.text for each in found] == sorted((each.text for each in found), key=int)


def test_a_question_is_drawn_as_often_as_its_share_is_large() -> None:
    queries = [LiveQuery(str(at), times) for at, times in enumerate((40, 5, 10, 20, 5, 5, 10, 5))]
    drawn = [each.text for seed in range(2000) for each in sampled(queries, 2, seed=seed)]
    shares = [drawn.count(each.text) / 2000 for each in queries]
    assert shares == pytest.approx([2 * each.asked / 100 for each in queries], abs=0.04)


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="1 or more"):
        sampled([LiveQuery("a", 1)], 0)


def test_work_grows_with_the_log_not_with_its_square() -> None:
    """A word that every question has must not have each compared with all others."""

    def group(count: int) -> None:
        log = QueryLog()
        for number in range(count):
            log.add(f"harbour tariff berth{number} crane{number * 7} gauge{number * 13}")
        grouped(log, language="none")

    is_linear(group, 100)
