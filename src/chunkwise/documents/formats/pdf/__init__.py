"""PDF: lines with their type and place, and what they are."""
