"""From hits to scores, and from scores to figures."""
