# Complex tensors: making them, their parts, arithmetic, printing, refusals, gradients; and torch.fft.
import warnings

import torch

warnings.simplefilter("ignore")


def attempt(name, work):
    try:
        result = work()
    except Exception as error:
        print(name, type(error).__name__, str(error).split("\n")[0])
    else:
        print(name, result)


z = torch.tensor([[1 + 2j, -3.5 - 4j, 0.25j], [2 - 0.5j, 1, -1j]])
x = torch.tensor([[1.0, -2.0, 0.5], [0.25, 3.0, -1.5]])

print("# printing")
inf, nan = float("inf"), float("nan")
for value in [
    1 + 2j,
    [1 + 2j, -3.5 - 4j],
    [1 + 0j, 2],
    [1e10 + 1j, 1],
    [complex(nan), complex(inf), 1 - 0j],
    [complex(nan, -inf), complex(1, nan)],
    [0.0001j, 1],
    [1.5 - 2j, 100 + 0.25j],
    [complex(k, -k / 3) for k in range(20)],
    [[complex(k, j) for k in range(3)] for j in range(2)],
    [complex(k, k / 4) for k in range(2000)],
]:
    print(torch.tensor(value))
    print(torch.tensor(value, dtype=torch.complex128))
print(torch.zeros(0, dtype=torch.cfloat), torch.zeros(2, 0, dtype=torch.cdouble))
print(z.clone().requires_grad_())

print("# what they are")
print(z.dtype, z.is_complex(), torch.is_complex(z), torch.is_complex(x), z.is_floating_point(), z.element_size(), z.is_conj(), z.is_neg())
print(torch.cfloat, torch.cdouble, torch.complex64.is_complex, torch.complex64.to_real(), torch.float64.to_complex(), torch.complex128.itemsize)
print(torch.finfo(torch.complex64), z.type())
print(z.tolist(), z[0, 1].item(), complex(z[0, 0]), float(z[1, 1]), int(z[1, 1]), bool(z[0, 0]))
print(torch.promote_types(torch.float64, torch.complex64), torch.result_type(x, 1j), torch.can_cast(torch.complex64, torch.float32))

print("# making")
print(torch.zeros(2, dtype=torch.complex64), torch.ones(2, dtype=torch.cdouble), torch.full((2,), 1j), torch.full((2,), 3, dtype=torch.cfloat))
print(torch.eye(2, dtype=torch.complex64), torch.zeros_like(z), z.new_ones(2), z.new_full((2,), 2j), torch.full_like(z, 1 - 1j))
print(torch.complex(x, -x), torch.polar(x.abs(), x), torch.view_as_complex(torch.tensor([[1.0, 2.0], [3.0, 4.0]])))
print(torch.tensor([z[0, 0], 2]), torch.as_tensor([1j]), z.new_tensor([1]))

print("# drawing")
torch.manual_seed(3)
for size in [(3,), (8,), (4, 5)]:
    print(torch.randn(size, dtype=torch.complex64), torch.rand(size, dtype=torch.complex128))
print(torch.empty(3, dtype=torch.cfloat).normal_(1.0, 2.0), torch.empty(3, 2, dtype=torch.cfloat).t().uniform_(), torch.rand(1))
print(torch.randn_like(torch.zeros(3, 2, dtype=torch.cdouble).t()), torch.normal(z[0], torch.ones(3)))
print(torch.nn.Linear(2, 3, dtype=torch.cfloat).weight, torch.nn.functional.dropout(torch.ones(8, dtype=torch.cfloat), 0.5))
attempt("exponential", lambda: torch.ones(2, dtype=torch.cfloat).exponential_())
attempt("cauchy", lambda: torch.ones(2, dtype=torch.cfloat).cauchy_())

print("# parts are views")
own = z.clone()
own.real[0] = 7.0
own.imag.mul_(2)
torch.view_as_real(own)[1, 0, 1] = -9.0
print(own, own.real.stride(), own.imag.storage_offset(), own.T.imag.stride(), torch.view_as_real(own.T).shape, torch.view_as_real(own.T).stride())
print(torch.real(x) is x, torch.real(z), torch.imag(z), torch.conj(x) is x, z.conj(), torch.resolve_conj(z.conj()), z.mH, z.H, z.adjoint(), torch.isreal(z))
print(z[:, 1:], z.t()[1], z.reshape(-1), z.permute(1, 0).contiguous(), z.view(torch.float32), z.flip(1), torch.stack([z, z])[1, 0])

