//! The methods of tensors that are not ops: about the object, its layout, its gradient, its elements.

use super::{
    attributes::shape,
    create::{self, expect_tensor},
    memory,
    operand::{dtype_of, type_name},
    operators::item,
    state::raise,
    storage::{self, PyStorage},
    text::to_list,
    variable::Variable,
};
use rustpython_vm::{
    AsObject, Py, PyObject, PyObjectRef, PyPayload, PyRef, PyResult, VirtualMachine,
    builtins::{PyDict, PyInt, PyStaticMethod, PyStr, PyType, PyTypeRef},
    function::{FuncArgs, OptionalArg},
};
use taipan_ir::{DType, MemoryFormat, bind::Operand};
use taipan_tensor::Tensor;

/// Puts the methods into the class.
pub(super) fn install(class: &'static Py<PyType>, vm: &VirtualMachine) {
    macro_rules! methods {
        ($($name:literal: $function:expr,)*) => {
            $(class.set_attr(vm.ctx.intern_str($name), vm.new_method($name, class, $function).into());)*
        };
    }
    methods! {
        "size": size,
        "stride": stride,
        "dim": |zelf: PyRef<Variable>| zelf.with_data(|data| data.rank()),
        "ndimension": |zelf: PyRef<Variable>| zelf.with_data(|data| data.rank()),
        "numel": |zelf: PyRef<Variable>| zelf.with_data(|data| data.numel()),
        "nelement": |zelf: PyRef<Variable>| zelf.with_data(|data| data.numel()),
        "element_size": |zelf: PyRef<Variable>| zelf.with_data(|data| data.dtype().size()),
        "storage_offset": |zelf: PyRef<Variable>| zelf.with_data(|data| data.offset()),
        "data_ptr": data_ptr,
        "is_contiguous": is_contiguous,
        "is_set_to": |zelf: PyRef<Variable>, other: PyRef<Variable>| zelf.data().same_view(&other.data()),
        "is_floating_point": |zelf: PyRef<Variable>| zelf.with_data(|data| data.dtype().is_float()),
        "is_complex": |zelf: PyRef<Variable>| zelf.with_data(|data| data.dtype().is_complex()),
        "is_conj": |_zelf: PyRef<Variable>| false,
        "is_neg": |_zelf: PyRef<Variable>| false,
        "is_signed": |zelf: PyRef<Variable>| zelf.with_data(|data| !matches!(data.dtype(), DType::Bool | DType::U8)),
        "is_inference": |zelf: PyRef<Variable>| zelf.meta().is_inference(),
        "is_shared": |_zelf: PyRef<Variable>| false,
        "is_pinned": |_zelf: PyRef<Variable>| false,
        "share_memory_": |zelf: PyRef<Variable>| zelf,
        "get_device": |_zelf: PyRef<Variable>| -1,
        "item": |zelf: PyRef<Variable>, vm: &VirtualMachine| item(&zelf, vm),
        "tolist": |zelf: PyRef<Variable>, vm: &VirtualMachine| to_list(&zelf.data(), vm),
        "requires_grad_": requires_grad_in_place,
        "cuda": no_device,
        "numpy": memory::numpy,
        "__array__": memory::array,
        "type": convert_type,
        "set_": storage::set,
        "resize_": resize_in_place,
        "resize_as_": |zelf: PyRef<Variable>, other: PyRef<Variable>, vm: &VirtualMachine| {
            let sizes = vm.ctx.new_tuple(other.with_data(|data| data.sizes().iter().map(|n| vm.ctx.new_int(*n).into()).collect()));
            resize_in_place(zelf, FuncArgs::from(vec![sizes.into()]), vm)
        },
        "_is_view": |zelf: PyRef<Variable>| zelf.meta().base().is_some(),
        "untyped_storage": PyStorage::of,
        "as_subclass": as_subclass,
        "new": new,
        "new_tensor": new_tensor,
        "__complex__": |zelf: PyRef<Variable>, vm: &VirtualMachine| complex_value(&zelf, vm),
        "__format__": format_text,
        "__copy__": shallow_copy,
        "__deepcopy__": deep_copy,
        "__reduce_ex__": reduce,
        "__reversed__": reverse,
    }
    for (name, view) in IN_PLACE_VIEWS {
        let change = move |zelf: PyRef<Variable>, args: FuncArgs, vm: &VirtualMachine| view_in_place(zelf, view, args, vm);
        class.set_attr(vm.ctx.intern_str(name), vm.new_method(name, class, change).into());
    }
    let make = vm.new_function("_make_subclass", make_subclass);
    class.set_attr(vm.ctx.intern_str("_make_subclass"), PyStaticMethod::new(make.into()).into_ref(&vm.ctx).into());
}

