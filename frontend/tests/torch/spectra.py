# Spectra over time: torch.stft and torch.istft, their layouts, refusals and gradients.
import warnings

import torch

warnings.simplefilter("ignore")
torch.manual_seed(0)
x = torch.randn(2, 400)
z = torch.randn(2, 100, dtype=torch.complex64)
w = torch.hann_window(64)
S = torch.stft(x, 64, window=w, return_complex=True)


def shown(r):
    return tuple(r.shape), r.dtype, r.stride(), "%.5g" % r.abs().double().sum().item()


for text in [
    "torch.stft(x,64,return_complex=True)",
    "torch.stft(x,64,hop_length=16,window=w,return_complex=True,normalized=True)",
    "torch.stft(x,64,center=False,return_complex=True,onesided=False)",
    "torch.istft(S,64,window=w,length=400)",
    "torch.istft(S,64,window=w)",
    "torch.istft(S[0],64,window=w,length=500)",
    "torch.stft(x,64)",
    "torch.stft(x,64,win_length=32,window=torch.hamming_window(32),return_complex=True,pad_mode='constant')",
    "torch.view_as_real(torch.stft(x,64,window=w,return_complex=True))",
    "torch.stft(x[0],64,return_complex=False)",
    "torch.stft(z,32)",
    "torch.istft(torch.stft(z,32),32,return_complex=True)",
    "torch.stft(x,0,return_complex=True)",
    "torch.stft(x,64,hop_length=0,return_complex=True)",
    "torch.stft(x,64,win_length=65,return_complex=True)",
    "torch.stft(x,64,window=torch.ones(3),return_complex=True)",
    "torch.stft(x.long(),64,return_complex=True)",
    "torch.stft(x.view(2,2,200),64,return_complex=True)",
    "torch.stft(x,900,return_complex=True)",
    "torch.istft(x,64)",
    "torch.istft(S,32)",
    "torch.istft(S,64,hop_length=65)",
    "torch.istft(S,64,window=w,center=False)",
    "torch.stft(z,32,onesided=True)",
    "torch.istft(torch.stft(x,64,onesided=False,return_complex=True,window=w),64,window=w)",
    "torch.stft(x.double(),64,window=w.double(),return_complex=True)",
    "x.stft(64,return_complex=True)",
    "S.istft(64,window=w)",
]:
    try:
        print(text, shown(eval(text)))
    except Exception as error:
        print(text, type(error).__name__, str(error).split("\n")[0])

y = x.clone().requires_grad_()
torch.stft(y, 64, window=w, return_complex=True).abs().sum().backward()
print("%.5g" % y.grad.abs().sum())
y = S.clone().requires_grad_()
torch.istft(y, 64, window=w).pow(2).sum().backward()
print("%.5g" % y.grad.abs().sum())
