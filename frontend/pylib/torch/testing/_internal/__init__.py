"""Parts of `torch.testing` that PyTorch's own tests use."""
