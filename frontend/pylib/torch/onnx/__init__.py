"""`torch.onnx`: questions that programs ask about exporting."""


def is_in_onnx_export():
    """False."""
    return False
