"""Names and passages as a graph: built, walked, looked at; and communities of passages, which are summarized."""
