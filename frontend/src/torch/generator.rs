//! `torch.Generator`, the default one, and the functions about it.

use super::{
    create,
    state::{TorchState, raise},
    variable::Variable,
};
use rustpython_vm::{
    AsObject, Py, PyObjectRef, PyPayload, PyRef, PyResult, VirtualMachine,
    builtins::{PyInt, PyModule, PyType, PyTypeRef},
    function::FuncArgs,
    pyclass,
    types::Constructor,
};
use std::rc::Rc;
use taipan_ir::{DType, Device, OpError};
use taipan_tensor::{Tensor, random::Twister};

/// The number of the default generator.
const DEFAULT: u32 = 0;

/// A random stream of the context.
#[pyclass(module = "torch._C", name = "Generator")]
#[derive(Debug, PyPayload)]
pub struct PyGenerator {
    number: u32,
    state: Rc<TorchState>,
}

impl PyGenerator {
    /// Its number in the context.
    pub fn number(&self) -> u32 {
        self.number
    }

    fn with<R>(&self, vm: &VirtualMachine, body: impl FnOnce(&mut Twister) -> Result<R, OpError>) -> PyResult<R> {
        self.state.with_context(|context| body(context.generators.get(self.number)?)).map_err(|error| raise(error, vm))
    }
}

impl Constructor for PyGenerator {
    type Args = FuncArgs;

    fn slot_new(class: PyTypeRef, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        let device = args.args.first().or_else(|| args.kwargs.get("device"));
        create::check_device("Generator", device.map(|device| &**device), vm)?;
        let state = super::state(vm)?;
        let number = state.with_context(|context| context.generators.add());
        Ok(PyGenerator { number, state }.into_ref_with_type(vm, class)?.into())
    }

    fn py_new(_class: &Py<PyType>, _args: FuncArgs, vm: &VirtualMachine) -> PyResult<Self> {
        Err(vm.new_type_error("a Generator is made by its class"))
    }
}

#[pyclass(with(Constructor))]
impl PyGenerator {
    #[pymethod]
    fn manual_seed(zelf: PyRef<Self>, seed: PyObjectRef, vm: &VirtualMachine) -> PyResult<PyRef<Self>> {
        let seed = seed_value(seed, vm)?;
        zelf.with(vm, |stream| {
            *stream = Twister::new(seed);
            Ok(())
        })?;
        Ok(zelf)
    }

