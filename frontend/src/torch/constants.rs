//! The objects scripts name properties by: `torch.float32`, `torch.device`, `torch.strided`, `torch.contiguous_format`.

use rustpython_vm::{
    AsObject, Context, Py, PyObject, PyObjectRef, PyPayload, PyRef, PyResult, VirtualMachine,
    builtins::{PyInt, PyStr, PyType},
    class::PyClassImpl,
    common::hash::PyHash,
    function::{FuncArgs, PyComparisonValue},
    pyclass,
    types::{Comparable, Constructor, Hashable, PyComparisonOp, Representable},
};
use std::hash::{DefaultHasher, Hash, Hasher};
use taipan_ir::{DType, Device, MemoryFormat};

/// `torch.dtype`: one instance per element type.
#[pyclass(module = "torch", name = "dtype")]
#[derive(Debug, PyPayload)]
pub struct PyDType(pub DType);

#[pyclass(with(Representable), flags(DISALLOW_INSTANTIATION))]
impl PyDType {
    #[pygetset]
    fn is_floating_point(zelf: &Py<Self>) -> bool {
        zelf.0.is_float()
    }

    #[pygetset]
    fn is_complex(zelf: &Py<Self>) -> bool {
        zelf.0.is_complex()
    }

    #[pygetset]
    fn is_signed(zelf: &Py<Self>) -> bool {
        !matches!(zelf.0, DType::Bool | DType::U8)
    }

    #[pygetset]
    fn itemsize(zelf: &Py<Self>) -> usize {
        zelf.0.size()
    }

    /// The type of the parts of a complex type.
    #[pymethod]
    fn to_real(zelf: PyRef<Self>, vm: &VirtualMachine) -> PyResult {
        if zelf.0.is_complex() { Ok(super::state(vm)?.dtype_object(zelf.0.real())) } else { Ok(zelf.into()) }
    }

    /// The complex type with parts of this type.
    #[pymethod]
    fn to_complex(zelf: PyRef<Self>, vm: &VirtualMachine) -> PyResult {
        match zelf.0 {
            DType::F32 | DType::F64 => Ok(super::state(vm)?.dtype_object(zelf.0.complex())),
            DType::C64 | DType::C128 => Ok(zelf.into()),
            other => Err(vm.new_not_implemented_error(format!("torch.{} has no complex type here", other.torch_name()))),
        }
    }

    /// Pickled, and copied, as the global `torch.<name>`.
    #[pymethod]
    fn __reduce__(zelf: &Py<Self>) -> &'static str {
        zelf.0.torch_name()
    }
}

impl Representable for PyDType {
    fn repr_str(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<String> {
        Ok(format!("torch.{}", zelf.0.torch_name()))
    }
}

/// `torch.layout`: one instance per layout.
#[pyclass(module = "torch", name = "layout")]
#[derive(Debug, PyPayload)]
pub struct PyLayout(Layout);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Layout {
    /// That of every tensor.
    Strided,
    /// That of nested tensors, which are objects of Python; no op makes one.
    Jagged,
}

impl PyLayout {
    /// Whether ops take it.
    pub fn is_strided(&self) -> bool {
        self.0 == Layout::Strided
    }

    fn name(&self) -> &'static str {
        match self.0 {
            Layout::Strided => "strided",
            Layout::Jagged => "jagged",
        }
    }
}

#[pyclass(with(Representable), flags(DISALLOW_INSTANTIATION))]
impl PyLayout {
    #[pymethod]
    fn __reduce__(zelf: &Py<Self>) -> &'static str {
        zelf.name()
    }
}

impl Representable for PyLayout {
    fn repr_str(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<String> {
        Ok(format!("torch.{}", zelf.name()))
    }
}

/// `torch.memory_format`: one instance per format.
#[pyclass(module = "torch", name = "memory_format")]
#[derive(Debug, PyPayload)]
pub struct PyMemoryFormat(pub MemoryFormat);

#[pyclass(with(Representable), flags(DISALLOW_INSTANTIATION))]
impl PyMemoryFormat {
    #[pymethod]
    fn __reduce__(zelf: &Py<Self>) -> &'static str {
        format_name(zelf.0)
    }
}

impl Representable for PyMemoryFormat {
    fn repr_str(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<String> {
        Ok(format!("torch.{}", format_name(zelf.0)))
    }
}

const fn format_name(format: MemoryFormat) -> &'static str {
    match format {
        MemoryFormat::Contiguous => "contiguous_format",
        MemoryFormat::ChannelsLast => "channels_last",
        MemoryFormat::ChannelsLast3d => "channels_last_3d",
        MemoryFormat::Preserve => "preserve_format",
    }
}

