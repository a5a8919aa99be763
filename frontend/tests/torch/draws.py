# Random streams: seeds, generators, states, and ops that draw.
import torch

torch.manual_seed(0)
print(torch.rand(3), torch.randn(2, 2), torch.randint(0, 10, (5,)), torch.randperm(6))
state = torch.get_rng_state()
first = torch.rand(2)
torch.set_rng_state(state)
print(first.tolist() == torch.rand(2).tolist(), torch.initial_seed())

g = torch.Generator()
g.manual_seed(7)
print(torch.rand(2, generator=g), torch.randn(20, generator=g), torch.rand(2))
again = torch.Generator().manual_seed(7)
print(again.initial_seed(), torch.rand(2, generator=again), g.get_state().shape)
again.set_state(g.get_state())
print(torch.rand(4, generator=g).tolist() == torch.rand(4, generator=again).tolist())

x = torch.empty(4)
print(x.uniform_(-1, 1), x.normal_(2, 0.5), torch.empty(3).bernoulli_(0.5), torch.rand_like(x), torch.randn(3, dtype=torch.float64))
print(torch.rand(2, requires_grad=True), torch.nn.functional.dropout(torch.ones(6), 0.5), torch.nn.functional.dropout(x, 0.5, False) is x)
torch.manual_seed(-3)
print(torch.initial_seed(), torch.rand(1))
