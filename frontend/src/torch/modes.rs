//! The settings of `torch` that scripts switch: gradient and inference mode, default dtype, threads, printing.

use super::{
    create,
    operand::{dtype_of, keyword},
    print::PrintOptions,
    state::{TorchState, raise},
    variable::Variable,
};
use rustpython_vm::{AsObject, Py, PyObjectRef, PyResult, VirtualMachine, builtins::PyModule, function::FuncArgs};
use std::rc::Rc;
use taipan_ir::{DType, OpError, emit::can_cast};

/// Puts the functions into `torch._C`.
pub(super) fn install(module: &Py<PyModule>, state: &Rc<TorchState>, vm: &VirtualMachine) -> PyResult<()> {
    macro_rules! functions {
        ($($name:literal: $function:expr,)*) => {
            $({
                let own = Rc::clone(state);
                let function = $function;
                module.set_attr(vm.ctx.intern_str($name), vm.new_function($name, function(own)), vm)?;
            })*
        };
    }
    functions! {
        "is_grad_enabled": |own: Rc<TorchState>| move || own.grad_enabled(),
        "_set_grad_enabled": |own: Rc<TorchState>| move |enabled: bool| drop_result(own.set_grad_enabled(enabled)),
        "is_inference_mode_enabled": |own: Rc<TorchState>| move || own.inference_mode(),
        "_set_inference_mode": |own: Rc<TorchState>| move |enabled: bool| drop_result(own.set_inference_mode(enabled)),
        "_is_torch_function_enabled": |own: Rc<TorchState>| move || own.asks_subclasses(),
        "_set_torch_function_enabled": |own: Rc<TorchState>| move |enabled: bool| own.set_asks_subclasses(enabled),
        "get_default_dtype": |own: Rc<TorchState>| move || own.dtype_object(own.default_dtype()),
        "set_default_dtype": |own: Rc<TorchState>| move |dtype: PyObjectRef, vm: &VirtualMachine| set_default_dtype(&own, &dtype, vm),
        "get_num_threads": |own: Rc<TorchState>| move || own.with_context(|context| context.threads()),
        "set_num_threads": |own: Rc<TorchState>| move |threads: i64, vm: &VirtualMachine| set_num_threads(&own, threads, vm),
        "set_printoptions": |own: Rc<TorchState>| move |args: FuncArgs, vm: &VirtualMachine| set_print_options(&own, args, vm),
        "promote_types": |own: Rc<TorchState>| move |left: PyObjectRef, right: PyObjectRef, vm: &VirtualMachine| -> PyResult {
            let (left, right) = (expect_dtype("promote_types", &left, vm)?, expect_dtype("promote_types", &right, vm)?);
            Ok(own.dtype_object(left.promote(right)))
        },
        "result_type": |own: Rc<TorchState>| move |left: PyObjectRef, right: PyObjectRef, vm: &VirtualMachine| -> PyResult {
            result_type(&own, [&left, &right], vm)
        },
        "can_cast": |_own: Rc<TorchState>| move |from: PyObjectRef, to: PyObjectRef, vm: &VirtualMachine| -> PyResult<bool> {
            Ok(can_cast(expect_dtype("can_cast", &from, vm)?, expect_dtype("can_cast", &to, vm)?))
        },
    }
    Ok(())
}

/// These functions answer with None, not with the old setting.
fn drop_result(_old: bool) {}

fn expect_dtype(name: &str, object: &PyObjectRef, vm: &VirtualMachine) -> PyResult<DType> {
    dtype_of(object, vm).ok_or_else(|| {
        let got = object.class().name().to_string();
        raise(OpError::type_error(format!("{name}(): argument must be torch.dtype, not {got}")), vm)
    })
}

