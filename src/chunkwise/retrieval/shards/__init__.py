"""An index in parts on several machines, searched as one."""

from __future__ import annotations

from chunkwise.retrieval.shards.index import (
    KEY_VARIABLE,
    ServedShard,
    Shard,
    ShardDown,
    ShardedIndex,
    ShardsEngine,
    shard_addresses,
)
from chunkwise.retrieval.shards.server import answer_shard, stamp_of

__all__ = [
    "KEY_VARIABLE",
    "ServedShard",
    "Shard",
    "ShardDown",
    "ShardedIndex",
    "ShardsEngine",
    "answer_shard",
    "shard_addresses",
    "stamp_of",
]
