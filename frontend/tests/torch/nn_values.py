"""What the functions and modules written in Python compute: sizes, and sums that depend on every element's place."""

import warnings

import torch
import torch.nn.functional as F
from torch import nn

warnings.simplefilter("ignore")


def numbers(*shape, seed=1):
    """A tensor of `shape` in [-1, 1), from integers alone."""
    i = torch.arange(torch.Size(shape).numel())
    return ((i * i * 31 + i * 7919 + seed * 104729) % 10007 / 5003.5 - 1.0).reshape(shape)


def leaves(value):
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def show(name, call, *args, **kwargs):
    try:
        results = leaves(call(*args, **kwargs))
    except Exception as error:
        print(name, type(error).__name__, error)
        return
    parts = []
    for result in results:
        if isinstance(result, torch.Tensor):
            flat = result.detach().double().flatten()
            total = (flat.abs() * torch.arange(1, flat.numel() + 1)).sum().item()
            parts.append(f"{tuple(result.shape)} {str(result.dtype)[6:]} {total:.4g}")
        else:
            parts.append(str(result))
    print(name, *parts)


def seeded(make):
    torch.manual_seed(1)
    return make()


sequence, image, volume = numbers(2, 6, 10), numbers(2, 3, 8, 8), numbers(2, 3, 4, 6, 6)
x, y, classes = numbers(4, 5), numbers(4, 5, seed=2), torch.tensor([0, 2, 1, 4])
signs = torch.tensor([1, -1, 1, -1])

# Functions.
for reduction in ("mean", "sum", "none"):
    for name in ("soft_margin_loss", "hinge_embedding_loss", "poisson_nll_loss", "multilabel_soft_margin_loss"):
        show(name, getattr(F, name), x, y, reduction=reduction)
    show("multi_margin_loss", F.multi_margin_loss, x, classes, p=2, reduction=reduction)
    show("cosine_embedding_loss", F.cosine_embedding_loss, x, y, signs, margin=0.1, reduction=reduction)
    show("margin_ranking_loss", F.margin_ranking_loss, x[:, 0], y[:, 0], signs, reduction=reduction)
    show("triplet_margin_loss", F.triplet_margin_loss, x, y, x + y, swap=True, reduction=reduction)
    show("gaussian_nll_loss", F.gaussian_nll_loss, x, y, x.abs() + 0.1, full=True, reduction=reduction)
listed = torch.tensor([[0, 2, -1, 1, 1], [3, -1, 0, 0, 0], [0, 1, 2, 3, 4], [-1, 0, 0, 0, 0]])
show("multilabel_margin_loss", F.multilabel_margin_loss, x, listed, reduction="none")
show("reduction", F.soft_margin_loss, x, y, reduction="x")
show("negative var", F.gaussian_nll_loss, x, y, -x.abs())
show("margin", F.triplet_margin_loss, x, y, x, margin=-1)
for p in (1, 2, 3):
    show("normalize", F.normalize, x, p, -1)
show("local_response_norm", F.local_response_norm, image, 2)
show("local_response_norm", F.local_response_norm, sequence, 3, 1e-2, 0.5, 2.0)
for dims, value in ((1, sequence), (2, image), (3, volume)):
    show("lp_pool", getattr(F, f"lp_pool{dims}d"), value.abs(), 3.0, 2, stride=1)
    pooled, places = getattr(F, f"max_pool{dims}d")(value, 2, return_indices=True)
    show("max_pool", lambda: (pooled, places))
    show("max_unpool", getattr(F, f"max_unpool{dims}d"), pooled, places, 2)
    show("adaptive_max_pool", getattr(F, f"adaptive_max_pool{dims}d"), value, 3, True)
show("adaptive_avg_pool2d", F.adaptive_avg_pool2d, image, (None, 2))
for settings in ({"scale_factor": 2}, {"size": 5}, {"scale_factor": 2, "align_corners": True}):
    show("bicubic", F.interpolate, image, mode="bicubic", **settings)
show("fold", F.fold, F.unfold(image, 3, padding=1, stride=2), 8, 3, padding=1, stride=2)
show("fold", F.fold, numbers(2, 12, 9), (5, 5), (2, 2), dilation=2)

# Modules.
for bidirectional in (False, True):
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        module = seeded(lambda: kind(5, 4, 2, bidirectional=bidirectional, batch_first=bidirectional))
        show(kind.__name__, module, numbers(3, 2, 5))
        show(kind.__name__, module, numbers(3, 5))
show("projected", seeded(lambda: nn.LSTM(5, 4, 2, proj_size=2, bias=False)), numbers(3, 2, 5))
for kind in (nn.LSTMCell, nn.GRUCell, nn.RNNCell):
    show(kind.__name__, seeded(lambda: kind(5, 4)), numbers(2, 5))
query = numbers(5, 2, 8)
for settings in ({}, {"add_bias_kv": True}, {"add_zero_attn": True}, {"bias": False}, {"kdim": 6, "vdim": 7}):
    module = seeded(lambda: nn.MultiheadAttention(8, 2, **settings))
    key, value = numbers(5, 2, settings.get("kdim", 8)), numbers(5, 2, settings.get("vdim", 8))
    show("attention", module, query, key, value)
    show("attention", module, query, key, value, need_weights=False, attn_mask=torch.ones(5, 5).tril() == 0)
padding = torch.tensor([[False] * 4 + [True], [False] * 5])
module = seeded(lambda: nn.MultiheadAttention(8, 2))
show("padded", module, query, query, query, key_padding_mask=padding, average_attn_weights=False)
show("unbatched", module, query[:, 0], query[:, 0], query[:, 0])
show("causal", module, query, query, query, is_causal=True)
for settings in ({}, {"norm_first": True}, {"activation": "gelu", "batch_first": True}):
    show("encoder", seeded(lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, **settings)), query)
    show("decoder", seeded(lambda: nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0, **settings)), query, query + 1)
mask = nn.Transformer.generate_square_subsequent_mask(5)
show("transformer", seeded(lambda: nn.Transformer(8, 2, 2, 2, 16, dropout=0.0)), query, query + 1, tgt_mask=mask)
for dims, value in ((1, sequence), (2, image), (3, volume)):
    channels = value.shape[1]
    for settings in ({}, {"padding": "same", "padding_mode": "circular"}, {"padding": 1, "padding_mode": "reflect"}):
        show("conv", seeded(lambda: getattr(nn, f"Conv{dims}d")(channels, 2 * channels, 3, **settings)), value)
    module = seeded(lambda: getattr(nn, f"ConvTranspose{dims}d")(channels, 4, 3, stride=2, padding=1))
    show("transposed", module, value, output_size=[2 * size for size in value.shape[2:]])
    show("transposed", module, value, output_size=[9 * size for size in value.shape[2:]])
    for settings in ({}, {"momentum": None}):
        module = getattr(nn, f"BatchNorm{dims}d")(channels, **settings)
        show("batch norm", module, value)
        show("batch norm", module, value + 1)
        show("statistics", lambda: (module.running_mean, module.running_var, module.num_batches_tracked))
        show("batch norm", module.eval(), value)
    module = getattr(nn, f"InstanceNorm{dims}d")(channels, track_running_stats=True, affine=True)
    show("instance norm", module, value)
    show("instance norm", module, value[0])
    show("statistics", lambda: (module.running_mean, module.running_var))
show("max_norm", nn.Embedding.from_pretrained(numbers(8, 5), max_norm=0.5), classes)
