# torch.nn.utils.prune: masks, what is pruned on top of what, and making it final.
import torch
import torch.nn as nn
import torch.nn.utils.prune as prune

torch.manual_seed(0)
m = nn.Linear(4, 3)
prune.l1_unstructured(m, "weight", 0.5)
print(sorted(n for n, _ in m.named_parameters()), [n for n, _ in m.named_buffers()], m.weight_mask)
print([type(h).__name__ for h in m._forward_pre_hooks.values()], prune.is_pruned(m))
prune.random_unstructured(m, "weight", 2)
hook = list(m._forward_pre_hooks.values())[0]
print(type(hook).__name__, hook._tensor_name, len(hook), m.weight_mask)
m(torch.ones(2, 4)).sum().backward()
print(m.weight_orig.grad, m.weight.requires_grad, m.weight.is_leaf)
for work in [
    lambda: prune.l1_unstructured(m, "bias", 5),
    lambda: prune.l1_unstructured(m, "bias", 1.5),
    lambda: prune.l1_unstructured(m, "bias", -1),
    lambda: prune.l1_unstructured(m, "bias", "a"),
    lambda: prune.ln_structured(m, "bias", 1, 2, 0),
    lambda: prune.remove(m, "bias"),
]:
    try:
        work()
    except Exception as error:
        print(type(error).__name__, error)
print(sorted(n for n, _ in m.named_parameters()), m.bias)
prune.remove(m, "weight")
print(prune.is_pruned(m), list(m.state_dict()), m.weight)

for apply in [
    lambda m: prune.random_structured(m, "weight", 0.5, 1),
    lambda m: prune.ln_structured(m, "weight", 1, 2, 0),
    lambda m: prune.ln_structured(m, "weight", 0.5, 1, 1),
    lambda m: prune.identity(m, "weight"),
]:
    m = nn.Linear(4, 3)
    print(apply(m).weight_mask)
    prune.ln_structured(m, "weight", 1, float("inf"), 0)
    prune.l1_unstructured(m, "weight", 0.25)
    print(m.weight_mask, list(m.state_dict()))

m = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2))
prune.global_unstructured([(m[0], "weight"), (m[1], "weight")], prune.L1Unstructured, amount=4)
print(m[0].weight_mask, m[1].weight_mask)
prune.custom_from_mask(m[0], "bias", torch.tensor([1, 0]))
print(m[0].bias, m[0].bias_mask, list(m.state_dict()))
prune.l1_unstructured(m[0], "bias", 1, importance_scores=torch.tensor([1.0, 2.0]))
print(m[0].bias_mask)
print(prune.L1Unstructured(amount=0.5).prune(torch.tensor([1.0, -3.0, 2.0, 0.5])))