    /// Seeds from the system's randomness and answers with the seed.
    #[pymethod]
    fn seed(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult<u64> {
        let seed = getrandom::u64().map_err(|error| vm.new_runtime_error(error.to_string()))?;
        zelf.with(vm, |stream| {
            *stream = Twister::new(seed);
            Ok(seed)
        })
    }

    #[pymethod]
    fn initial_seed(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult<u64> {
        zelf.with(vm, |stream| Ok(stream.seed()))
    }

    #[pymethod]
    fn get_state(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult<PyRef<Variable>> {
        let bytes = zelf.with(vm, |stream| Ok(state_bytes(&stream.to_words())))?;
        let data = Tensor::from_slice(&bytes, &[bytes.len() as i64]).map_err(|error| raise(error, vm))?;
        Ok(zelf.state.wrap(data, vm))
    }

    #[pymethod]
    fn set_state(zelf: PyRef<Self>, state: PyRef<Variable>, vm: &VirtualMachine) -> PyResult<PyRef<Self>> {
        let data = state.data();
        if data.dtype() != DType::U8 {
            return Err(vm.new_type_error("RNG state must be a torch.ByteTensor"));
        }
        let bytes = data.to_vec::<u8>().map_err(|error| raise(error, vm))?;
        let stream = state_words(&bytes).and_then(|words| Twister::from_words(&words)).map_err(|error| raise(error, vm))?;
        zelf.with(vm, |own| {
            *own = stream;
            Ok(())
        })?;
        Ok(zelf)
    }

    /// The next words of 32 bits, as a tensor of int64: what other libraries' distributions are made of.
    #[pymethod]
    fn _bits(zelf: &Py<Self>, count: usize, vm: &VirtualMachine) -> PyResult<PyRef<Variable>> {
        let words = zelf.with(vm, |stream| Ok((0..count).map(|_| i64::from(stream.bits32())).collect::<Vec<_>>()))?;
        let data = Tensor::from_slice(&words, &[count as i64]).map_err(|error| raise(error, vm))?;
        Ok(zelf.state.wrap(data, vm))
    }

    /// A generator of its own that goes on from the same state.
    #[pymethod]
    fn clone_state(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult<PyRef<Self>> {
        let stream = zelf.with(vm, |stream| Ok(stream.clone()))?;
        let copy = PyGenerator { number: zelf.state.with_context(|context| context.generators.add()), state: Rc::clone(&zelf.state) };
        copy.with(vm, |own| {
            *own = stream;
            Ok(())
        })?;
        Ok(copy.into_ref(&vm.ctx))
    }

    #[pygetset]
    fn device(zelf: &Py<Self>, vm: &VirtualMachine) -> PyObjectRef {
        zelf.state.device_object(&Device::CPU, vm)
    }
}

/// Puts the class and the functions about the default generator into `torch._C`.
pub(super) fn install(module: &Py<PyModule>, state: &Rc<TorchState>, vm: &VirtualMachine) -> PyResult<()> {
    let default = PyGenerator { number: DEFAULT, state: Rc::clone(state) }.into_ref(&vm.ctx);
    module.set_attr("Generator", PyGenerator::class(&vm.ctx).to_owned(), vm)?;
    module.set_attr("default_generator", default.clone(), vm)?;
    for name in ["manual_seed", "seed", "initial_seed"] {
        module.set_attr(vm.ctx.intern_str(name), default.as_object().get_attr(name, vm)?, vm)?;
    }
    module.set_attr("get_rng_state", default.as_object().get_attr("get_state", vm)?, vm)?;
    let set = move |state: PyRef<Variable>, vm: &VirtualMachine| -> PyResult<()> {
        PyGenerator::set_state(default.clone(), state, vm)?;
        Ok(())
    };
    module.set_attr("set_rng_state", vm.new_function("set_rng_state", set), vm)
}

/// A seed: an integer of 64 bits, negative ones counted from the top.
fn seed_value(seed: PyObjectRef, vm: &VirtualMachine) -> PyResult<u64> {
    let seed = vm.ctx.types.int_type.as_object().call((seed,), vm)?;
    let Some(seed) = seed.downcast_ref::<PyInt>() else {
        return Err(vm.new_type_error("manual_seed(): the seed must be an integer"));
    };
    seed.try_to_primitive::<u64>(vm)
        .or_else(|_| seed.try_to_primitive::<i64>(vm).map(|seed| seed as u64))
        .map_err(|_| vm.new_value_error("Overflow when unpacking long long"))
}

const STATE_WORDS: usize = 624;
const STATE_BYTES: usize = 5056;

/// A stream's state as PyTorch lays it out: seed, `left`, a flag, `next`, the words as 64 bits each, the spare normals.
fn state_bytes(words: &[u64]) -> Vec<u8> {
    let word = |index: usize| words.get(index).copied().unwrap_or_default();
    let (seed, left, next, spare_f32, has_f64, spare_f64) = (word(0), word(1), word(2), word(3), word(4), word(5));
    let mut bytes = Vec::with_capacity(STATE_BYTES);
    bytes.extend(seed.to_le_bytes());
    bytes.extend((left as u32).to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend(next.to_le_bytes());
    words.iter().skip(6).for_each(|word| bytes.extend(word.to_le_bytes()));
    bytes.extend([0; 8]);
    bytes.extend(spare_f64.to_le_bytes());
    bytes.extend([0; 8]);
    bytes.extend(has_f64.to_le_bytes());
    bytes.extend((spare_f32 as u32).to_le_bytes());
    bytes.extend(((spare_f32 >> 32) as u32).to_le_bytes());
    bytes
}

/// Reads what [`state_bytes`] gave.
fn state_words(bytes: &[u8]) -> Result<Vec<u64>, OpError> {
    if bytes.len() != STATE_BYTES {
        return Err(OpError::runtime(format!(
            "Expected a CPUGeneratorImplState of size {STATE_BYTES} but found the input RNG state size to be {}",
            bytes.len()
        )));
    }
    let short = |at: usize| u64::from(u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]));
    let long = |at: usize| short(at) | (short(at + 4) << 32);
    let behind = 24 + 8 * STATE_WORDS;
    let spare_f32 = short(behind + 32) | (u64::from(bytes[behind + 36] != 0) << 32);
    let mut words = vec![long(0), short(8), long(16), spare_f32, u64::from(short(behind + 24) != 0), long(behind + 8)];
    words.extend((0..STATE_WORDS).map(|index| long(24 + 8 * index)));
    Ok(words)
}
