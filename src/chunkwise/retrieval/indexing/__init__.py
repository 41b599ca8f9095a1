"""From documents to what an index keeps: what is new is built, what has not changed is reused."""
