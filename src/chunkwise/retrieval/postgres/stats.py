"""How large a knowledge base is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chunkwise.retrieval.postgres.about import About
from chunkwise.retrieval.postgres.schema import Names
from chunkwise.retrieval.postgres.storable import text_of
from chunkwise.retrieval.stats import Stats
from chunkwise.text.tokenizers import get_tokenizer

if TYPE_CHECKING:
    from psycopg import Connection

_COUNTS = """
    select
        (select coalesce(sum(atoms), 0) from {documents}),
        (select coalesce(sum(tokens), 0) from {documents}),
        (select coalesce(sum(tokens), 0) from {chunks}),
        (select coalesce(sum(pg_total_relation_size(oid)), 0) from pg_class
            where relnamespace = to_regnamespace(%s) and relkind = 'r')
"""
_CONTEXTS = (
    "select context, count(*) from {chunks} where octet_length(context) > 0 group by context"
)


def read_stats(connection: Connection[Any], names: Names, about: About) -> Stats:
    """Bytes are those of all tables and their indexes on the server."""
    schema = names.identifier.as_string(connection)
    row = connection.execute(names(_COUNTS), [schema]).fetchone()
    atoms, tokens, chunk_tokens, room = map(int, row or (0, 0, 0, 0))
    count = get_tokenizer(about.settings.tokenizer).count
    contexts = connection.cursor(binary=True).execute(names(_CONTEXTS))
    beside = sum(count(text_of(context)) * times for context, times in contexts)
    late = atoms if about.settings.vectors in ("late", "both") else 0
    return Stats(
        documents=about.documents,
        chunks=about.chunks,
        atoms=atoms,
        tokens=tokens,
        indexed_tokens=chunk_tokens + beside,
        context_tokens=beside,
        vectors=(about.chunks if about.settings.dimensions else 0) + late,
        dimensions=about.settings.dimensions,
        bytes=room,
    )
