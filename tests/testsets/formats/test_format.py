"""What a JSON text begins with, by which formats are told apart."""

import time

from chunkwise.testsets.formats.registry import JsonKeys


def test_keys_are_those_of_json_alone() -> None:
    keys = JsonKeys(b'\xef\xbb\xbf {"a" : "b\\": 1", "c\\"": [{"d":1}], "cut": "of')
    assert keys.at() == {"a", 'c\\"', "cut"}
    assert keys.at('c\\"') == {"d"}
    assert JsonKeys(b'"a": 1').at() == JsonKeys(b"").at() == set()


def test_keys_are_told_by_the_records_they_stand_in() -> None:
    keys = JsonKeys(
        b'[{"a": {"b": [1, {"c": 2}, "d"]}, "e": 3}, [{"f": {}}]] {"g": {"h": 1}, "i": 4}'
    )
    assert keys.at() == {"a", "e", "f", "g", "i"}
    assert keys.at("a") == {"b"}
    assert keys.at("a", "b") == {"c"}
    assert keys.at("g") == {"h"}
    assert keys.at("b") == keys.at("f") == set()


def test_keys_are_looked_for_in_one_walk() -> None:
    began = time.process_time()
    for unit in (b'"\\', b'"', b"\\", b'\\"', b'"" ', b'"a\n', b'{"a":', b"["):
        for at in (0, 1):
            assert "x" not in JsonKeys(b"{" + b'"' * at + unit * 50_000).at()
    assert time.process_time() - began < 3  # walking again from every quote takes far longer