/// The device types PyTorch has names for; a script may name them all, whether or not an engine has them.
const DEVICE_TYPES: &[&str] = &[
    "cpu",
    "cuda",
    "ipu",
    "xpu",
    "mkldnn",
    "opengl",
    "opencl",
    "ideep",
    "hip",
    "ve",
    "fpga",
    "maia",
    "xla",
    "lazy",
    "vulkan",
    "mps",
    "meta",
    "hpu",
    "mtia",
    "privateuseone",
];

/// `torch.device`.
#[pyclass(module = "torch", name = "device")]
#[derive(Debug, PyPayload)]
pub struct PyDevice(pub Device);

impl PyDevice {
    /// Reads `cuda:1`; the error text is PyTorch's.
    fn parse(text: &str, vm: &VirtualMachine) -> PyResult<Device> {
        let (name, index) = text.split_once(':').map_or((text, None), |(name, index)| (name, Some(index)));
        if !DEVICE_TYPES.contains(&name) {
            let known = DEVICE_TYPES.join(", ");
            return Err(vm.new_runtime_error(format!("Expected one of {known} device type at start of device string: {name}")));
        }
        Device::parse(text).filter(|_| index != Some("")).ok_or_else(|| vm.new_runtime_error(format!("Invalid device string: '{text}'")))
    }
}

impl Constructor for PyDevice {
    type Args = FuncArgs;

    fn py_new(_class: &Py<PyType>, mut args: FuncArgs, vm: &VirtualMachine) -> PyResult<Self> {
        let named = |args: &mut FuncArgs, name| args.take_keyword(name);
        let mut positional = args.args.clone().into_iter();
        let kind = positional.next().or_else(|| named(&mut args, "type")).or_else(|| named(&mut args, "device"));
        let index = positional.next().or_else(|| named(&mut args, "index")).filter(|index| !vm.is_none(index));
        let Some(kind) = kind else {
            return Err(vm.new_type_error("device() missing 1 required positional argument: 'type'"));
        };
        if let Some(device) = kind.downcast_ref::<PyDevice>() {
            return Ok(PyDevice(device.0.clone()));
        }
        let Some(text) = kind.downcast_ref::<PyStr>() else {
            return Err(vm.new_type_error(format!("device(): argument 'type' must be str, not {}", kind.class().name())));
        };
        let device = Self::parse(text.as_ref(), vm)?;
        let Some(index) = index else { return Ok(PyDevice(device)) };
        if device.index().is_some() {
            return Err(
                vm.new_runtime_error(format!("type (string) must not include an index because index was passed explicitly: {text}"))
            );
        }
        let Some(index) = index.downcast_ref::<PyInt>() else {
            return Err(vm.new_type_error(format!("device(): argument 'index' must be int, not {}", index.class().name())));
        };
        let index: u32 = index.try_to_primitive(vm).map_err(|_| vm.new_runtime_error("Device index must not be negative"))?;
        Ok(PyDevice(Device::new(device.name(), Some(index))))
    }
}

#[pyclass(with(Constructor, Comparable, Hashable, Representable))]
impl PyDevice {
    #[pygetset(name = "type")]
    fn kind(zelf: &Py<Self>) -> String {
        zelf.0.name().to_owned()
    }

    #[pygetset]
    fn index(zelf: &Py<Self>) -> Option<u32> {
        zelf.0.index()
    }

    #[pymethod]
    fn __str__(zelf: &Py<Self>) -> String {
        zelf.0.to_string()
    }

    #[pymethod]
    fn __reduce__(zelf: PyRef<Self>, vm: &VirtualMachine) -> PyObjectRef {
        let class = zelf.as_object().class().to_owned();
        let arguments = match zelf.0.index() {
            Some(index) => vm.new_tuple((zelf.0.name(), index)),
            None => vm.new_tuple((zelf.0.name(),)),
        };
        vm.new_tuple((class, arguments)).into()
    }
}

impl Comparable for PyDevice {
    fn cmp(zelf: &Py<Self>, other: &PyObject, op: PyComparisonOp, _vm: &VirtualMachine) -> PyResult<PyComparisonValue> {
        op.eq_only(|| match other.downcast_ref::<PyDevice>() {
            Some(other) => Ok(PyComparisonValue::Implemented(zelf.0 == other.0)),
            None => Ok(PyComparisonValue::NotImplemented),
        })
    }
}

