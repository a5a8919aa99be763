"""Recurrent networks, written as loops over time steps."""

import math

import torch
from torch.nn import functional as F
from torch.nn import init
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter
from torch.nn.utils.rnn import PackedSequence

# How many times the hidden size the stacked weights of a step have.
_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _step(mode, input_gates, hidden_gates, hidden, cell):
    """One time step: the new hidden state, and the new cell state of an LSTM (None for the others)."""
    if mode == "LSTM":
        i, f, g, o = (input_gates + hidden_gates).chunk(4, -1)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(cell), cell
    if mode == "GRU":
        input_r, input_z, input_n = input_gates.chunk(3, -1)
        hidden_r, hidden_z, hidden_n = hidden_gates.chunk(3, -1)
        z = torch.sigmoid(input_z + hidden_z)
        n = torch.tanh(input_n + torch.sigmoid(input_r + hidden_r) * hidden_n)
        return n + z * (hidden - n), None
    gates = input_gates + hidden_gates
    return (torch.tanh(gates) if mode == "RNN_TANH" else torch.relu(gates)), None


def _reordered(states, order):
    """States with their batch in another order; None for either changes nothing."""
    return states if states is None or order is None else states.index_select(1, order)


class RNNBase(Module):
    """Layers of recurrent cells, run over a sequence."""

    __constants__ = ["mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional",
                     "proj_size"]

    def __init__(self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, proj_size=0, device=None, dtype=None):
        super().__init__()
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        if hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if proj_size >= hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        directions = 2 if bidirectional else 1
        gate_size = _GATES[mode] * hidden_size
        out_size = proj_size if proj_size > 0 else hidden_size
        self._all_weights = []
        for layer in range(num_layers):
            for direction in range(directions):
                suffix = f"_l{layer}" + ("_reverse" if direction else "")
                layer_input_size = input_size if layer == 0 else out_size * directions
                shapes = [("weight_ih", (gate_size, layer_input_size)), ("weight_hh", (gate_size, out_size))]
                if bias:
                    shapes += [("bias_ih", (gate_size,)), ("bias_hh", (gate_size,))]
                if proj_size > 0:
                    shapes.append(("weight_hr", (proj_size, hidden_size)))
                for name, shape in shapes:
                    setattr(self, name + suffix, Parameter(torch.empty(shape, device=device, dtype=dtype)))
                self._all_weights.append([name + suffix for name, _ in shapes])
        self.reset_parameters()

    def reset_parameters(self):
        """Fills all weights from the uniform distribution on ±1/√hidden_size."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    @property
    def all_weights(self):
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights(self):
        return [weight for weights in self.all_weights for weight in weights]

    def flatten_parameters(self):
        """Does nothing: the weights need no common storage here."""

    def _direction(self, layer, direction):
        """The weights of one direction of one layer: input, hidden, their biases, and the projection (None if missing)."""
        suffix = f"_l{layer}" + ("_reverse" if direction else "")
        bias_ih = getattr(self, "bias_ih" + suffix) if self.bias else None
        bias_hh = getattr(self, "bias_hh" + suffix) if self.bias else None
        project = getattr(self, "weight_hr" + suffix) if self.proj_size > 0 else None
        return getattr(self, "weight_ih" + suffix), getattr(self, "weight_hh" + suffix), bias_ih, bias_hh, project

    def _run(self, input, hidden, cell, sizes=None):
        """Runs (time, batch, feature) input; returns the outputs and the final states of each layer and direction.

        With `sizes` the input is (elements, feature): the first `sizes[0]` are the first step, and so on, each step no larger than
        the one before; and so is the output.
        """
        directions = 2 if self.bidirectional else 1
        hiddens, cells = [], []
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(directions):
                weight_ih, weight_hh, bias_ih, bias_hh, project = self._direction(layer, direction)
                index = layer * directions + direction
                h = hidden[index]
                c = None if cell is None else cell[index]
                gates = F.linear(input, weight_ih, bias_ih)
                steps = gates.unbind(0) if sizes is None else gates.split(sizes)
                outs = []
                for gates in reversed(steps) if direction else steps:
                    old_h, old_c, alive = h, c, gates.size(0)
                    if sizes is not None:
                        h, c = h[:alive], None if c is None else c[:alive]
                    h, c = _step(self.mode, gates, F.linear(h, weight_hh, bias_hh), h, c)
                    if project is not None:
                        h = F.linear(h, project)
                    outs.append(h)
                    if sizes is not None:
                        h = torch.cat([h, old_h[alive:]])
                        c = None if c is None else torch.cat([c, old_c[alive:]])
                if direction:
                    outs.reverse()
                outputs.append(torch.stack(outs) if sizes is None else torch.cat(outs))
                hiddens.append(h)
                cells.append(c)
            input = outputs[0] if directions == 1 else torch.cat(outputs, -1)
            if self.dropout > 0 and layer < self.num_layers - 1:
                input = F.dropout(input, self.dropout, self.training)
        return input, torch.stack(hiddens), None if cell is None else torch.stack(cells)

    def _check_input(self, input):
        if input.dim() not in (2, 3):
            raise ValueError(f"{self._get_name()}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def _check_hidden(self, hidden, shape):
        if tuple(hidden.shape) != shape:
            raise RuntimeError(f"Expected hidden size {shape}, got {list(hidden.shape)}")

    def _forward_packed(self, input, hidden, cell, has_cell):
        order, back = input.sorted_indices, input.unsorted_indices
        sizes = input.batch_sizes.tolist()
        layers = self.num_layers * (2 if self.bidirectional else 1)
        out_size = self.proj_size if self.proj_size > 0 else self.hidden_size
        if hidden is None:
            hidden = input.data.new_zeros(layers, sizes[0], out_size)
            cell = input.data.new_zeros(layers, sizes[0], self.hidden_size) if has_cell else None
        else:
            self._check_hidden(hidden, (layers, sizes[0], out_size))
            hidden, cell = _reordered(hidden, order), _reordered(cell, order)
        data, hidden, cell = self._run(input.data, hidden, cell, sizes)
        return input._with(data), _reordered(hidden, back), _reordered(cell, back)

    def _forward(self, input, hidden, cell, has_cell):
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hidden, cell, has_cell)
        self._check_input(input)
        batched = input.dim() == 3
        batch_dim = 0 if self.batch_first else 1
        sequence = input if batched else input.unsqueeze(batch_dim)
        if self.batch_first:
            sequence = sequence.transpose(0, 1)
        layers = self.num_layers * (2 if self.bidirectional else 1)
        out_size = self.proj_size if self.proj_size > 0 else self.hidden_size
        batch = sequence.size(1)
        if hidden is None:
            hidden = torch.zeros(layers, batch, out_size, dtype=input.dtype, device=input.device)
            cell = torch.zeros(layers, batch, self.hidden_size, dtype=input.dtype, device=input.device) if has_cell else None
        else:
            if not batched:
                hidden = hidden.unsqueeze(1)
                cell = cell.unsqueeze(1) if has_cell else None
            self._check_hidden(hidden, (layers, batch, out_size))
        output, hidden, cell = self._run(sequence, hidden, cell)
        if self.batch_first:
            output = output.transpose(0, 1)
        if not batched:
            output, hidden = output.squeeze(batch_dim), hidden.squeeze(1)
            cell = cell.squeeze(1) if has_cell else None
        return output, hidden, cell

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first is not False:
            text += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            text += f", bidirectional={self.bidirectional}"
        return text


class RNN(RNNBase):
    """Elman networks: tanh, or ReLU, of the sum of two linear maps."""

    def __init__(self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, device=None, dtype=None):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(
            "RNN_" + nonlinearity.upper(), input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            device=device, dtype=dtype,
        )
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        output, hidden, _ = self._forward(input, hx, None, False)
        return output, hidden


class LSTM(RNNBase):
    """Long short-term memory."""

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
                 proj_size=0, device=None, dtype=None):
        super().__init__(
            "LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, device, dtype
        )

    def forward(self, input, hx=None):
        hidden, cell = (None, None) if hx is None else hx
        output, hidden, cell = self._forward(input, hidden, cell, True)
        return output, (hidden, cell)


class GRU(RNNBase):
    """Gated recurrent units."""

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
                 device=None, dtype=None):
        super().__init__(
            "GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device=device, dtype=dtype
        )

    def forward(self, input, hx=None):
        output, hidden, _ = self._forward(input, hx, None, False)
        return output, hidden


class RNNCellBase(Module):
    """One time step of a recurrent network."""

    __constants__ = ["input_size", "hidden_size", "bias"]

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(torch.empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(torch.empty((rows, hidden_size), device=device, dtype=dtype))
        if bias:
            self.bias_ih = Parameter(torch.empty(rows, device=device, dtype=dtype))
            self.bias_hh = Parameter(torch.empty(rows, device=device, dtype=dtype))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def reset_parameters(self):
        """Fills all weights from the uniform distribution on ±1/√hidden_size."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _run(self, mode, input, hidden, cell):
        if input.dim() not in (1, 2):
            raise ValueError(f"{self._get_name()}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        if hidden is None:
            shape = input.shape[:-1] + (self.hidden_size,)
            hidden = torch.zeros(shape, dtype=input.dtype, device=input.device)
            cell = hidden
        input_gates = F.linear(input, self.weight_ih, self.bias_ih)
        return _step(mode, input_gates, F.linear(hidden, self.weight_hh, self.bias_hh), hidden, cell)

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text


class RNNCell(RNNCellBase):
    """One time step of `RNN`."""

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._run("RNN_" + self.nonlinearity.upper(), input, hx, None)[0]


class LSTMCell(RNNCellBase):
    """One time step of `LSTM`."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        hidden, cell = (None, None) if hx is None else hx
        return self._run("LSTM", input, hidden, cell)


class GRUCell(RNNCellBase):
    """One time step of `GRU`."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        return self._run("GRU", input, hx, None)[0]
