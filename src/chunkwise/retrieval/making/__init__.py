"""From documents to an index: what is new is made, what has not changed is carried over."""
