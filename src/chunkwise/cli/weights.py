"""The weights of a model, fetched before the work begins, with a bar of their own."""

from __future__ import annotations

from chunkwise.cli.progress import progress


def fetch_weights(model: str, quiet: bool) -> None:
    """Nothing where they are here already, or where somebody else keeps them."""
    from chunkwise.models.weights.catalogue import MINILM
    from chunkwise.models.weights.installed import ensure, model_status

    if model != MINILM.name or model_status(MINILM).state == "here":
        return
    total = sum(file.size for file in MINILM.files)
    with progress(f"fetching {model}", total, quiet) as advance:
        ensure(MINILM, advance=advance)
