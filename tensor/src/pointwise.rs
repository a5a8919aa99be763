//! Runs pointwise ops: finds the compiled body, lays the inputs along the result, evaluates.

use crate::{
    Context, Tensor,
    layout::{self, Sizes},
    program::{Program, Source},
    storage::Bytes,
};
use smallvec::SmallVec;
use std::sync::Arc;
use taipan_ir::{
    Arg, DType, Facts, Number, OpError,
    op::{BodyRule, Entry, Promotion},
    pointwise,
};

/// What a compiled body depends on: the op, types of tensors, values of numbers.
pub type ProgramKey = SmallVec<[u64; 16]>;

/// Runs a pointwise op whose result has `result` as its facts.
pub fn run(
    cx: &mut Context,
    entry: &Entry,
    rule: BodyRule,
    promotion: Promotion,
    args: &[Arg<Tensor>],
    result: &Facts,
) -> Result<Tensor, OpError> {
    let default_float = cx.default_float;
    let program = cx.program(key(entry, args, result.dtype, default_float), || {
        let owned: Vec<Arg<Facts>> = args.iter().map(|a| a.map(Tensor::facts)).collect();
        let facts: Vec<Arg<&Facts>> = owned.iter().map(Arg::borrowed).collect();
        let built = pointwise::build(entry, rule, promotion, &facts, default_float, result.dtype);
        Ok(Program::new(&built.body, &built.inputs, built.result))
    })?;
    let mut inputs: SmallVec<[&Tensor; 4]> = SmallVec::new();
    args.iter().for_each(|a| a.for_each(|t| inputs.push(t)));
    evaluate(cx, &program, &inputs, result)
}

/// Evaluates a compiled body over tensors that broadcast to the sizes of `result`, whose strides must be dense.
pub fn evaluate(cx: &Context, program: &Arc<Program>, inputs: &[&Tensor], result: &Facts) -> Result<Tensor, OpError> {
    if let Some(t) = inputs.iter().find(|t| t.dtype().is_complex()) {
        return Err(OpError::not_implemented(format!("not implemented for '{}'", t.dtype().scalar_name())));
    }
    let known = |d: &taipan_ir::Dim| d.known().ok_or(OpError::DataDependent);
    let sizes: Sizes = result.dims.iter().map(known).collect::<Result<_, _>>()?;
    let strides: Sizes = result.strides.iter().map(known).collect::<Result<_, _>>()?;
    let mut bytes = Bytes::zeroed(layout::numel(&sizes) * result.dtype.size());
    if !bytes.is_empty() {
        let mut order: SmallVec<[usize; 5]> = (0..sizes.len()).collect();
        if !layout::is_contiguous(&sizes, &strides) {
            order.sort_by_key(|d| std::cmp::Reverse(strides[*d]));
        }
        let ordered: Sizes = order.iter().map(|d| sizes[*d]).collect();
        let laid: SmallVec<[Sizes; 4]> = inputs
            .iter()
            .map(|t| {
                let wide = t.broadcast_to(&sizes);
                order.iter().map(|d| wide.strides()[*d]).collect()
            })
            .collect();
        let laid: SmallVec<[&[i64]; 4]> = laid.iter().map(Sizes::as_slice).collect();
        let merged = layout::merge(&ordered, &laid);
        let memory = inputs.iter().map(|t| t.read::<u8>()).collect::<Result<SmallVec<[_; 4]>, _>>()?;
        let sources: SmallVec<[Source<'_>; 4]> = inputs
            .iter()
            .zip(&memory)
            .zip(merged.strides)
            .map(|((t, memory), strides)| Source { bytes: memory, dtype: t.dtype(), strides, offset: t.offset() })
            .collect();
        program.run(&cx.workers(), &merged.sizes, &sources, result.dtype, bytes.elements_mut())?;
    }
    Ok(Tensor::from_bytes(result.dtype, &sizes, bytes).with_layout(result.dtype, &sizes, &strides, 0))
}

fn key(entry: &Entry, args: &[Arg<Tensor>], result: DType, default_float: DType) -> ProgramKey {
    let mut key = ProgramKey::new();
    key.push(std::ptr::from_ref(entry.op.0).addr() as u64);
    key.push((result as u64) << 8 | default_float as u64);
    for arg in args {
        match arg {
            Arg::Tensor(t) => key.push(0x100 | t.dtype() as u64 | u64::from(t.rank() == 0) << 16),
            Arg::Number(Number::Bool(b)) => key.push(0x200 | u64::from(*b)),
            Arg::Number(Number::Int(i)) => key.extend([0x300, *i as u64]),
            Arg::Number(Number::Float(x)) => key.extend([0x400, x.to_bits()]),
            Arg::Number(Number::Complex(re, im)) => key.extend([0xa00, re.to_bits(), im.to_bits()]),
            Arg::Int(d) => key.extend([0x500, d.known().unwrap_or(0) as u64]),
            Arg::Bool(b) => key.push(0x600 | u64::from(*b)),
            Arg::DType(d) => key.push(0x700 | *d as u64),
            Arg::Str(s) => {
                key.push(0x800 | (s.len() as u64) << 16);
                key.extend(s.as_bytes().chunks(8).map(|c| c.iter().fold(0, |n, b| n << 8 | u64::from(*b))));
            }
            _ => key.push(0x900),
        }
    }
    key
}
