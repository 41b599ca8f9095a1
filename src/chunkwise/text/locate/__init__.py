"""Where texts stand in documents: exactly, or but for white space, quotes, dashes, case and Markdown's marks."""
