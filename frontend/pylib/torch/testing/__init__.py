"""`torch.testing`: comparing results."""

from torch.testing._comparison import assert_allclose, assert_close
