"""A tree over the chunks of a document: those of like meaning are summarised, and the summaries again."""