print("# arithmetic")
for text in [
    "z + z", "z - x", "x * 1j", "x.double() * 1j", "torch.arange(3) * 1j", "z * 2", "2 * z", "z / z.conj()", "x / z", "1 / z", "1j - z", "z - 1j", "-z",
    "z ** 2", "z.square()", "z == z", "z != x", "z == 1", "z.abs()", "z.angle()", "torch.sgn(z)", "z.sum()", "z.sum(0)", "z.mean(1, keepdim=True)",
    "z @ z.T", "z[0] @ z[1]", "z.mul(x)", "torch.add(z, x, alpha=2j)", "z.to(torch.complex128)", "z.float()", "z.to(torch.int64)",
    "z.bool()", "z.cfloat() is z", "x.cdouble()", "torch.cat([x, z])", "torch.where(x > 0, z, x)", "z.masked_fill(x > 0, 1j)", "z.index_select(1, torch.tensor([2, 0]))",
    "z[x > 0]", "z.isnan()", "z.nonzero()[:2]", "z.gather(1, torch.tensor([[1], [2]]))", "torch.nn.functional.pad(z, (1, 0))", "z.roll(1, 1)", "torch.outer(z[0], z[1])",
    "z.tril()", "torch.equal(z, z)", "z.clone().add_(1j)", "z.clone().mul_(x)", "z.clone().fill_(2j)", "z.clone().zero_()",
    "z.expand(2, 2, 3)[1]", "z.unbind(0)[1]", "z.repeat(1, 2)", "z.diagonal()",
]:
    attempt(text, lambda: eval(text))

print("# refusals")
for text in [
    "z < z", "z >= 1", "z.clamp(0)", "z.floor()", "z.round()", "z.ceil()", "z.trunc()", "torch.sign(z)", "z // z", "z % 2", "torch.maximum(z, z)",
    "torch.erf(z)", "torch.lgamma(z)", "torch.atan2(z, z)", "torch.hypot(z, z)", "z & z", "torch.fmod(z, z)",
    "x.mul_(1j)", "x.add_(z)", "x.fill_(1j)", "x.masked_fill(x > 0, 1j)", "torch.full((2,), 1j, dtype=torch.float32)", "torch.tensor(1j, dtype=torch.float32)",
    "x.imag", "torch.imag(x)", "torch.view_as_real(x)", "torch.view_as_complex(x)", "torch.view_as_complex(torch.zeros(2, 3).t())", "torch.view_as_complex(torch.arange(2))",
    "torch.view_as_complex(torch.tensor(1.0))", "torch.view_as_complex(torch.zeros(6).as_strided((2, 2), (3, 1)))", "torch.view_as_complex(torch.zeros(6)[1:5].view(2, 2))",
    "torch.complex(x, x.double())", "torch.complex(torch.arange(3), torch.arange(3))", "torch.polar(x, x.double())", "torch.arange(3, dtype=torch.complex64)",
    "torch.set_default_dtype(torch.complex64)", "x.new_tensor(1j)", "z.item()", "torch.add(x, x, alpha=1j)",
    "z.clone().requires_grad_().sum().backward()", "torch.zeros(3)[z]", "torch.zeros(3)[z[0, 0]]",
]:
    attempt(text, lambda: eval(text))


def gradient(name, work, *tensors):
    leaves = [tensor.clone().requires_grad_() for tensor in tensors]
    work(*leaves).backward()
    # Where terms cancel, what is left over is noise.
    print(name, *[torch.where(leaf.grad.abs() < 1e-12, torch.zeros_like(leaf.grad), leaf.grad) for leaf in leaves])


