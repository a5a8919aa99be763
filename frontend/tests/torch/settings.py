"""Settings of the process, functions of symbolic numbers, windows, and second names of functions."""

import torch

EXPRESSIONS = """
torch.set_float32_matmul_precision(3); torch.get_float32_matmul_precision(); torch.set_float32_matmul_precision('high')
torch.get_float32_matmul_precision(); torch.use_deterministic_algorithms(True); torch.are_deterministic_algorithms_enabled()
torch.get_deterministic_debug_mode(); torch.set_deterministic_debug_mode('x'); torch.set_deterministic_debug_mode(5)
torch.set_deterministic_debug_mode('warn'); torch.is_deterministic_algorithms_warn_only_enabled()
torch.use_deterministic_algorithms(False); torch.get_default_device(); torch.set_default_device('cpu'); torch.is_warn_always_enabled()
torch.set_default_tensor_type(torch.DoubleTensor); torch.tensor(1.0).dtype; torch.set_default_tensor_type('torch.FloatTensor')
torch.tensor(1.0).dtype; torch.sym_int(3.7); torch.sym_float(3); torch.sym_max(2, 3.0); torch.sym_min(2, 3); torch.sym_not(True)
torch.sym_sqrt(4); torch.sym_sum([1, 2]); torch.sym_ite(True, 1, 2); torch.hamming_window(5); torch.bartlett_window(5)
torch.blackman_window(6, False); torch.hamming_window(5, False, 0.5, 0.5); torch.bartlett_window(6, periodic=False)
torch.hamming_window(1); torch.hamming_window(-1); torch.bartlett_window(5, dtype=torch.float64); torch.unsafe_chunk(torch.arange(4), 2)
torch.unsafe_split(torch.arange(4), 3); torch.is_inference(torch.ones(1)); torch.is_signed(torch.ones(1)); torch.detach_(torch.ones(1))
torch.bilinear(torch.ones(2, 3), torch.ones(2, 4), torch.ones(5, 3, 4)); torch.norm_except_dim(torch.ones(2, 3), 2, 0)
torch.ones(3).where(torch.tensor([True, False, True]), torch.zeros(3)); torch.ones(3).where(torch.tensor([True, False, True]), 5)
"""

for expression in EXPRESSIONS.replace("\n", ";").split(";"):
    expression = expression.strip()
    if expression:
        try:
            print(expression, "=>", eval(expression))
        except Exception as error:
            print(expression, "raises", type(error).__name__, error)
