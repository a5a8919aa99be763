"""Recurrent networks as functions of their weights, packed and padded, and their cells."""

import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")


def text(value):
    if isinstance(value, torch.Tensor):
        return [round(number, 4) + 0.0 for number in value.detach().double().flatten().tolist()]
    return [text(each) for each in value]


def weights(module):
    with torch.no_grad():
        for count, param in enumerate(module.parameters()):
            param.copy_(torch.arange(float(param.numel())).view(param.shape).add(count).cos())
    return [weight for of_layer in module.all_weights for weight in of_layer]


x = torch.arange(24.0).view(2, 3, 4).sin()
for make, function, options in (
    (nn.LSTM, torch.lstm, {}), (nn.GRU, torch.gru, {}), (nn.RNN, torch.rnn_tanh, {"nonlinearity": "tanh"}),
    (nn.RNN, torch.rnn_relu, {"nonlinearity": "relu"}),
):
    for both in (False, True):
        for bias in (True, False):
            flat = weights(make(4, 3, 2, bidirectional=both, bias=bias, batch_first=True, **options))
            hidden = torch.full((4 if both else 2, 2, 3), 0.1)
            states = (hidden, hidden * 2) if function is torch.lstm else hidden
            print(function.__name__, both, bias, text(function(x, states, flat, bias, 2, 0.0, False, both, True)))

flat = weights(nn.LSTM(4, 3, 2, proj_size=2))
print(text(torch.lstm(x, (torch.zeros(2, 3, 2), torch.zeros(2, 3, 3)), flat, True, 2, 0.0, False, False, False)))
packed = nn.utils.rnn.pack_padded_sequence(x, [2, 2, 1])
flat = weights(nn.GRU(4, 3))
print(text(torch.gru(packed.data, packed.batch_sizes, torch.zeros(1, 3, 3), flat, True, 1, 0.0, False, False)))
torch.manual_seed(3)
print(text(torch.rnn_tanh(x, torch.zeros(2, 3, 3), nn.RNN(4, 3, 2)._flat_weights, True, 2, 0.5, True, False, False)))

w, u, b = torch.arange(48.0).view(12, 4).cos(), torch.arange(36.0).view(12, 3).sin(), torch.arange(12.0) / 10
i, h = x[0], torch.full((3, 3), 1 / 3)
print(text(torch.lstm_cell(i, (h, h), w, u, b, b)), text(torch.lstm_cell(i, (h, h), w, u)))
print(text(torch.gru_cell(i, h, w[:9], u[:9], b[:9], b[:9])), text(torch.rnn_tanh_cell(i, h, w[:3], u[:3], b[:3], b[:3])))
print(text(torch.rnn_relu_cell(i, h, w[:3], u[:3])))
for wrong in (
    lambda: torch.lstm_cell(i, (h,), w, u), lambda: torch.gru_cell(i, h, w, u), lambda: torch.rnn_tanh_cell(i, h[:2], w[:3], u[:3]),
    lambda: torch.gru(x, torch.zeros(1, 3, 3), [w[:9], u[:9]], True, 1, 0.0, False, False, False),
):
    try:
        wrong()
    except RuntimeError as error:
        print(error)
