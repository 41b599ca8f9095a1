"""OpenAI's vocabularies for the peers, offline: tiktoken's own files lie inside the bpe-openai wheel."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import os
import tempfile
from pathlib import Path
from typing import Any

_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


def encoding(name: str = "cl100k_base") -> Any:
    """tiktoken's own encoding, its download answered from the wheel."""
    found = importlib.util.find_spec("bpe_openai")
    if found is not None and found.origin is not None:
        folder = Path(tempfile.gettempdir()) / "chunkwise-benchmark-vocabularies"
        folder.mkdir(exist_ok=True)
        # tiktoken names a cached file by the hash of its address and checks the hash of its bytes.
        target = folder / hashlib.sha1(_ADDRESS.format(name).encode()).hexdigest()
        if not target.exists():
            packed = Path(found.origin).parent / "data" / f"{name}.tiktoken.gz"
            target.write_bytes(gzip.decompress(packed.read_bytes()))
        os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    import tiktoken

    return tiktoken.get_encoding(name)