/// The methods that turn a tensor into a view of itself, and the methods that give such a view.
const IN_PLACE_VIEWS: [(&str, &str); 6] = [
    ("squeeze_", "squeeze"),
    ("unsqueeze_", "unsqueeze"),
    ("t_", "t"),
    ("transpose_", "transpose"),
    ("swapaxes_", "swapaxes"),
    ("swapdims_", "swapdims"),
];

/// `x.unsqueeze_(0)`: the tensor with the layout of what `x.unsqueeze(0)` gives.
fn view_in_place(zelf: PyRef<Variable>, view: &str, args: FuncArgs, vm: &VirtualMachine) -> PyResult<PyRef<Variable>> {
    if zelf.requires_grad() {
        return Err(vm.new_not_implemented_error(format!("`{view}_` of a tensor that requires grad")));
    }
    let made = zelf.as_object().get_attr(vm.ctx.intern_str(view), vm)?.call(args, vm)?;
    if let Some(made) = made.downcast_ref::<Variable>() {
        zelf.set_data(made.data());
    }
    Ok(zelf)
}

fn to_dtype(zelf: PyRef<Variable>, dtype: DType, vm: &VirtualMachine) -> PyResult {
    let state = zelf.state().clone();
    state.call_named("to", &[Operand::Tensor(zelf), Operand::DType(dtype)], &[], vm)
}

/// A dim given from Python, counted from the front.
fn dim_index(dim: i64, rank: usize, vm: &VirtualMachine) -> PyResult<usize> {
    let rank = rank as i64;
    let (low, high) = (-rank.max(1), rank.max(1) - 1);
    if dim < low || dim > high || rank == 0 {
        return Err(vm.new_index_error(format!("Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})")));
    }
    Ok(if dim < 0 { dim + rank } else { dim } as usize)
}

fn size(zelf: PyRef<Variable>, dim: OptionalArg<Option<i64>>, vm: &VirtualMachine) -> PyResult {
    match dim.flatten() {
        None => shape(zelf, vm),
        Some(dim) => {
            let dim = dim_index(dim, zelf.with_data(|data| data.rank()), vm)?;
            Ok(vm.ctx.new_int(zelf.with_data(|data| data.sizes()[dim])).into())
        }
    }
}

fn stride(zelf: PyRef<Variable>, dim: OptionalArg<Option<i64>>, vm: &VirtualMachine) -> PyResult {
    match dim.flatten() {
        None => {
            let data = zelf.data();
            let strides = data.strides().iter().map(|stride| vm.ctx.new_int(*stride).into()).collect();
            Ok(vm.ctx.new_tuple(strides).into())
        }
        Some(dim) => {
            let dim = dim_index(dim, zelf.with_data(|data| data.rank()), vm)?;
            Ok(vm.ctx.new_int(zelf.with_data(|data| data.strides()[dim])).into())
        }
    }
}

/// The address of the first element.
fn data_ptr(zelf: PyRef<Variable>) -> usize {
    zelf.with_data(|data| {
        let start = data.storage().read().elements::<u8>().as_ptr().addr();
        start + data.offset() as usize * data.dtype().size()
    })
}

