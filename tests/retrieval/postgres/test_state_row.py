"""The row that says what a knowledge base on PostgreSQL is: another writer may have changed it."""

import json

import pytest

from chunkwise.retrieval.postgres.schema import IndexState, _about
from tables import cases

pytestmark = pytest.mark.usefixtures("postgres")

ROW = {
    **dict.fromkeys(IndexState._fields, 0),
    "settings": json.dumps({"strategy": "sentences"}),
    "languages": '["en"]',
    "born": "",
}


@cases("languages", ['"en"', "[3]", '{"en": 1}', '["en", null]', "3"])
def test_languages_of_another_kind_are_refused(languages: str) -> None:
    assert _about(ROW, "kb").languages == ("en",)
    with pytest.raises((ValueError, TypeError)):
        _about({**ROW, "languages": languages}, "kb")
