//! Runs one op now, and the emitter through which composites run theirs.

use crate::{Context, KernelFn, Tensor, layout::Sizes, pointwise, registry, write};
use smallvec::{SmallVec, smallvec};
use taipan_ir::{
    Arg, DType, Dim, Dims, Emitter, Facts, Meaning, OpError, OpRef, Val,
    complex::{self, Complex},
    dims::NumberDims,
    emit::{check_write, checked_facts, decompose},
    op::{FactsList, Kernel, RuleContext, Vals},
};

/// The results of one op.
pub type Tensors = SmallVec<[Tensor; 2]>;

/// Runs one op. `args` are one per schema parameter.
///
/// # Errors
/// PyTorch's, with its text; nothing has been written then.
pub fn run(cx: &mut Context, op: OpRef, args: &[Arg<Tensor>]) -> Result<Tensors, OpError> {
    match op.0.meaning {
        Meaning::Pointwise { body, promotion } => {
            let facts = allocatable(facts(cx, op, args)?)?;
            if let Some(kernel) = complex_kernel(op, args)? {
                return Ok(kernel(cx, args, &facts)?.into());
            }
            let entry = registry().entry(op).ok_or_else(|| missing(op))?;
            Ok(smallvec![pointwise::run(cx, entry, body, promotion, args, &facts[0])?])
        }
        Meaning::View => {
            let Arg::Tensor(base) = &args[0] else { return Err(OpError::type_error("a view needs a Tensor")) };
            facts(cx, op, args)?.iter().map(|f| viewable(f).and_then(|()| base.with_facts(f))).collect()
        }
        Meaning::Kernel { run, .. } | Meaning::Random { run } => {
            let facts = match op.0.facts {
                Some(_) => allocatable(facts(cx, op, args)?)?,
                None => FactsList::new(),
            };
            let kernel = match complex_kernel(op, args)? {
                Some(kernel) => kernel,
                None => kernel(run, op)?,
            };
            let results = kernel(cx, args, &facts)?;
            laid(cx, results, &facts)
        }
        Meaning::Mutate { pure, writes } => {
            let pure = registry().find(pure).ok_or_else(|| missing(op))?.op;
            let Arg::Tensor(target) = &args[writes] else { return Err(OpError::type_error("the written argument must be a Tensor")) };
            if let Complex::RefusedWith(..) = op.0.complex {
                complex::check_composite(op, args, Tensor::facts)?;
            }
            write::check_overlap(target)?;
            let sharing = write::Sharing::of(pure.0.meaning);
            let mut read: SmallVec<[&Tensor; 4]> = SmallVec::new();
            args.iter().enumerate().filter(|(place, _)| *place != writes).for_each(|(_, arg)| arg.for_each(|t| read.push(t)));
            read.iter().try_for_each(|tensor| write::check_sharing(sharing, target, tensor))?;
            let value = run(cx, pure, args)?;
            check_write(&mut NumberDims, &target.facts(), &value[0].facts())?;
            write::write_into(cx, target, &value[0])?;
            Ok(smallvec![target.clone()])
        }
        Meaning::Composite(rule) => {
            let mut emitter = EagerEmitter::new(cx);
            let args: SmallVec<[Arg<Val>; 8]> = args.iter().map(|a| a.map(|t| emitter.value(t.clone()))).collect();
            let results = decompose(op, rule, &mut emitter, &args)?;
            Ok(results.iter().map(|v| emitter.tensor(*v).clone()).collect())
        }
    }
}

/// The results as their facts say they lie: most kernels write row by row. Sizes that depend on data are only known to the kernel.
fn laid(cx: &mut Context, results: Vec<Tensor>, facts: &[Facts]) -> Result<Tensors, OpError> {
    let mut out: Tensors = results.into();
    for (tensor, facts) in out.iter_mut().zip(facts) {
        let known = |dims: &[Dim]| dims.iter().map(|d| d.known()).collect::<Option<Sizes>>();
        let (Some(sizes), Some(strides)) = (known(&facts.dims), known(&facts.strides)) else { continue };
        if tensor.sizes() == sizes.as_slice() && tensor.strides() != strides.as_slice() {
            *tensor = write::relaid(cx, tensor, &strides)?;
        }
    }
    Ok(out)
}

