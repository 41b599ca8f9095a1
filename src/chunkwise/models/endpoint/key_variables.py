"""Which environment variable holds the key for a host: a key goes to the host it was made for, and no other."""

from __future__ import annotations

from types import MappingProxyType

from chunkwise.models.endpoint.address import split_url

BY_HOST = MappingProxyType(
    {
        "api.openai.com": "OPENAI_API_KEY",
        "api.cohere.com": "COHERE_API_KEY",
        "api.jina.ai": "JINA_API_KEY",
        "api.mistral.ai": "MISTRAL_API_KEY",
        "api.voyageai.com": "VOYAGE_API_KEY",
    }
)
ANY_OTHER = "CHUNKWISE_API_KEY"
"""For a server of one's own, or one not listed; a server that needs no key is asked without."""


def key_variable_for(url: str) -> str:
    return BY_HOST.get(split_url(url).hostname or "", ANY_OTHER)