impl Hashable for PyDevice {
    fn hash(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<PyHash> {
        let mut hasher = DefaultHasher::new();
        zelf.0.hash(&mut hasher);
        Ok(hasher.finish() as PyHash)
    }
}

impl Representable for PyDevice {
    fn repr_str(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<String> {
        Ok(match zelf.0.index() {
            Some(index) => format!("device(type='{}', index={index})", zelf.0.name()),
            None => format!("device(type='{}')", zelf.0.name()),
        })
    }
}

/// `torch.finfo`: the limits of a floating-point type.
#[pyclass(module = "torch", name = "finfo")]
#[derive(Debug, PyPayload)]
pub struct PyFloatInfo(DType);

/// `(eps, max, smallest normal, resolution)`.
fn float_limits(dtype: DType) -> (f64, f64, f64, f64) {
    let normal = f64::from(f32::MIN_POSITIVE);
    match dtype.real() {
        DType::F64 => (f64::EPSILON, f64::MAX, f64::MIN_POSITIVE, 1e-15),
        DType::F16 => (9.765625e-4, 65504.0, 6.103515625e-5, 1e-3),
        DType::BF16 => (7.8125e-3, 3.3895313892515355e38, normal, 1e-2),
        _ => (f64::from(f32::EPSILON), f64::from(f32::MAX), normal, 1e-6),
    }
}

impl Constructor for PyFloatInfo {
    type Args = FuncArgs;

    fn py_new(_class: &Py<PyType>, args: FuncArgs, vm: &VirtualMachine) -> PyResult<Self> {
        let dtype = match info_argument(&args, "finfo", vm)? {
            Some(dtype) => dtype,
            None => super::state(vm)?.default_dtype(),
        };
        if dtype.has_gradients() {
            return Ok(PyFloatInfo(dtype.real()));
        }
        Err(vm.new_type_error(format!(
            "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.{}'",
            dtype.torch_name()
        )))
    }
}

#[pyclass(with(Constructor, Representable))]
impl PyFloatInfo {
    #[pygetset]
    fn bits(zelf: &Py<Self>) -> usize {
        zelf.0.size() * 8
    }

    #[pygetset]
    fn eps(zelf: &Py<Self>) -> f64 {
        float_limits(zelf.0).0
    }

    #[pygetset]
    fn max(zelf: &Py<Self>) -> f64 {
        float_limits(zelf.0).1
    }

    #[pygetset]
    fn min(zelf: &Py<Self>) -> f64 {
        -float_limits(zelf.0).1
    }

    #[pygetset]
    fn tiny(zelf: &Py<Self>) -> f64 {
        float_limits(zelf.0).2
    }

    #[pygetset]
    fn smallest_normal(zelf: &Py<Self>) -> f64 {
        float_limits(zelf.0).2
    }

    #[pygetset]
    fn resolution(zelf: &Py<Self>) -> f64 {
        float_limits(zelf.0).3
    }

    #[pygetset]
    fn dtype(zelf: &Py<Self>) -> &'static str {
        zelf.0.torch_name()
    }
}

impl Representable for PyFloatInfo {
    fn repr_str(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<String> {
        use super::print::general;
        let (eps, max, tiny, resolution) = float_limits(zelf.0);
        Ok(format!(
            "finfo(resolution={}, min={}, max={}, eps={}, smallest_normal={}, tiny={}, dtype={})",
            general(resolution),
            general(-max),
            general(max),
            general(eps),
            general(tiny),
            general(tiny),
            zelf.0.torch_name()
        ))
    }
}

/// `torch.iinfo`: the limits of an integer type.
#[pyclass(module = "torch", name = "iinfo")]
#[derive(Debug, PyPayload)]
pub struct PyIntInfo(DType);

fn int_limits(dtype: DType) -> (i64, i64) {
    match dtype {
        DType::U8 => (0, 255),
        DType::I8 => (i8::MIN.into(), i8::MAX.into()),
        DType::I16 => (i16::MIN.into(), i16::MAX.into()),
        DType::I32 => (i32::MIN.into(), i32::MAX.into()),
        _ => (i64::MIN, i64::MAX),
    }
}

impl Constructor for PyIntInfo {
    type Args = FuncArgs;

    fn py_new(_class: &Py<PyType>, args: FuncArgs, vm: &VirtualMachine) -> PyResult<Self> {
        match info_argument(&args, "iinfo", vm)? {
            Some(DType::Bool) => Err(vm.new_type_error("torch.bool is not supported by torch.iinfo")),
            Some(dtype) if !dtype.has_gradients() => Ok(PyIntInfo(dtype)),
            Some(dtype) => Err(vm.new_type_error(format!(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.{}'",
                dtype.torch_name()
            ))),
            None => Err(vm.new_type_error("iinfo() missing 1 required positional arguments: \"type\"")),
        }
    }
}

#[pyclass(with(Constructor, Representable))]
impl PyIntInfo {
    #[pygetset]
    fn bits(zelf: &Py<Self>) -> usize {
        zelf.0.size() * 8
    }

