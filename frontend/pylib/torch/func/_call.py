"""Calling modules with other parameters."""


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """Calls `module` with the parameters and buffers of a dict, or of several, in place of its own."""
    if isinstance(parameter_and_buffer_dicts, (tuple, list)):
        replaced = {}
        for part in parameter_and_buffer_dicts:
            replaced.update(part)
    else:
        replaced = dict(parameter_and_buffer_dicts)
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    known = dict(module.named_parameters(remove_duplicate=False))
    known.update(module.named_buffers(remove_duplicate=False))
    unexpected = [name for name in replaced if name not in known]
    missing = [name for name in known if name not in replaced]
    if strict and (unexpected or missing):
        reasons = [f"Unexpected key(s): {_quoted(unexpected)}."] if unexpected else []
        reasons += [f"Missing key(s): {_quoted(missing)}."] if missing else []
        raise RuntimeError("Error(s) in reparametrizing for {}:\n\t{}".format(module._get_name(), "\n\t".join(reasons)))
    for name in unexpected:
        del replaced[name]
    if tie_weights:
        # A replaced tensor stands under all names its original has.
        tied = {id(known[name]): value for name, value in replaced.items()}
        replaced = {name: tied[id(tensor)] for name, tensor in known.items() if id(tensor) in tied}
    places = []
    for name, value in replaced.items():
        path, _, last = name.rpartition(".")
        owner = module.get_submodule(path)
        members = owner._parameters if last in owner._parameters else owner._buffers
        places.append((members, last, members[last]))
        members[last] = value
    try:
        return module(*args, **(kwargs or {}))
    finally:
        for members, last, original in places:
            members[last] = original


def _quoted(names):
    return ", ".join(f"'{name}'" for name in sorted(names))
