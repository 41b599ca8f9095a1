"""Sizes as people read them."""

from __future__ import annotations


def megabytes(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"
