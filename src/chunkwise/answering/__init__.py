"""An answer to a question out of the documents, every claim of it with its place."""
