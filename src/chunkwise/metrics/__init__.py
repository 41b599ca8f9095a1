"""What a chunking is worth: one metric a file, plain arrays in, scores out."""
