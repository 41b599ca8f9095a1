"""From a query to hits: ranked chunks or assembled spans, and what is done to them on the way."""
