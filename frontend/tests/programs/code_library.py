"""Every frozen module of the standard library: its code objects assemble to what they were."""

import _imp

from code_natives import check, checked

for name in _imp._frozen_module_names():
    try:
        code = _imp.get_frozen_object(name)
    except ImportError:
        continue
    check(code)
count, resized = checked()
assert count > 3000, count
assert resized * 1000 < count, (resized, count)
