"""How jagged nested tensors work."""