fn is_contiguous(zelf: PyRef<Variable>, args: FuncArgs, vm: &VirtualMachine) -> PyResult<bool> {
    let format = args.args.first().or_else(|| args.kwargs.get("memory_format"));
    let format = match format {
        None => MemoryFormat::Contiguous,
        Some(format) => match format.downcast_ref::<super::constants::PyMemoryFormat>() {
            Some(format) => format.0,
            None => {
                return Err(vm.new_type_error(format!(
                    "is_contiguous(): argument 'memory_format' must be torch.memory_format, not {}",
                    type_name(format)
                )));
            }
        },
    };
    Ok(zelf.with_data(|data| match format {
        MemoryFormat::ChannelsLast => lies_in_order(data, &[0, 2, 3, 1]),
        MemoryFormat::ChannelsLast3d => lies_in_order(data, &[0, 2, 3, 4, 1]),
        MemoryFormat::Contiguous | MemoryFormat::Preserve => data.is_contiguous(),
    }))
}

/// Whether the dims, taken in this order, lie row-major without gaps.
fn lies_in_order(data: &Tensor, order: &[usize]) -> bool {
    data.rank() == order.len() && data.permuted(order).is_contiguous()
}

fn requires_grad_in_place(zelf: PyRef<Variable>, flag: OptionalArg<bool>, vm: &VirtualMachine) -> PyResult<PyRef<Variable>> {
    let flag = flag.unwrap_or(true);
    if flag && !zelf.with_data(|data| data.dtype().has_gradients()) {
        return Err(vm.new_runtime_error("only Tensors of floating point dtype can require gradients"));
    }
    zelf.set_requires_grad(flag, vm)?;
    Ok(zelf)
}

fn no_device(_zelf: PyRef<Variable>, _args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    Err(vm.new_runtime_error("the device 'cuda' is not available: this engine has only 'cpu'"))
}

/// `x.resize_(sizes)`: other sizes over the same storage, which grows where it must; elements added are zero.
fn resize_in_place(zelf: PyRef<Variable>, args: FuncArgs, vm: &VirtualMachine) -> PyResult<PyRef<Variable>> {
    if zelf.requires_grad() {
        return Err(vm.new_runtime_error("cannot resize variables that require grad"));
    }
    let sizes: Vec<i64> = match args.args.as_slice() {
        [one] if !one.downcastable::<PyInt>() => vm.extract_elements_with(one, |size| size.try_to_value(vm))?,
        several => several.iter().map(|size| size.try_to_value(vm)).collect::<PyResult<_>>()?,
    };
    if sizes.iter().any(|size| *size < 0) {
        return Err(vm.new_runtime_error(format!("Trying to resize a tensor to negative sizes {sizes:?}")));
    }
    let data = zelf.data();
    let strides = taipan_tensor::layout::row_major(&sizes);
    let elements = sizes.iter().try_fold(1_i64, |count, size| count.checked_mul(*size)).unwrap_or(i64::MAX);
    let needed = elements
        .checked_add(data.offset())
        .and_then(|elements| elements.checked_mul(data.dtype().size() as i64))
        .and_then(|bytes| usize::try_from(bytes).ok())
        .ok_or_else(|| vm.new_runtime_error("numel: integer multiplication overflow"))?;
    if needed > data.storage().nbytes() {
        data.storage().resize(needed);
    }
    zelf.set_data(data.with_layout(data.dtype(), &sizes, &strides, data.offset()));
    Ok(zelf)
}

/// `x.type()`: the name of the tensor's type, or the tensor in another.
fn convert_type(zelf: PyRef<Variable>, wanted: OptionalArg<Option<PyObjectRef>>, vm: &VirtualMachine) -> PyResult {
    let Some(wanted) = wanted.flatten() else {
        let dtype = zelf.with_data(|data| data.dtype());
        return Ok(vm.ctx.new_str(format!("torch.{}Tensor", dtype.scalar_name())).into());
    };
    let named = |text: &str| DType::ALL.into_iter().find(|dtype| text == format!("torch.{}Tensor", dtype.scalar_name()));
    let dtype = match wanted.downcast_ref::<PyStr>() {
        Some(text) => named(text.as_ref()).ok_or_else(|| vm.new_value_error(format!("invalid type: '{text}'"))),
        None => dtype_of(&wanted, vm).ok_or_else(|| vm.new_type_error("dtype must be a type, str, or dtype object")),
    }?;
    to_dtype(zelf, dtype, vm)
}

