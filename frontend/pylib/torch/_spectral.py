"""Spectra of signals over time: `stft`, and back."""

from torch import _C
from torch.nn import functional as F


def stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False, onesided=None,
         return_complex=None, align_to_window=None):
    """The spectra of windows of a signal: `(..., frequencies, windows)`.

    Takes signals of shape `(samples,)` or `(batch, samples)`. A spectrum has `n_fft // 2 + 1` frequencies, or `n_fft` where it is not
    one-sided; windows start every `hop_length` samples, a quarter of `n_fft` by default.
    """
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    complex_input = input.is_complex() or (window is not None and window.is_complex())
    if return_complex is None:
        if not complex_input:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will further require that return_complex=True "
                "in a future PyTorch release."
            )
        return_complex = True
    if center:
        if align_to_window is not None:
            raise RuntimeError("stft align_to_window should only be set when center = false.")
        around = n_fft // 2
        lead = (1,) * (3 - input.dim())
        padded = F.pad(input.reshape(lead + tuple(input.shape)), [around, around], mode=pad_mode)
        input = padded.reshape(padded.shape[len(lead):])
    name = (
        f"stft({_shown(input)}, n_fft={n_fft}, hop_length={hop}, win_length={length}, window={_window(window)}, "
        f"normalized={int(normalized)}, onesided={_flag(onesided)}, return_complex={_flag(return_complex)}, "
        f"align_to_window={_flag(align_to_window)}) "
    )
    if not (input.is_floating_point() or input.is_complex()):
        raise NotImplementedError(f"{name}: expected a tensor of floating point or complex values")
    if input.dim() not in (1, 2):
        raise RuntimeError(f"{name}: expected a 1D or 2D tensor")
    signals = input if input.dim() == 2 else input.unsqueeze(0)
    samples = signals.size(1)
    if not 0 < n_fft <= samples:
        raise RuntimeError(f"{name}: expected 0 < n_fft < {samples}, but got n_fft={n_fft}")
    if hop <= 0:
        raise RuntimeError(f"{name}: expected hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise RuntimeError(f"{name}: expected 0 < win_length <= n_fft, but got win_length={length}")
    weights = _weights(name, window, n_fft, length)
    if onesided is None:
        onesided = not complex_input
    elif onesided and complex_input:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    frames = signals.unfold(1, n_fft, hop)
    if weights is not None:
        frames = frames * weights
    norm = "ortho" if normalized else "backward"
    if complex_input:
        spectra = _C._fft.fft(frames, norm=norm)
    elif onesided:
        spectra = _C._fft.rfft(frames, norm=norm)
    else:
        spectra = _C._fft.fft(frames, norm=norm)
    spectra = spectra.transpose(1, 2)
    if input.dim() == 1:
        spectra = spectra.squeeze(0)
    return spectra if return_complex else _C.view_as_real(spectra)


def istft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None, length=None,
          return_complex=False):
    """The signal whose windows have these spectra; where windows overlap it is their least-squares estimate.

    Takes complex spectra of shape `(frequencies, windows)` or `(batch, frequencies, windows)`, as `stft` gives them.
    """
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    name = (
        f"istft({_shown(input)}, n_fft={n_fft}, hop_length={hop}, win_length={width}, window={_window(window)}, center={int(center)}, "
        f"normalized={int(normalized)}, onesided={_flag(onesided)}, length={_flag(length)}, return_complex={int(return_complex)}) "
    )
    if not input.is_complex():
        raise TypeError("istft requires a complex-valued input tensor matching the output from stft with return_complex=True.")
    if input.numel() == 0:
        raise RuntimeError(f"{name}: input tensor cannot be empty.")
    if input.dim() not in (2, 3):
        raise RuntimeError(f"{name}: expected a tensor with 3 or 4 dimensions, but got {input.dim() + 1}")
    spectra = input if input.dim() == 3 else input.unsqueeze(0)
    frequencies = spectra.size(1)
    if onesided is None:
        onesided = frequencies != n_fft
    wanted = n_fft // 2 + 1 if onesided else n_fft
    if frequencies != wanted:
        rule = "n_fft / 2 + 1 when onesided=True" if onesided else "n_fft when onesided=False"
        raise RuntimeError(f"{name}: expected the frequency dimension (3rd to the last) of the input tensor to match {rule}, but got {frequencies}")
    if not 0 < hop <= width:
        raise RuntimeError(f"{name}: expected 0 < hop_length <= win_length")
    if not 0 < width <= n_fft:
        raise RuntimeError(f"{name}: expected 0 < win_length <= n_fft")
    weights = _weights(name, window, n_fft, width)
    if weights is None:
        weights = _C.ones(n_fft, dtype=_C.view_as_real(spectra).dtype)
    norm = "ortho" if normalized else "backward"
    spectra = spectra.transpose(1, 2)
    if return_complex:
        frames = _C._fft.ifft(spectra, norm=norm)
    elif onesided:
        frames = _C._fft.irfft(spectra, n=n_fft, norm=norm)
    else:
        frames = _C._fft.ifft(spectra, norm=norm).real
    count = frames.size(1)
    total = n_fft + hop * (count - 1)
    signals = _added_up(frames * weights, total, n_fft, hop)
    envelope = _added_up(weights.square().expand(1, count, n_fft), total, n_fft, hop)
    start = n_fft // 2 if center else 0
    if length is not None:
        end = start + length
    else:
        end = total - n_fft // 2 if center else total
    signals, envelope = signals[:, start:end], envelope[:, start:end]
    if not float(envelope.abs().min()) > 1e-11:
        raise RuntimeError(f"{name}window overlap add min: 1")
    signals = signals / envelope
    if length is not None and signals.size(1) < length:
        signals = F.pad(signals, [0, length - signals.size(1)])
    return signals if input.dim() == 3 else signals.squeeze(0)


def _added_up(frames, total, n_fft, hop):
    """Windows laid over each other every `hop` samples, and added: `(batch, windows, n_fft)` to `(batch, total)`."""
    if frames.is_complex():
        return _C.complex(*[_added_up(part, total, n_fft, hop) for part in (frames.real, frames.imag)])
    at = _C.arange(frames.size(1)).mul(hop).unsqueeze(1) + _C.arange(n_fft)
    flat = frames.reshape(frames.size(0), -1)
    return _C.zeros(frames.size(0), total, dtype=frames.dtype).index_add(1, at.reshape(-1), flat)


def _weights(name, window, n_fft, length):
    """The window, with zeros on both sides where it is shorter than the transform."""
    if window is not None and (window.dim() != 1 or window.size(0) != length):
        raise RuntimeError(f"{name}: expected a 1D window tensor of size equal to win_length={length}, but got window with size "
                           f"{list(window.shape)}")
    if length == n_fft:
        return window
    if window is None:
        window = _C.ones(length)
    left = (n_fft - length) // 2
    return F.pad(window, [left, n_fft - length - left])


def _shown(tensor):
    kind = {_C.complex64: "CPUComplexFloatType", _C.complex128: "CPUComplexDoubleType"}.get(tensor.dtype, None)
    return f"{kind or tensor.type()}{list(tensor.shape)}"


def _window(window):
    return "None" if window is None else f"{window.type()}{{{list(window.shape)}}}"


def _flag(value):
    return "None" if value is None else str(int(value))
