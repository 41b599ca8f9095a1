"""Questions out of documents: asked of a language model and verified, or made by rules."""
