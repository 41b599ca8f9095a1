"""Files an evaluation reads and writes: hits, chunks and answers of others, and its own results."""
