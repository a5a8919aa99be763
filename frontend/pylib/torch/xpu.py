"""`torch.xpu`: there are no such devices here; programs that ask are told so."""

from torch._absent_devices import Absent

globals().update(Absent("xpu", "Torch not compiled with XPU enabled", AssertionError).names())
