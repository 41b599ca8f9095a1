"""What an index was made with."""

from dataclasses import fields

from chunkwise.base.allow_hosts_and_code_from_files import Recorded
from chunkwise.retrieval.settings import Settings, read_settings


def test_every_name_that_is_read_is_marked_as_the_index_s() -> None:
    texts = {each.name: "x" for each in fields(Settings) if each.type == "str"}
    found = read_settings({**texts, "vectors": "own", "context": "headings"}, "the index kb")
    for name in texts:
        assert isinstance(getattr(found, name), Recorded), name
