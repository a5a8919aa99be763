//! Writing into tensors that exist: the only place where a storage changes.

use crate::{Context, Storage, Tensor, complex, layout, pointwise, pointwise::ProgramKey, program::Program, storage::Bytes, with_bits};
use smallvec::smallvec;
use std::sync::Arc;
use taipan_ir::{DType, Meaning, OpError, body::Body, op::Family, promote::compute_type};

/// Writes `value` into `target`: converted to its dtype, broadcast to its sizes. The shapes must allow it.
///
/// # Errors
/// Where two indices of the target are one element, or a storage is too small for its tensor.
pub fn write_into(cx: &mut Context, target: &Tensor, value: &Tensor) -> Result<(), OpError> {
    check_overlap(target)?;
    if target.same_view(value) {
        target.storage().bump_version();
        return Ok(());
    }
    let mut value = cast(cx, value, target.dtype())?;
    if Arc::ptr_eq(value.storage(), target.storage()) {
        value = value.copied()?;
    }
    let value = value.broadcast_to(target.sizes());
    if let Some(undo) = &mut cx.undo {
        undo.save(target.storage());
    }
    copy_elements(target, &value)?;
    target.storage().bump_version();
    Ok(())
}

/// As [`write_into`] for a tensor that nobody else has seen: no version is counted and nothing kept for undoing.
pub fn fill_new(cx: &mut Context, target: &Tensor, value: &Tensor) -> Result<(), OpError> {
    let value = cast(cx, value, target.dtype())?.broadcast_to(target.sizes());
    copy_elements(target, &value)
}

/// A copy of the tensor whose elements lie by these strides, which are those of dense memory.
///
/// # Errors
/// Where the tensor has no memory for some element.
pub fn relaid(cx: &mut Context, value: &Tensor, strides: &[i64]) -> Result<Tensor, OpError> {
    let dense = Tensor::zeros(value.dtype(), value.sizes());
    let target = dense.with_layout(value.dtype(), value.sizes(), strides, 0);
    fill_new(cx, &target, value)?;
    Ok(target)
}

/// Copies between tensors of the same dtype and sizes over different storages.
fn copy_elements(target: &Tensor, value: &Tensor) -> Result<(), OpError> {
    with_bits!(target.dtype(), T => {
        let source = value.read::<T>()?;
        let mut bytes = target.storage().write();
        target.check_bounds(bytes.len())?;
        let memory = bytes.elements_mut::<T>();
        let offsets = [target.offset(), value.offset()];
        layout::for_each_row(target.sizes(), [target.strides(), value.strides()], offsets, |[to, from], [step, pace], length| {
            match (step, pace) {
                (1, 1) => memory[to as usize..to as usize + length].copy_from_slice(&source[from as usize..from as usize + length]),
                (1, 0) => memory[to as usize..to as usize + length].fill(source[from as usize]),
                _ => (0..length as i64).for_each(|i| memory[(to + i * step) as usize] = source[(from + i * pace) as usize]),
            }
        });
    });
    Ok(())
}

/// Changes the elements of a contiguous tensor that nobody else has seen.
pub fn change_new<T: bytemuck::Pod>(target: &Tensor, change: impl FnOnce(&mut [T])) -> Result<(), OpError> {
    let mut bytes = target.storage().write();
    target.check_bounds(bytes.len())?;
    let (start, n) = (target.offset() as usize, target.numel());
    if n > 0 {
        change(&mut bytes.elements_mut::<T>()[start..start + n]);
    }
    Ok(())
}

/// PyTorch's refusal to write where one element has two indices.
pub fn check_overlap(target: &Tensor) -> Result<(), OpError> {
    if layout::is_expanded(target.sizes(), target.strides()) {
        return Err(OpError::runtime(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation.",
        ));
    }
    Ok(())
}

/// How the memory of a tensor that is written and of one that is read may meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// In any way: the op reads all before it writes.
    Any,
    /// As the same view only, as for ops that go element by element.
    SameView,
    /// Not at all.
    None,
}

impl Sharing {
    /// What an op that is written into one of its inputs, or into `out=`, allows.
    pub fn of(meaning: Meaning) -> Sharing {
        match meaning {
            Meaning::Pointwise { .. } | Meaning::Kernel { family: Family::Copy, .. } => Sharing::SameView,
            Meaning::Kernel { family: Family::Gather | Family::Scatter, .. } => Sharing::None,
            _ => Sharing::Any,
        }
    }
}

