"""Speed, hostile inputs, start-up, memory and conformance, against the peers that are installed."""
