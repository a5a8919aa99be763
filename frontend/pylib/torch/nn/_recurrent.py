"""Recurrent networks as functions of their weights: `torch.lstm`, `torch.gru`, `torch.rnn_tanh`, `torch.rnn_relu` and their cells."""

from torch._C import Tensor
from torch.nn import functional as F


class _Weights:
    """Weights in a flat list, in the shape in which `RNNBase._run` asks a module for them."""

    def __init__(self, mode, params, has_biases, num_layers, dropout, train, bidirectional, has_projection):
        each = (4 if has_biases else 2) + has_projection
        if len(params) != each * num_layers * (2 if bidirectional else 1):
            raise RuntimeError("got an incorrect number of RNN parameters")
        self.mode, self.num_layers, self.dropout = mode, num_layers, dropout
        self.training, self.bidirectional = train, bidirectional
        self.sets = [params[start : start + each] for start in range(0, len(params), each)]
        self.has_biases, self.has_projection = has_biases, has_projection

    def _direction(self, layer, direction):
        weights = list(self.sets[layer * (2 if self.bidirectional else 1) + direction])
        project = weights.pop() if self.has_projection else None
        biases = weights[2:] if self.has_biases else [None, None]
        return (*weights[:2], *biases, project)


def _run(mode, args):
    """Either (input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first), or with packed data and its
    batch sizes instead of the input, and without the last."""
    from torch.nn.modules.rnn import RNNBase

    packed = isinstance(args[1], Tensor) and isinstance(args[3], (list, tuple))
    if packed:
        data, batch_sizes, hx, *options = args
    else:
        data, hx, *options = args
        batch_sizes = None
    params, has_biases, num_layers, dropout, train, bidirectional, *batch_first = options
    if mode == "LSTM":
        if isinstance(hx, Tensor) or len(hx) != 2:
            raise RuntimeError("lstm expects two hidden states")
        hidden, cell = hx
    else:
        hidden, cell = hx, None
    has_projection = cell is not None and hidden.size(-1) != cell.size(-1)
    weights = _Weights(mode, params, has_biases, num_layers, dropout, train, bidirectional, has_projection)
    if packed:
        output, hidden, cell = RNNBase._run(weights, data, hidden, cell, batch_sizes.tolist())
    else:
        output, hidden, cell = RNNBase._run(weights, data.transpose(0, 1) if batch_first[0] else data, hidden, cell)
        output = output.transpose(0, 1) if batch_first[0] else output
    return (output, hidden) if cell is None else (output, hidden, cell)


def lstm(*args):
    """Long short-term memory: the output, and the last hidden and cell states."""
    return _run("LSTM", args)


def gru(*args):
    """Gated recurrent units: the output, and the last hidden states."""
    return _run("GRU", args)


def rnn_tanh(*args):
    """A tanh of two linear maps at each step: the output, and the last hidden states."""
    return _run("RNN_TANH", args)


def rnn_relu(*args):
    """A ReLU of two linear maps at each step: the output, and the last hidden states."""
    return _run("RNN_RELU", args)


def _cell(mode, input, hidden, cell, w_ih, w_hh, b_ih, b_hh):
    from torch.nn.modules.rnn import _GATES, _step

    gates = _GATES[mode]
    shown = f"{gates} * hidden_size" if gates > 1 else "hidden_size"
    if w_ih.size(0) != gates * hidden.size(-1):
        raise RuntimeError(
            f"weight_ih first dim must be {shown} = {gates * hidden.size(-1)}, but got {w_ih.size(0)}"
        )
    if input.size(0) != hidden.size(0):
        raise RuntimeError(f"Input batch size {input.size(0)} doesn't match hidden0 batch size {hidden.size(0)}")
    return _step(mode, F.linear(input, w_ih, b_ih), F.linear(hidden, w_hh, b_hh), hidden, cell)


def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of `lstm`: the hidden state and the cell state."""
    if len(hx) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    return _cell("LSTM", input, hx[0], hx[1], w_ih, w_hh, b_ih, b_hh)


def gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of `gru`: the hidden state."""
    return _cell("GRU", input, hx, None, w_ih, w_hh, b_ih, b_hh)[0]


def rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of `rnn_tanh`: the hidden state."""
    return _cell("RNN_TANH", input, hx, None, w_ih, w_hh, b_ih, b_hh)[0]


def rnn_relu_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One step of `rnn_relu`: the hidden state."""
    return _cell("RNN_RELU", input, hx, None, w_ih, w_hh, b_ih, b_hh)[0]