    #[pygetset]
    fn max(zelf: &Py<Self>) -> i64 {
        int_limits(zelf.0).1
    }

    #[pygetset]
    fn min(zelf: &Py<Self>) -> i64 {
        int_limits(zelf.0).0
    }

    #[pygetset]
    fn dtype(zelf: &Py<Self>) -> &'static str {
        zelf.0.torch_name()
    }
}

impl Representable for PyIntInfo {
    fn repr_str(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<String> {
        let (min, max) = int_limits(zelf.0);
        Ok(format!("iinfo(min={min}, max={max}, dtype={})", zelf.0.torch_name()))
    }
}

fn info_argument(args: &FuncArgs, name: &str, vm: &VirtualMachine) -> PyResult<Option<DType>> {
    let given = args.args.first().or_else(|| args.kwargs.get("type").or_else(|| args.kwargs.get("dtype")));
    let Some(given) = given else { return Ok(None) };
    match given.downcast_ref::<PyDType>() {
        Some(dtype) => Ok(Some(dtype.0)),
        None => Err(vm.new_type_error(format!("{name}(): argument 'type' (position 1) must be torch.dtype, not {}", given.class().name()))),
    }
}

/// The one object of each dtype, memory format and layout.
#[derive(Debug)]
pub(super) struct Constants {
    dtypes: [PyObjectRef; DType::ALL.len()],
    formats: [PyObjectRef; 4],
    strided: PyObjectRef,
    jagged: PyObjectRef,
    cpu: PyObjectRef,
}

const FORMATS: [MemoryFormat; 4] =
    [MemoryFormat::Contiguous, MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d, MemoryFormat::Preserve];

/// PyTorch's other names of dtypes.
const DTYPE_ALIASES: &[(&str, DType)] = &[
    ("float", DType::F32),
    ("double", DType::F64),
    ("half", DType::F16),
    ("short", DType::I16),
    ("int", DType::I32),
    ("long", DType::I64),
    ("cfloat", DType::C64),
    ("cdouble", DType::C128),
];

impl Constants {
    pub(super) fn new(ctx: &Context) -> Self {
        for class in [
            PyDType::make_static_type(),
            PyLayout::make_static_type(),
            PyMemoryFormat::make_static_type(),
            PyDevice::make_static_type(),
            PyFloatInfo::make_static_type(),
            PyIntInfo::make_static_type(),
        ] {
            drop(class);
        }
        Self {
            dtypes: DType::ALL.map(|dtype| PyDType(dtype).into_ref(ctx).into()),
            formats: FORMATS.map(|format| PyMemoryFormat(format).into_ref(ctx).into()),
            strided: PyLayout(Layout::Strided).into_ref(ctx).into(),
            jagged: PyLayout(Layout::Jagged).into_ref(ctx).into(),
            cpu: PyDevice(Device::CPU).into_ref(ctx).into(),
        }
    }

    pub(super) fn dtype(&self, dtype: DType) -> PyObjectRef {
        self.dtypes[dtype as usize].clone()
    }

    pub(super) fn memory_format(&self, format: MemoryFormat) -> PyObjectRef {
        self.formats[FORMATS.iter().position(|known| *known == format).unwrap_or(0)].clone()
    }

    pub(super) fn strided(&self) -> PyObjectRef {
        self.strided.clone()
    }

    pub(super) fn device(&self, device: &Device, ctx: &Context) -> PyObjectRef {
        if *device == Device::CPU { self.cpu.clone() } else { PyDevice(device.clone()).into_ref(ctx).into() }
    }

    /// What `torch._C` holds: names and objects.
    pub(super) fn names(&self, ctx: &Context) -> Vec<(&'static str, PyObjectRef)> {
        let mut names: Vec<(&'static str, PyObjectRef)> = vec![
            ("dtype", PyDType::class(ctx).to_owned().into()),
            ("layout", PyLayout::class(ctx).to_owned().into()),
            ("memory_format", PyMemoryFormat::class(ctx).to_owned().into()),
            ("device", PyDevice::class(ctx).to_owned().into()),
            ("finfo", PyFloatInfo::class(ctx).to_owned().into()),
            ("iinfo", PyIntInfo::class(ctx).to_owned().into()),
            ("strided", self.strided()),
            ("jagged", self.jagged.clone()),
        ];
        names.extend(DType::ALL.map(|dtype| (dtype.torch_name(), self.dtype(dtype))));
        names.extend(DTYPE_ALIASES.iter().map(|(name, dtype)| (*name, self.dtype(*dtype))));
        names.extend(FORMATS.map(|format| (format_name(format), self.memory_format(format))));
        names
    }
}
