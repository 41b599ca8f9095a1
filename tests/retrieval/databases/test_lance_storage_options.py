"""What Lance is told of a store."""

from __future__ import annotations

import pytest

from chunkwise.retrieval.databases.lancedb import lance_storage_options

ACCOUNT = "AccountName=lamp;AccountKey=a2V5PT0="
KNOWN = {"azure_storage_account_name": "lamp", "azure_storage_account_key": "a2V5PT0="}


def _at(endpoint: str) -> dict[str, str]:
    is_http = str(endpoint.startswith("http://")).lower()
    return {**KNOWN, "azure_storage_endpoint": endpoint, "allow_http": is_http}


@pytest.mark.parametrize(
    ("connection", "options"),
    [
        ("", None),
        (ACCOUNT, KNOWN),
        (f"DefaultEndpointsProtocol=https;{ACCOUNT}", KNOWN),
        (
            f"DefaultEndpointsProtocol=https;{ACCOUNT};EndpointSuffix=core.chinacloudapi.cn",
            _at("https://lamp.blob.core.chinacloudapi.cn"),
        ),
        (
            f"{ACCOUNT};EndpointSuffix=core.usgovcloudapi.net;",
            _at("https://lamp.blob.core.usgovcloudapi.net"),
        ),
        (
            f"DefaultEndpointsProtocol=http;{ACCOUNT};EndpointSuffix=azure.local:10000",
            _at("http://lamp.blob.azure.local:10000"),
        ),
        (
            f"{ACCOUNT};EndpointSuffix=core.windows.net;BlobEndpoint=http://127.0.0.1:1/lamp",
            _at("http://127.0.0.1:1/lamp"),
        ),
        ("EndpointSuffix=core.windows.net", None),
    ],
)
def test_a_connection_string_of_azure_says_where_the_store_is(
    connection: str, options: dict[str, str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", connection)
    assert lance_storage_options("az://container/table.lance") == options