/// PyTorch's refusal to write over what is read. Only tensors without gaps are looked at, as PyTorch does.
pub fn check_sharing(sharing: Sharing, target: &Tensor, read: &Tensor) -> Result<(), OpError> {
    if sharing == Sharing::Any || !Arc::ptr_eq(target.storage(), read.storage()) || target.numel() == 0 || read.numel() == 0 {
        return Ok(());
    }
    let dense = |t: &Tensor| layout::is_dense(t.sizes(), t.strides());
    if !(target.same_view(read) || dense(target) && dense(read)) {
        return Ok(());
    }
    let bytes = |t: &Tensor| {
        let size = t.dtype().size() as i64;
        (t.offset() * size, (t.offset() + t.numel() as i64) * size)
    };
    let ((start, end), (first, last)) = (bytes(target), bytes(read));
    let same = target.same_view(read) || ((start, end) == (first, last) && target.strides() == read.strides());
    if start >= last || first >= end || (same && sharing == Sharing::SameView) {
        return Ok(());
    }
    Err(OpError::runtime(
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor before performing the operation.",
    ))
}

/// The tensor with elements of another dtype; the tensor itself where it has that dtype. The result is row-major.
pub fn cast(cx: &mut Context, tensor: &Tensor, dtype: DType) -> Result<Tensor, OpError> {
    if tensor.dtype() == dtype {
        return Ok(tensor.clone());
    }
    let from = tensor.dtype();
    if from.is_complex() || dtype.is_complex() {
        return complex::cast(cx, tensor, dtype);
    }
    let key: ProgramKey = smallvec![1, from as u64, dtype as u64];
    let program = cx.program(key, || {
        let mut body = Body::default();
        let x = body.input(0, compute_type(from));
        let y = body.cast(x, compute_type(dtype));
        Ok(Program::new(&body, &[compute_type(from)], y))
    })?;
    let mut facts = tensor.facts();
    facts.dtype = dtype;
    facts.strides = layout::row_major(tensor.sizes()).iter().map(|n| (*n).into()).collect();
    facts.offset = 0.into();
    pointwise::evaluate(cx, &program, &[tensor], &facts)
}

/// The tensor, row-major, in the type kernels of floats compute in: `f32` for half types.
///
/// # Errors
/// On integers, which those kernels would take for floats.
pub fn widened(cx: &mut Context, tensor: &Tensor) -> Result<Tensor, OpError> {
    if !tensor.dtype().is_float() {
        return Err(OpError::not_implemented(format!("not implemented for '{}'", tensor.dtype().scalar_name())));
    }
    cast(cx, tensor, compute_type(tensor.dtype()))?.contiguous()
}

/// The tensor in one of three types that keep all values and their order: `f32`, `f64` and `i64`. Kernels that only compare use them, so
/// that they are compiled three times and not nine.
///
/// # Errors
/// On complex numbers, which have no order.
pub fn comparable(cx: &mut Context, tensor: &Tensor) -> Result<Tensor, OpError> {
    let dtype = match tensor.dtype() {
        DType::C64 | DType::C128 => {
            return Err(OpError::not_implemented(format!("not implemented for '{}'", tensor.dtype().scalar_name())));
        }
        DType::F16 | DType::BF16 | DType::F32 => DType::F32,
        DType::F64 => DType::F64,
        _ => DType::I64,
    };
    cast(cx, tensor, dtype)
}

/// What must be put back where a run fails: the storages that it did not make itself, as they were before their first write.
#[derive(Default)]
pub struct Undo {
    watched: Vec<Arc<Storage>>,
    saved: Vec<(Arc<Storage>, Bytes, u64)>,
}

impl Undo {
    /// Watches the storages of these tensors.
    pub fn new(inputs: &[Tensor]) -> Undo {
        let mut watched: Vec<Arc<Storage>> = vec![];
        for t in inputs {
            if !watched.iter().any(|s| Arc::ptr_eq(s, t.storage())) {
                watched.push(t.storage().clone());
            }
        }
        Undo { watched, saved: vec![] }
    }

    /// Keeps the content of a storage before its first write, where it is watched.
    pub fn save(&mut self, storage: &Arc<Storage>) {
        let same = |s: &Arc<Storage>| Arc::ptr_eq(s, storage);
        if self.watched.iter().any(same) && !self.saved.iter().any(|(s, ..)| same(s)) {
            let bytes = storage.read().clone();
            self.saved.push((storage.clone(), bytes, storage.version()));
        }
    }

    /// Puts everything back.
    pub fn restore(&mut self) {
        for (storage, bytes, version) in self.saved.drain(..) {
            *storage.write() = bytes;
            storage.restore_version(version);
        }
    }

    /// Whether anything was written.
    pub fn is_empty(&self) -> bool {
        self.saved.is_empty()
    }
}
