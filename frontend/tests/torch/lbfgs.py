"""L-BFGS, with and without line search: losses, parameters and state after steps on a few problems."""

import torch

torch.manual_seed(0)


def quartic(p):
    return ((p - torch.tensor([3.0, -1.0, 0.5])) ** 4).sum() + (p[0] * p[1]) ** 2


def valley(p):
    return 100 * (p[1] - p[0] ** 2) ** 2 + (1 - p[0]) ** 2


def waves(p):
    return (p.sin() + 0.1 * p**2).sum()


def numbers(tensor):
    return [float(f"{v:.3g}") for v in tensor.flatten().tolist()]


def run(loss_of, start, steps, **options):
    param = torch.nn.Parameter(torch.tensor(start, dtype=torch.float64))
    optimizer = torch.optim.LBFGS([param], **options)
    calls = 0

    def closure():
        nonlocal calls
        calls += 1
        optimizer.zero_grad()
        loss = loss_of(param)
        loss.backward()
        return loss

    for _ in range(steps):
        loss = optimizer.step(closure)
        print(loss_of.__name__, options, calls, float(f"{loss.item():.6g}"), numbers(param.detach()))
    state = optimizer.state_dict()["state"][0]
    print(sorted(state), state["func_evals"], state["n_iter"], len(state["old_dirs"]), numbers(state["d"]),
          numbers(torch.tensor(state["prev_loss"])))
    return optimizer


for search in (None, "strong_wolfe"):
    run(quartic, [1.0, 2.0, -1.0], 3, lr=0.1, max_iter=4, line_search_fn=search)
    run(valley, [-1.2, 1.0], 4, lr=1 if search else 0.01, max_iter=5, history_size=3, line_search_fn=search)
    run(waves, [3.0, -2.0, 0.5, 9.0], 3, lr=0.5, max_iter=6, line_search_fn=search)
    run(waves, [3.0, -2.0], 2, lr=2.0, max_iter=20, max_eval=4, line_search_fn=search)
run(lambda p: -quartic(p), [1.0, 2.0, -1.0], 2, lr=0.1, max_iter=4, maximize=True, line_search_fn="strong_wolfe")
run(quartic, [1.0, 2.0, -1.0], 2, lr=0.1, max_iter=1)
print(torch.optim.LBFGS([torch.nn.Parameter(torch.ones(2))]))

# Several parameters, one without a gradient; saved and loaded between steps.
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).double()
with torch.no_grad():
    for count, param in enumerate(net.parameters()):
        param.copy_(torch.linspace(-0.5, 0.7, param.numel(), dtype=torch.float64).view(param.shape) * (1 + count))
unused = torch.nn.Parameter(torch.ones(2, dtype=torch.float64))
inputs = torch.linspace(-1, 1, 15, dtype=torch.float64).view(5, 3)
target = inputs.sum(1, keepdim=True).cos()


def fit():
    net.zero_grad()
    loss = torch.nn.functional.mse_loss(net(inputs), target)
    loss.backward()
    return loss


first = torch.optim.LBFGS([*net.parameters(), unused], max_iter=3, line_search_fn="strong_wolfe")
print(float(f"{first.step(fit).item():.6g}"))
second = torch.optim.LBFGS([*net.parameters(), unused], max_iter=3, line_search_fn="strong_wolfe")
second.load_state_dict(first.state_dict())
print(float(f"{second.step(fit).item():.6g}"), float(f"{second.step(fit).item():.6g}"), numbers(net[2].weight.detach()), unused.tolist())

for options in ({"lr": -1}, {"lr": torch.tensor([1.0, 2.0])}, {"line_search_fn": "armijo"}):
    try:
        torch.optim.LBFGS([unused], **options).step(lambda: unused.sum() ** 2 if unused.sum().backward() is None else None)
    except (RuntimeError, ValueError) as error:
        print(type(error).__name__, error)
try:
    torch.optim.LBFGS([{"params": [unused]}, {"params": list(net.parameters())}])
except ValueError as error:
    print(error)
