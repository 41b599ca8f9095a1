"""Addresses as people write them, and that no key in one is taken, shown or written down."""

import traceback

import pytest

from chunkwise.base.errors import ChunkwiseError, InvalidParameter
from chunkwise.chunkers import get_strategy
from chunkwise.models import get_embedder, get_reranker
from chunkwise.models.http.address import embeddings_url, place, place_and_query, rerank_url

WITH_A_KEY = [
    "https://user:SECRET@host/v1", "https://SECRET@host/v1", "https://host/v1?api_key=SECRET", "https://host/v1?SECRET-key",
    "https://host/v1?a=b&access_token=SECRET", "HTTPS://host/v1?Key=SECRET", "https://host:99999/v1?key=SECRET",
    "https://user:SECRET@[host/v1", "htps://user:SECRET@host/v1", "ftp://host/v1?key=SECRET",
]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "full"),
    [
        ("https://host", "https://host/v1/embeddings"),
        ("https://host/", "https://host/v1/embeddings"),
        ("https://host/v1", "https://host/v1/embeddings"),
        ("https://host/v1/", "https://host/v1/embeddings"),
        ("http://host:8080/v1/embeddings", "http://host:8080/v1/embeddings"),
        ("https://host/a/b/embeddings?api-version=1", "https://host/a/b/embeddings?api-version=1"),
    ],
)
def test_addresses_as_people_write_them(written: str, full: str) -> None:
    assert embeddings_url(written) == full


@pytest.mark.parametrize("url", WITH_A_KEY)
@pytest.mark.parametrize("name", ["", "#model"])
@pytest.mark.parametrize("make", [get_embedder, get_reranker])
def test_a_key_in_the_address_is_refused_and_not_repeated(
    make: object, url: str, name: str
) -> None:
    with pytest.raises(ChunkwiseError) as caught:
        make(url + name)  # type: ignore[operator]
    assert "SECRET" not in str(caught.value)
    frames = traceback.format_exception(caught.value)
    assert "SECRET" not in "".join(frames)
    if "http" in url.lower() and "[" not in url and "99999" not in url:
        assert "environment variable" in str(caught.value)


@pytest.mark.parametrize("url", WITH_A_KEY[:6])
def test_no_chunk_is_labelled_with_a_key(url: str) -> None:
    for strategy in ("semantic", "cluster"):
        with pytest.raises(InvalidParameter) as caught:
            get_strategy(strategy, model=f"{url}#model")
        assert "SECRET" not in str(caught.value)
        assert "environment variable" in str(caught.value)
        with pytest.raises(InvalidParameter) as caught:
            get_strategy(f"{strategy}(model={url}#model)")  # without its quotes
        assert "SECRET" not in str(caught.value)
    fine = get_strategy("semantic", model="https://host/v1?deployment=a#model")
    assert fine.label == "semantic(model='https://host/v1?deployment=a#model')"


def test_places_show_host_and_path_and_tell_queries_apart() -> None:
    assert place("https://USER:pw@Host:8080/A/b?x=1") == "host:8080/A/b"
    assert place_and_query("https://host/v1") == "host/v1"
    marks = {place_and_query(f"https://host/v1?deployment={name}") for name in "ab"}
    assert len(marks) == 2
    assert not any("deployment" in mark for mark in marks)


def test_an_address_without_a_model_says_how_to_write_it() -> None:
    with pytest.raises(InvalidParameter) as caught:
        get_embedder("https://host/v1?deployment=a")
    assert str(caught.value) == "https://host/v1 names no model; write https://host/v1#NAME"


def test_rerankers_have_a_path_of_their_own() -> None:
    assert rerank_url("https://host") == "https://host/rerank"
    assert rerank_url("https://host/v2/rerank/?a=b") == "https://host/v2/rerank?a=b"