/// The same data as an object of `class`, as `nn.Parameter` makes itself.
fn make_subclass(args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    let (Some(class), Some(source)) = (args.args.first(), args.args.get(1)) else {
        return Err(vm.new_type_error("_make_subclass() missing required arguments: \"cls\", \"data\""));
    };
    let flag = args.args.get(2).or_else(|| args.kwargs.get("require_grad")).or_else(|| args.kwargs.get("requires_grad"));
    let flag = flag.map(|flag| flag.clone().try_to_bool(vm)).transpose()?.unwrap_or(false);
    subclass_object(class, source, flag, vm)
}

/// `x.as_subclass(cls)`: the same data and history, as an object of another class.
fn as_subclass(zelf: PyRef<Variable>, class: PyObjectRef, vm: &VirtualMachine) -> PyResult {
    let class = subclass(&class, vm)?;
    let alias = zelf.state().call_named("alias", &[Operand::Tensor(zelf.clone())], &[], vm)?;
    let alias = expect_tensor(alias, vm)?;
    Ok(Variable::over(alias.var(), zelf.state().clone()).into_ref_with_type(vm, class)?.into())
}

fn subclass(class: &PyObject, vm: &VirtualMachine) -> PyResult<PyTypeRef> {
    class.to_owned().downcast().map_err(|class| vm.new_type_error(format!("cls must be a type (got {})", class.class().name())))
}

fn subclass_object(class: &PyObject, source: &PyObject, requires_grad: bool, vm: &VirtualMachine) -> PyResult {
    let class = subclass(class, vm)?;
    let Some(source) = source.downcast_ref::<Variable>() else {
        return Err(vm.new_type_error(format!("_make_subclass(): argument 'data' must be Tensor, not {}", type_name(source))));
    };
    if requires_grad && !source.with_data(|data| data.dtype().has_gradients()) {
        return Err(vm.new_runtime_error("Only Tensors of floating point and complex dtype can require gradients"));
    }
    let variable = Variable::new(source.data(), source.state().clone());
    variable.set_requires_grad(requires_grad, vm)?;
    Ok(variable.into_ref_with_type(vm, class)?.into())
}

/// `x.new(...)`: the old constructor, for the element type of `x`.
fn new(zelf: PyRef<Variable>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    let data = create::legacy_constructor(zelf.state(), zelf.with_data(|data| data.dtype()), &args, vm)?;
    Ok(zelf.state().wrap(data, vm).into())
}

fn new_tensor(zelf: PyRef<Variable>, mut args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    if !args.kwargs.contains_key("dtype") {
        let dtype = zelf.state().dtype_object(zelf.with_data(|data| data.dtype()));
        args.kwargs.insert("dtype".into(), dtype);
    }
    create::tensor("new_tensor", zelf.state(), args, vm)
}

/// `complex(x)`.
fn complex_value(zelf: &Py<Variable>, vm: &VirtualMachine) -> PyResult {
    if zelf.with_data(|data| data.numel()) != 1 {
        return Err(vm.new_value_error("only one element tensors can be converted to Python scalars"));
    }
    vm.ctx.types.complex_type.as_object().call((item(zelf, vm)?,), vm)
}

/// A tensor of one element formats like the number it holds.
fn format_text(zelf: PyRef<Variable>, spec: PyRef<PyStr>, vm: &VirtualMachine) -> PyResult {
    if zelf.with_data(|data| data.rank()) == 0 && zelf.class().is(zelf.state().tensor_type()) {
        let number = item(&zelf, vm)?;
        return vm.call_method(&number, "__format__", (spec,));
    }
    if spec.is_empty() {
        return Ok(zelf.as_object().str(vm)?.into());
    }
    Err(vm.new_type_error(format!("unsupported format string passed to {}.__format__", zelf.class().name())))
}

