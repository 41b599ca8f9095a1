"""What an index was made with."""

from dataclasses import fields

import pytest

from chunkwise.base.allow_hosts_and_code_from_files import check_allowed, named_by_user
from chunkwise.base.errors import NotAllowed
from chunkwise.retrieval.settings import Settings, read_settings


def test_no_name_that_an_index_has_is_followed() -> None:
    texts = {each.name: f"./{each.name}.py:X" for each in fields(Settings) if each.type == "str"}
    read_settings({**texts, "vectors": "own", "context": "headings"}, "the index kb")
    with named_by_user({}):
        for text in texts.values():
            with pytest.raises(NotAllowed, match="the index kb"):
                check_allowed(text)
