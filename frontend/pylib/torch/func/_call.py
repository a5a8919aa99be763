"""Calling modules with other parameters."""

import torch


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


def stack_module_state(models):
    """The parameters and the buffers of modules of one class, those of one name stacked: for `functional_call` under `vmap`."""
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(model.training != models[0].training for model in models):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    params = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]
    return _stacked(params), _stacked(buffers)


def _stacked(states):
    """One dict of stacked tensors; where all require grad, the stacks are leaves that do."""
    stacks = {}
    for name in states[0]:
        parts = [state[name] for state in states]
        wanted = all(part.requires_grad for part in parts)
        if not wanted and any(part.requires_grad for part in parts):
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        stack = torch.stack(parts)
        stacks[name] = stack.detach().requires_grad_() if wanted else stack
    return stacks


def replace_all_batch_norm_modules_(root):
    """Makes the batch norms of a module keep no running statistics, which calls under `vmap` could not write to."""
    for module in root.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
