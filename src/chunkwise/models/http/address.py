"""The address of a model's endpoint: its parts, what of it may be shown, and which variable holds its key."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import SplitResult, parse_qsl, urlsplit

from chunkwise.base.errors import InvalidParameter
from chunkwise.base.untrusted_names import PROVIDERS

_DEFAULT_PORTS = {"http": 80, "https": 443}
_SECRET_NAME = re.compile(
    r"key|token|secret|passw|pwd|auth|credential|signature|^sig$|^code$", re.IGNORECASE
)


def split_url(url: str) -> SplitResult:
    """The parts of an http or https URL; anything else is refused with what is allowed."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in _DEFAULT_PORTS and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not url.isprintable() or " " in url:
        # Not the URL itself: it may hold a key.
        raise InvalidParameter("no URL of an endpoint; allowed: https://host/path or http://…")
    return parts


def without_secrets(url: str) -> SplitResult:
    """The parts of a URL that holds no key: it would end up in labels, files and other people's logs."""
    parts = split_url(url)
    advice = "put the key into an environment variable and give the variable's name"
    if "@" in parts.netloc:
        raise InvalidParameter(
            f"the URL for {parts.hostname} has a user name or password in it; {advice}"
        )
    for name, _ in parse_qsl(parts.query, keep_blank_values=True):
        if found := _SECRET_NAME.search(name):
            raise InvalidParameter(
                f"the URL for {parts.hostname} has a {found[0].lower()} behind its question mark; {advice}"
            )
    return parts


def place(url: str) -> str:
    """Host and path: what errors and cache keys may show."""
    parts = split_url(url)
    return f"{parts.netloc.rpartition('@')[2].lower()}{parts.path}"


def place_and_query(url: str) -> str:
    """The place and a hash of the query: two deployments are told apart, and none is shown."""
    query = split_url(url).query
    mark = f"?{hashlib.sha256(query.encode('utf-8', 'replace')).hexdigest()[:12]}" if query else ""
    return f"{place(url)}{mark}"


def port(parts: SplitResult) -> int:
    return parts.port or _DEFAULT_PORTS[parts.scheme]


def embeddings_url(url: str) -> str:
    """The full address from what people write: a host, `…/v1`, or the address itself."""
    return with_path(url, "/embeddings", bare="/v1/embeddings")


def rerank_url(url: str) -> str:
    return with_path(url, "/rerank", bare="/rerank")


def with_path(url: str, ending: str, bare: str) -> str:
    """`url` with `ending` behind its path unless it is there; a host alone gets `bare`; a query stays."""
    parts = split_url(url)
    path = parts.path.rstrip("/")
    if not path:
        path = bare
    elif not path.endswith(ending):
        path += ending
    return parts._replace(path=path, fragment="").geturl()


BY_HOST = PROVIDERS
ANY_OTHER = "CHUNKWISE_API_KEY"
"""For a server of one's own, or one not listed; a server that needs no key is asked without."""


def key_variable_for(url: str) -> str:
    return BY_HOST.get(split_url(url).hostname or "", ANY_OTHER)
