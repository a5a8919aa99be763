"""Every module of torch.nn: how it prints, its parameters with their first values' sum, its buffers and state dict."""

import warnings
from collections import OrderedDict

import torch
from torch import nn

warnings.simplefilter("ignore")


def show(make):
    torch.manual_seed(3)
    module = make()
    print(module)
    for name, parameter in module.named_parameters():
        if isinstance(parameter, nn.UninitializedParameter):
            print(" ", name, "uninitialized")
        else:
            print(" ", name, tuple(parameter.shape), parameter.requires_grad, f"{parameter.double().sum().item():.5f}")
    for name, buffer in module.named_buffers():
        print("  buffer", name, "uninitialized" if isinstance(buffer, nn.UninitializedBuffer) else buffer.dtype)
    print("  state", list(module.state_dict()), module.training)


show(lambda: nn.Identity(3, x=4))
show(lambda: nn.Linear(3, 5))
show(lambda: nn.Linear(3, 5, bias=False))
show(lambda: nn.Bilinear(3, 4, 5))
show(lambda: nn.LazyLinear(3))

PLAIN = """ReLU ReLU6 Sigmoid Tanh SiLU Mish Hardswish Hardsigmoid Softplus Softsign LogSigmoid Tanhshrink GELU ELU CELU SELU Hardtanh
    LeakyReLU Hardshrink Softshrink GLU Softmin Softmax LogSoftmax PReLU RReLU Softmax2d Flatten CosineSimilarity PairwiseDistance
    Dropout AlphaDropout FeatureAlphaDropout L1Loss MSELoss NLLLoss CrossEntropyLoss BCELoss BCEWithLogitsLoss PoissonNLLLoss
    GaussianNLLLoss KLDivLoss SmoothL1Loss HuberLoss SoftMarginLoss HingeEmbeddingLoss CosineEmbeddingLoss MarginRankingLoss
    MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss CTCLoss Sequential
    ModuleList ModuleDict"""
for name in PLAIN.split():
    show(lambda: getattr(nn, name)())
for name in "ReLU ReLU6 SiLU Mish Hardswish Hardsigmoid ELU CELU SELU Hardtanh LeakyReLU RReLU".split():
    show(lambda: getattr(nn, name)(inplace=True))
show(lambda: nn.Threshold(0.1, 20))
show(lambda: nn.GELU("tanh"))
show(lambda: nn.PReLU(3))

show(lambda: nn.LayerNorm((3, 4)))
show(lambda: nn.LayerNorm(4, bias=False))
show(lambda: nn.LayerNorm(4, elementwise_affine=False))
show(lambda: nn.RMSNorm(4))
show(lambda: nn.GroupNorm(2, 4))
show(lambda: nn.LocalResponseNorm(2))

for dims in "123":
    show(lambda: getattr(nn, f"BatchNorm{dims}d")(4))
    show(lambda: getattr(nn, f"BatchNorm{dims}d")(4, affine=False, momentum=None))
    show(lambda: getattr(nn, f"LazyBatchNorm{dims}d")())
    show(lambda: getattr(nn, f"InstanceNorm{dims}d")(4, affine=True))
    show(lambda: getattr(nn, f"Conv{dims}d")(4, 6, 3))
    show(lambda: getattr(nn, f"Conv{dims}d")(4, 6, 3, stride=2, padding=1, dilation=2, groups=2, bias=False))
    show(lambda: getattr(nn, f"Conv{dims}d")(4, 6, 3, padding="same", padding_mode="circular"))
    show(lambda: getattr(nn, f"ConvTranspose{dims}d")(4, 6, 3, output_padding=1, stride=2))
    show(lambda: getattr(nn, f"MaxPool{dims}d")(3))
    show(lambda: getattr(nn, f"AvgPool{dims}d")(3, 2))
    show(lambda: getattr(nn, f"AdaptiveAvgPool{dims}d")(3))
    show(lambda: getattr(nn, f"AdaptiveMaxPool{dims}d")(3))
    show(lambda: getattr(nn, f"LPPool{dims}d")(2, 3))
    show(lambda: getattr(nn, f"MaxUnpool{dims}d")(3))
    show(lambda: getattr(nn, f"Dropout{dims}d")(0.3))
    show(lambda: getattr(nn, f"ConstantPad{dims}d")(3, 1.5))
    for kind in ("Zero", "Reflection", "Replication", "Circular"):
        show(lambda: getattr(nn, f"{kind}Pad{dims}d")(2))

show(lambda: nn.Embedding(5, 4))
show(lambda: nn.Embedding(5, 4, padding_idx=-1, max_norm=1.0, norm_type=1.0, scale_grad_by_freq=True, sparse=True))
show(lambda: nn.Embedding.from_pretrained(torch.ones(3, 4)))
show(lambda: nn.EmbeddingBag(5, 4))
show(lambda: nn.Unflatten(1, (2, 3)))
show(lambda: nn.Upsample(scale_factor=2))
show(lambda: nn.Upsample((3, 4), mode="bilinear"))
show(lambda: nn.UpsamplingNearest2d(scale_factor=2))
show(lambda: nn.UpsamplingBilinear2d(4))
show(lambda: nn.PixelShuffle(2))
show(lambda: nn.PixelUnshuffle(2))
show(lambda: nn.ChannelShuffle(2))
show(lambda: nn.Fold((4, 5), (2, 2)))
show(lambda: nn.Unfold(3))

show(lambda: nn.LSTM(3, 4))
show(lambda: nn.LSTM(3, 4, 2, bidirectional=True, batch_first=True, dropout=0.2, proj_size=2))
show(lambda: nn.GRU(3, 4, bias=False))
show(lambda: nn.RNN(3, 4, nonlinearity="relu"))
show(lambda: nn.LSTMCell(3, 4))
show(lambda: nn.GRUCell(3, 4))
show(lambda: nn.RNNCell(3, 4, nonlinearity="relu"))
show(lambda: nn.MultiheadAttention(8, 2))
show(lambda: nn.MultiheadAttention(8, 2, kdim=4, vdim=6, add_bias_kv=True, add_zero_attn=True))
show(lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 3))
show(lambda: nn.TransformerDecoderLayer(8, 2, 16, norm_first=True))
show(lambda: nn.Transformer(8, 2, 1, 1, 16))

show(lambda: nn.Sequential(OrderedDict([("x", nn.Linear(2, 3)), ("y", nn.Sequential(nn.ReLU(), nn.Tanh()))])))
show(lambda: nn.ModuleList([nn.Linear(2, 2) for _ in range(4)] + [nn.ReLU()]))
show(lambda: nn.ModuleDict({"a": nn.Linear(1, 2), "b": nn.ReLU()}))
show(lambda: nn.ParameterList([torch.ones(2), torch.ones(2, 3), 4]))
show(lambda: nn.ParameterDict({"a": torch.ones(2), "b": nn.Parameter(torch.ones(3, 1))}))