/// The dtype of an op on these two: a number and a tensor without dims count only by their category.
fn result_type(state: &TorchState, operands: [&PyObjectRef; 2], vm: &VirtualMachine) -> PyResult {
    let default = state.default_dtype();
    // Per priority: tensors with dims, tensors without, numbers.
    let mut common: [Option<DType>; 3] = [None; 3];
    for object in operands {
        let (priority, dtype) = match object.downcast_ref::<Variable>() {
            Some(variable) => variable.with_data(|data| (usize::from(data.rank() == 0), data.dtype())),
            None => match create::number(object, vm)? {
                Some(number) => (2, number.dtype(default)),
                None => {
                    let got = object.class().name().to_string();
                    return Err(vm.new_type_error(format!("result_type(): argument must be Tensor or Number, not {got}")));
                }
            },
        };
        common[priority] = Some(common[priority].map_or(dtype, |known| known.promote(dtype)));
    }
    let combined = common.into_iter().flatten().reduce(|high, low| match low.category() > high.category() {
        true if low.is_complex() && high.is_float() => high.complex(),
        true => low,
        false => high,
    });
    Ok(state.dtype_object(combined.unwrap_or(default)))
}

fn set_default_dtype(state: &TorchState, dtype: &PyObjectRef, vm: &VirtualMachine) -> PyResult<()> {
    match dtype_of(dtype, vm) {
        Some(dtype) if dtype.is_float() => {
            state.set_default_dtype(dtype);
            Ok(())
        }
        Some(_) => Err(vm.new_type_error("only floating-point types are supported as the default type")),
        None => Err(vm.new_type_error("invalid dtype object: only floating-point types are supported as the default type")),
    }
}

fn set_num_threads(state: &TorchState, threads: i64, vm: &VirtualMachine) -> PyResult<()> {
    match usize::try_from(threads) {
        Ok(threads) if threads > 0 => {
            state.with_context(|context| context.set_threads(threads));
            Ok(())
        }
        _ => Err(vm.new_runtime_error("set_num_threads expects a positive integer")),
    }
}

/// `torch.set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None)`.
fn set_print_options(state: &TorchState, args: FuncArgs, vm: &VirtualMachine) -> PyResult<()> {
    const NAMES: [&str; 6] = ["precision", "threshold", "edgeitems", "linewidth", "profile", "sci_mode"];
    if args.args.len() > NAMES.len() {
        return Err(
            vm.new_type_error(format!("set_printoptions() takes from 0 to 6 positional arguments but {} were given", args.args.len()))
        );
    }
    if let Some(unknown) = args.kwargs.keys().find(|name| !NAMES.contains(&keyword(name))) {
        return Err(vm.new_type_error(format!("set_printoptions() got an unexpected keyword argument '{unknown}'")));
    }
    let given = |name: &str| {
        let position = NAMES.iter().position(|known| *known == name)?;
        args.args.get(position).or_else(|| args.kwargs.get(name)).filter(|value| !vm.is_none(value)).cloned()
    };
    let mut options = state.print_options();
    if let Some(profile) = given("profile") {
        options = match profile.str(vm)?.to_string().as_str() {
            "default" => PrintOptions::default(),
            "short" => PrintOptions { precision: 2, edge_items: 2, ..PrintOptions::default() },
            "full" => PrintOptions { threshold: usize::MAX, ..PrintOptions::default() },
            _ => options,
        };
    }
    let number = |name: &str| -> PyResult<Option<usize>> {
        let Some(value) = given(name) else { return Ok(None) };
        // `float('inf')` asks for all elements.
        let value = value.try_float(vm)?.to_f64();
        Ok(Some(if value.is_finite() { value.max(0.0) as usize } else { usize::MAX }))
    };
    options.precision = number("precision")?.unwrap_or(options.precision).min(64);
    options.threshold = number("threshold")?.unwrap_or(options.threshold);
    options.edge_items = number("edgeitems")?.unwrap_or(options.edge_items).min(usize::MAX / 2);
    options.line_width = number("linewidth")?.unwrap_or(options.line_width);
    // As in PyTorch, every call decides about the scientific form anew.
    options.scientific = given("sci_mode").map(|flag| flag.try_to_bool(vm)).transpose()?;
    state.set_print_options(options);
    Ok(())
}
