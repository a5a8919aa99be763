"""Layers that few models use: adaptive softmax, fractional pooling, orthogonal weights, bounded embeddings, in-place functions."""

import warnings

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.parametrizations import orthogonal

warnings.simplefilter("ignore")


def text(value):
    if isinstance(value, torch.Tensor):
        return [round(number, 3) + 0.0 for number in value.detach().double().flatten().tolist()]
    return [text(each) for each in value]


def refused(*calls):
    for call in calls:
        try:
            print(call())
        except (IndexError, NotImplementedError, RuntimeError, ValueError) as error:
            print(type(error).__name__, error)


# Adaptive softmax.
torch.manual_seed(0)
softmax = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 9], div_value=2.0, head_bias=True)
print(softmax, list(softmax.state_dict()), softmax.cutoffs, softmax.shortlist_size, softmax.n_clusters, softmax.head_size)
x, y = torch.randn(5, 8, requires_grad=True), torch.tensor([0, 5, 12, 19, 3])
out = softmax(x, y)
print(type(out).__name__, out._fields, text(out), text(softmax(x[0], y[0])), text(softmax(x[:2], y[:2] * 0)))
out.loss.backward()
print(text(x.grad), [text(param.grad.abs().sum()) for param in softmax.parameters()])
print(text(softmax.log_prob(x)), softmax.predict(x), softmax.predict(x[:1]))
refused(
    lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 20, [9, 4]), lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 20, []),
    lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 20, [0, 4]), lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 20]),
    lambda: softmax(x, y[:2]), lambda: softmax(x, y + 10), lambda: softmax(x, y - 1), lambda: softmax(x, y.view(5, 1)),
)

# Fractional pooling: windows from given samples, and drawn ones.
image = torch.arange(196.0).view(2, 2, 7, 7).sin()
samples = torch.tensor([[[0.1, 0.9], [0.5, 0.3]], [[0.0, 0.99], [0.7, 0.2]]])
for options in ({"output_size": (3, 4)}, {"output_ratio": (0.6, 0.9)}, {"output_size": 1}, {"output_size": 6}):
    pooled, places = F.fractional_max_pool2d(image, 2, _random_samples=samples, return_indices=True, **options)
    print(options, list(pooled.shape), text(pooled), places.flatten().tolist())
volume = torch.arange(420.0).view(2, 1, 6, 7, 5).cos()
of_volume = torch.tensor([[[0.1, 0.9, 0.4]], [[0.5, 0.3, 0.8]]])
pooled, places = F.fractional_max_pool3d(volume, (2, 3, 1), output_size=(3, 4, 2), _random_samples=of_volume, return_indices=True)
print(text(pooled), places.flatten().tolist())
leaf = image.clone().requires_grad_()
F.fractional_max_pool2d(leaf, 2, output_size=(3, 4), _random_samples=samples).pow(2).sum().backward()
print(text(leaf.grad))
torch.manual_seed(5)
layer = nn.FractionalMaxPool2d(2, output_size=(3, 4))
print(layer, list(layer.state_dict()), text(layer(image)), text(nn.FractionalMaxPool3d(2, output_ratio=0.5)(volume)), text(torch.rand(1)))
refused(
    lambda: nn.FractionalMaxPool2d(2), lambda: nn.FractionalMaxPool2d(2, output_size=2, output_ratio=0.5),
    lambda: nn.FractionalMaxPool2d(2, output_ratio=1.5), lambda: nn.FractionalMaxPool3d(2, output_ratio=(0.5, 1.0, 0.5)),
    lambda: F.fractional_max_pool2d(image, 2), lambda: F.fractional_max_pool2d(image, 2, output_size=7, _random_samples=samples),
    lambda: F.fractional_max_pool2d(image, 2, output_size=2, _random_samples=samples[:1]),
    lambda: F.fractional_max_pool2d(image, 2, output_size=2, _random_samples=samples[:, :1]),
    lambda: F.fractional_max_pool2d(image, 2, output_size=2, _random_samples=samples.double()),
    lambda: F.fractional_max_pool3d(volume, 2, output_size=6, _random_samples=of_volume),
)


# Orthogonal weights, by each map, from a given start and not.
def matrix(rows, columns):
    return torch.linspace(-1, 1, rows * columns).view(rows, columns).mul(3).sin() + 0.1 * torch.eye(rows, columns)


for rows, columns in ((3, 3), (4, 2), (2, 4)):
    for orthogonal_map in (None, "householder", "cayley", "matrix_exp"):
        for trivial in (True, False):
            linear = nn.Linear(columns, rows)
            with torch.no_grad():
                linear.weight.copy_(matrix(rows, columns))
            try:
                orthogonal(linear, orthogonal_map=orthogonal_map, use_trivialization=trivial)
                print(rows, columns, orthogonal_map, trivial, linear.parametrizations.weight[0], list(linear.state_dict()))
                print(text(linear.weight))
                (linear.weight * matrix(rows, columns)).sum().backward()
                print(text(linear.parametrizations.weight.original.grad.abs() + 1e-4) if not trivial else "")
                linear.weight = linear.weight.detach()[..., :].neg()
                print(text(linear.weight))
            except NotImplementedError as error:
                print(error)
print(text(torch.geqrf(matrix(4, 3))), text(torch.geqrf(matrix(3, 4))), text(torch.geqrf(torch.zeros(2, 2))))
print(text(torch.linalg.householder_product(*torch.geqrf(matrix(4, 3)))))
refused(
    lambda: orthogonal(nn.Linear(2, 2), orthogonal_map="x"), lambda: orthogonal(nn.Linear(2, 2), name="w"),
    lambda: orthogonal(nn.Linear(2, 2), name="bias"), lambda: torch.geqrf(torch.ones(2)),
    lambda: torch.linalg.householder_product(torch.ones(2, 3), torch.ones(2)),
    lambda: torch.linalg.householder_product(torch.ones(3, 2), torch.ones(3)),
)

# Embeddings whose vectors are kept short.
table = torch.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0], [1.0, 0.0]])
for options in ({"max_norm": 1.0}, {"max_norm": 2.0, "norm_type": 1.0}, {"max_norm": 1.0, "padding_idx": 0}):
    copied = table.clone()
    print(options, F.embedding(torch.tensor([[0, 1], [0, 3]]), copied, **options).tolist(), copied.tolist())
embedding = nn.Embedding(4, 2, max_norm=1.0, _weight=table.clone())
embedding(torch.tensor([0, 2])).sum().backward()
print(embedding, text(embedding.weight), text(embedding.weight.grad))
bag = nn.EmbeddingBag(4, 2, max_norm=1.0, _weight=table.clone(), mode="sum")
print(text(bag(torch.tensor([[0, 2]]))), text(bag.weight))

# Functions that write into their input.
for name, arguments in (
    ("relu_", ()), ("celu_", (0.5,)), ("elu_", (0.5,)), ("hardtanh_", (-0.5, 0.5)), ("leaky_relu_", (0.1,)), ("selu_", ()),
    ("threshold_", (0.1, 9.0)), ("rrelu_", ()),
):
    target, function = x.detach().clone(), getattr(F, name)
    leaf = x.detach().clone().requires_grad_()
    function(leaf * 1, *arguments).sum().backward()
    print(name, function(target, *arguments) is target, text(target)[:8], text(leaf.grad)[:8])
    refused(lambda: function(leaf, *arguments))
