"""Questions without any model: from definitions, amounts and headings."""
