"""Embedders: on this machine, behind an endpoint, of other libraries; late vectors of any span."""
