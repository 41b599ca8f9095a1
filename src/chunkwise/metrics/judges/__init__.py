"""Who says that a hit is relevant: people, gold spans, similarity, a language model."""
