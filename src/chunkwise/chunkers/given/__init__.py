"""Chunks that are there already, of any tool: what their rows say, where their texts stand, a strategy of them."""