print("# gradients")
gradient("abs", lambda z: z.abs().sum(), z)
gradient("angle", lambda z: z.angle().sum(), z)
gradient("square", lambda z: (z * z).real.sum(), z)
gradient("product", lambda z, x: (z * x).imag.sum(), z, x)
gradient("quotient", lambda z, x: (x / z).real.sum(), z, x)
gradient("conj", lambda z: (z * z.conj()).real.sum(), z)
gradient("exp", lambda z: z.exp().real.sum(), z)
gradient("power", lambda z: (z**2).imag.sum(), z)
gradient("matmul", lambda z, x: (z @ x.T.to(z.dtype)).real.sum(), z, x)
gradient("parts", lambda x: torch.view_as_real(torch.complex(x, x * 2)).square().sum(), x)
gradient("polar", lambda x: torch.polar(x.abs(), x).imag.sum(), x)
gradient("mean", lambda z: z.mean(0).abs().sum(), z)
gradient("index", lambda z: z[:, 1].imag.sum() + z.flip(0)[0].real.sum(), z)
gradient("expand", lambda z: z.expand(2, 2, 3).imag.sum(), z)
gradient("sgn", lambda z: torch.sgn(z).real.sum(), z[:, :2])
gradient("constant", lambda x: (x * 1j).imag.sum(), x)
gradient("written", lambda z: (z * 1).mul_(2j).real.sum(), z)

print("# fft")
signal = torch.tensor([[1.0, 2.0, -1.0, 0.5], [0.0, 3.0, 1.0, -2.0]], dtype=torch.float64)
for text in [
    "torch.fft.fft(signal)", "torch.fft.ifft(signal, n=3)", "torch.fft.rfft(signal, norm='ortho')", "torch.fft.irfft(torch.fft.rfft(signal))",
    "torch.fft.hfft(torch.fft.ihfft(signal))", "torch.fft.fft2(signal)", "torch.fft.ifft2(torch.fft.fft2(signal)).real", "torch.fft.rfft2(signal, s=(3, 5))",
    "torch.fft.irfft2(torch.fft.rfft2(signal))", "torch.fft.fftn(signal, dim=0)", "torch.fft.irfftn(torch.fft.rfftn(signal), s=signal.shape)",
    "torch.fft.hfft2(torch.fft.ihfft2(signal))", "torch.fft.fftfreq(5)", "torch.fft.fftfreq(4, 2)", "torch.fft.rfftfreq(6, d=0.5, dtype=torch.float64)", "torch.fft.fftfreq(0)",
    "torch.fft.fftshift(signal)", "torch.fft.ifftshift(torch.arange(5))", "torch.fft.fftshift(signal, dim=1)", "torch.fft.fft(torch.arange(4)).dtype",
    "torch.fft.fft(torch.zeros(0))", "torch.fft.fft(signal, n=0)", "torch.fft.fft(signal, norm='foo')", "torch.fft.fft(signal, dim=5)", "torch.fft.fft(torch.tensor(1.0))",
    "torch.fft.rfft(signal + 0j)", "torch.fft.ihfft(signal + 0j)", "torch.fft.rfftn(signal + 0j)", "torch.fft.fft(signal.half())", "torch.fft.irfft(torch.zeros(1))",
    "torch.fft.fftn(signal, s=(2,), dim=(0, 1))", "torch.fft.fftn(signal, s=(1, 2, 3))", "torch.fft.fftn(signal, dim=(0, 0))", "torch.fft.fft2(torch.zeros(3))",
    "torch.fft.irfftn(signal, dim=())", "torch.fft.rfftn(signal, dim=())", "torch.fft.fftn(signal, dim=()).dtype", "torch.fft.fftn(signal, s=3).shape", "torch.fft.fftfreq(4, dtype=torch.int64)",
]:
    attempt(text, lambda: eval(text))
gradient("fft2", lambda x: torch.view_as_real(torch.fft.fft2(x)).square().sum(), signal)
gradient("rfft", lambda x: torch.fft.rfft(x).abs().sum(), signal)
gradient("irfft", lambda x: (torch.fft.irfft(x, n=5) ** 2).sum(), signal)
gradient("irfftn", lambda z: (torch.fft.irfftn(z) ** 2).sum(), signal + 1j)
gradient("ifft", lambda z: torch.fft.ifft(z, n=6).imag.sum(), signal + 1j)
