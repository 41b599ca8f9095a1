"""PostgreSQL with pgvector behind the same interface as an index in a folder."""
