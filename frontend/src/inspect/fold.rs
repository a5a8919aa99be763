//! Folding: built-in operators on exact constants, computed by the VM itself. `None` where the VM raises or the result is no constant.

use super::{Const, Vm, constant, make_const};
use rustpython_vm::{AsObject, PyObjectRef, PyResult};

/// `a symbol b`, comparisons and `in` included.
pub fn fold_binary(symbol: &str, a: &Const, b: &Const, vm: &Vm) -> Option<Const> {
    let (x, y) = (make_const(a, vm), make_const(b, vm));
    let result: PyResult = match symbol {
        "+" => vm._add(&x, &y),
        "-" => vm._sub(&x, &y),
        "*" => vm._mul(&x, &y),
        "/" => vm._truediv(&x, &y),
        "//" => vm._floordiv(&x, &y),
        "%" => vm._mod(&x, &y),
        "**" => vm._pow(&x, &y, &vm.ctx.none()),
        "@" => vm._matmul(&x, &y),
        "&" => vm._and(&x, &y),
        "|" => vm._or(&x, &y),
        "^" => vm._xor(&x, &y),
        "<<" => vm._lshift(&x, &y),
        ">>" => vm._rshift(&x, &y),
        "in" => return y.as_object().sequence_unchecked().contains(&x, vm).ok().map(Const::Bool),
        "==" => compare(&x, &y, rustpython_vm::types::PyComparisonOp::Eq, vm),
        "!=" => compare(&x, &y, rustpython_vm::types::PyComparisonOp::Ne, vm),
        "<" => compare(&x, &y, rustpython_vm::types::PyComparisonOp::Lt, vm),
        "<=" => compare(&x, &y, rustpython_vm::types::PyComparisonOp::Le, vm),
        ">" => compare(&x, &y, rustpython_vm::types::PyComparisonOp::Gt, vm),
        ">=" => compare(&x, &y, rustpython_vm::types::PyComparisonOp::Ge, vm),
        _ => return None,
    };
    constant(&result.ok()?, vm)
}

fn compare(a: &PyObjectRef, b: &PyObjectRef, op: rustpython_vm::types::PyComparisonOp, vm: &Vm) -> PyResult {
    a.to_owned().rich_compare(b.to_owned(), op, vm)
}

/// A unary operator by its method: `__neg__`, `__pos__`, `__invert__`, `__abs__`.
pub fn fold_unary(method: &str, value: &Const, vm: &Vm) -> Option<Const> {
    let object = make_const(value, vm);
    let result = match method {
        "__neg__" => vm._neg(&object),
        "__pos__" => vm._pos(&object),
        "__invert__" => vm._invert(&object),
        "__abs__" => vm._abs(&object),
        _ => return None,
    };
    constant(&result.ok()?, vm)
}

/// `format(value, spec)`.
pub fn format_const(value: &Const, spec: &str, vm: &Vm) -> Option<String> {
    let object = make_const(value, vm);
    Some(vm.format(&object, vm.ctx.new_str(spec)).ok()?.to_string())
}

/// `format % (values…)`.
pub fn format_percent(format: &str, values: &[Const], vm: &Vm) -> Option<String> {
    let values = values.iter().map(|v| make_const(v, vm)).collect();
    let format: PyObjectRef = vm.ctx.new_str(format).into();
    let values: PyObjectRef = vm.ctx.new_tuple(values).into();
    let result = vm._mod(&format, &values).ok()?;
    match constant(&result, vm)? {
        Const::Str(s) => Some(s.to_string()),
        _ => None,
    }
}
