"""Where texts stand in documents: exactly, or but for white space, quotes and dashes."""
