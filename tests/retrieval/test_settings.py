"""What an index was made with, as older versions wrote it."""

from chunkwise.retrieval.settings import Settings, read_settings


def test_the_old_name_of_the_embedder_is_read() -> None:
    assert read_settings({"strategy": "words", "model": "minilm"}, "kb") == Settings(
        "words", "minilm"
    )
