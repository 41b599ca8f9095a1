"""Cuts, the packer that fills chunks up to a limit, and the parameters all size-limited strategies share."""