/// Another object over the same data, with the same attributes.
fn shallow_copy(zelf: PyRef<Variable>, vm: &VirtualMachine) -> PyResult {
    object_like(&zelf, zelf.data(), vm)
}

fn deep_copy(zelf: PyRef<Variable>, memo: PyRef<PyDict>, vm: &VirtualMachine) -> PyResult {
    if !zelf.is_leaf() {
        return Err(vm.new_runtime_error(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you were \
             attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see \
             https://github.com/pytorch/pytorch/pull/103001",
        ));
    }
    let key: PyObjectRef = vm.ctx.new_int(zelf.get_id()).into();
    if let Some(known) = memo.get_item_opt(&*key, vm)? {
        return Ok(known);
    }
    let data = zelf.data();
    let copy = Tensor::copied(&data).map_err(|error| raise(error, vm))?;
    let object = object_like(&zelf, copy, vm)?;
    memo.set_item(&*key, object.clone(), vm)?;
    if let (Some(grad), Some(copy)) = (zelf.grad(vm), object.downcast_ref::<Variable>()) {
        let grad = vm.call_method(&grad, "__deepcopy__", (memo,))?;
        copy.set_grad(Some(grad));
    }
    Ok(object)
}

fn object_like(zelf: &Py<Variable>, data: Tensor, vm: &VirtualMachine) -> PyResult {
    let variable = Variable::new(data, zelf.state().clone());
    variable.set_requires_grad(zelf.requires_grad(), vm)?;
    let object: PyObjectRef = variable.into_ref_with_type(vm, zelf.class().to_owned())?.into();
    if let (Some(from), Some(to)) = (zelf.as_object().dict(), object.dict()) {
        for (name, value) in from {
            to.set_item(&*name, value, vm)?;
        }
    }
    Ok(object)
}

/// Pickled as nested lists with their dtype.
fn reduce(zelf: PyRef<Variable>, _protocol: PyObjectRef, vm: &VirtualMachine) -> PyResult<PyObjectRef> {
    let rebuild = super::state::native_module(vm)?.get_attr("_rebuild_tensor", vm)?;
    let data = zelf.data();
    let arguments = vm.ctx.new_tuple(vec![
        to_list(&data, vm)?,
        shape(zelf.clone(), vm)?,
        zelf.state().dtype_object(data.dtype()),
        vm.ctx.new_bool(zelf.requires_grad()).into(),
    ]);
    Ok(vm.ctx.new_tuple(vec![rebuild, arguments.into()]).into())
}

/// What a pickled tensor is made from: elements, sizes, dtype, requires_grad.
pub(super) fn rebuild(args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    let [elements, sizes, dtype, requires_grad] = args.args.as_slice() else {
        return Err(vm.new_type_error(format!("_rebuild_tensor() takes 4 arguments, {} were given", args.args.len())));
    };
    let state = super::state(vm)?;
    let dtype = dtype_of(dtype, vm).ok_or_else(|| vm.new_type_error("_rebuild_tensor(): the third argument must be a dtype"))?;
    let sizes: Vec<i64> = vm.extract_elements_with(sizes, |size| size.try_to_value(vm))?;
    let data = create::from_python(&state, elements, Some(dtype), vm)?;
    // Nested lists don't tell sizes behind a zero.
    let data = if data.numel() == 0 { Tensor::zeros(dtype, &sizes) } else { data };
    let variable = state.wrap(data, vm);
    variable.set_requires_grad(requires_grad.clone().try_to_bool(vm)?, vm)?;
    Ok(variable.into())
}

fn reverse(zelf: PyRef<Variable>, vm: &VirtualMachine) -> PyResult<PyRef<Variable>> {
    if zelf.with_data(|data| data.rank()) == 0 {
        return Ok(zelf);
    }
    let dims = Operand::List(vec![Operand::Int(taipan_ir::Dim::Is(0))], true);
    let state = zelf.state().clone();
    expect_tensor(state.call_named("flip", &[Operand::Tensor(zelf), dims], &[], vm)?, vm)
}
