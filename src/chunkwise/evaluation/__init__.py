"""From documents, questions and hits to a result with intervals: measured once, kept whole, compared in pairs."""