/// The facts an op's rule gives for these arguments.
fn facts(cx: &Context, op: OpRef, args: &[Arg<Tensor>]) -> Result<FactsList, OpError> {
    let rule = op.0.facts.ok_or_else(|| missing(op))?;
    let owned: SmallVec<[Arg<Facts>; 4]> = args.iter().map(|a| a.map(Tensor::facts)).collect();
    let borrowed: SmallVec<[Arg<&Facts>; 4]> = owned.iter().map(Arg::borrowed).collect();
    let mut rule_context = RuleContext { dims: &mut NumberDims, default_float: cx.default_float };
    checked_facts(op, rule, &mut rule_context, &borrowed)
}

/// The code an op has for complex numbers, where there are any among the arguments.
fn complex_kernel(op: OpRef, args: &[Arg<Tensor>]) -> Result<Option<KernelFn>, OpError> {
    let Complex::Kernel { run, .. } = op.0.complex else { return Ok(None) };
    complex::met(args, Tensor::dtype).map(|_| kernel(run, op)).transpose()
}

fn check_sizes(f: &Facts) -> Result<(), OpError> {
    match f.dims.iter().filter_map(|d| d.known()).find(|n| *n < 0) {
        Some(n) => {
            Err(OpError::runtime(format!("Trying to create tensor with negative dimension {n}: {}", taipan_ir::text::sizes_text(&f.dims))))
        }
        None => Ok(()),
    }
}

/// Fails where the facts are none that a view can have.
fn viewable(f: &Facts) -> Result<(), OpError> {
    check_sizes(f)?;
    let count = |n: i64, d: &Dim| n.checked_mul(d.known().unwrap_or(0));
    if f.dims.iter().try_fold(1, count).is_none() {
        return Err(OpError::runtime("numel: integer multiplication overflow"));
    }
    match f.offset {
        Dim::Is(offset) if offset < 0 => Err(OpError::runtime(format!("Tensor: invalid storage offset {offset}"))),
        _ => Ok(()),
    }
}

/// Results larger than this, in bytes, are first asked of the allocator, so that asking for too much is an error.
const LARGE: i64 = 1 << 32;

/// The facts, where the memory of new tensors like these can be had.
fn allocatable(facts: FactsList) -> Result<FactsList, OpError> {
    for f in &facts {
        check_sizes(f)?;
        let count = |n: i64, d: &Dim| n.checked_mul(d.known().unwrap_or(0));
        let bytes = f.dims.iter().try_fold(f.dtype.size() as i64, count).ok_or_else(|| {
            OpError::runtime(format!("Storage size calculation overflowed with sizes={}", taipan_ir::text::sizes_text(&f.dims)))
        })?;
        if bytes > LARGE && Vec::<u8>::new().try_reserve_exact(bytes as usize).is_err() {
            return Err(OpError::runtime(format!(
                "DefaultCPUAllocator: can't allocate memory: you tried to allocate {bytes} bytes. Error code 12 (Cannot allocate memory)"
            )));
        }
    }
    Ok(facts)
}

fn kernel(kernel: Kernel, op: OpRef) -> Result<KernelFn, OpError> {
    kernel.0.downcast_ref::<KernelFn>().copied().ok_or_else(|| missing(op))
}

fn missing(op: OpRef) -> OpError {
    OpError::not_implemented(format!("{} has no code in this build", op.name()))
}

/// An emitter that runs each op as it comes.
pub struct EagerEmitter<'a> {
    cx: &'a mut Context,
    dims: NumberDims,
    values: Vec<(Tensor, Facts)>,
}

impl<'a> EagerEmitter<'a> {
    /// An emitter without values.
    pub fn new(cx: &'a mut Context) -> EagerEmitter<'a> {
        EagerEmitter { cx, dims: NumberDims, values: vec![] }
    }

    /// A value that is this tensor.
    pub fn value(&mut self, tensor: Tensor) -> Val {
        let facts = tensor.facts();
        self.values.push((tensor, facts));
        Val(self.values.len() as u32 - 1)
    }

    /// The tensor of a value.
    pub fn tensor(&self, value: Val) -> &Tensor {
        &self.values[value.0 as usize].0
    }
}

impl Emitter for EagerEmitter<'_> {
    fn dims(&mut self) -> &mut dyn Dims {
        &mut self.dims
    }

    fn facts(&self, value: Val) -> &Facts {
        &self.values[value.0 as usize].1
    }

    fn emit(&mut self, op: OpRef, args: &[Arg<Val>]) -> Result<Vals, OpError> {
        let args: SmallVec<[Arg<Tensor>; 8]> = args.iter().map(|a| a.map(|v| self.tensor(*v).clone())).collect();
        let results = run(self.cx, op, &args)?;
        Ok(results.into_iter().map(|t| self.value(t)).collect())
    }

    fn default_float(&self) -> DType {
        self.cx.default_float
    }
}
