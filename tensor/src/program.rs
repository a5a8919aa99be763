//! The block evaluator: a scalar body compiled to steps over registers of up to 1,024 elements.
//!
//! A step is one loop over one operation on typed slices, compiled for the widest vectors the machine has. An input that is
//! contiguous and of the register's type is read where it lies; the last step writes the result where it belongs.

use crate::{
    context::{PARALLEL_FROM, Workers},
    lane::{Lane, Truth, call, compare, polynomial, rescue, select, zip1, zip3},
    layout::Sizes,
};
use bytemuck::{Pod, cast_slice, cast_slice_mut};
use half::{bf16, f16, slice::HalfFloatSliceExt};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, Ordering};
use taipan_ir::{
    DType, OpError,
    body::{Body, Node, Scalar},
};

/// Elements per step.
pub const BLOCK: usize = 1024;

/// A compiled body.
pub struct Program {
    constants: Vec<(usize, u64, DType)>,
    steps: Vec<Step>,
    registers: usize,
    result: usize,
    dtype: DType,
}

/// One node with registers for operands. Registers hold inputs first, then constants, then intermediate values.
struct Step {
    node: Node,
    dtype: DType,
    /// Type of the first operand.
    from: DType,
    a: usize,
    b: usize,
    c: usize,
    out: usize,
    /// Where not empty: the coefficients, highest power first, of the polynomial in `a` that the step and those merged into it are. The
    /// same fused multiplications and additions as one by one, without the ways through memory between them.
    polynomial: Vec<f64>,
}

/// Steps about to run over one block: the only code compiled for each instruction set. It must be inlined as a whole, so it is no
/// closure, and the loops it calls are no methods of iterators.
struct Steps<'a, 'm> {
    steps: &'a [Step],
    registers: &'a mut [Vec<u64>],
    direct: &'a [Option<&'m [u8]>],
    n: usize,
}

impl pulp::WithSimd for Steps<'_, '_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> bool {
        let mut ok = true;
        for step in self.steps {
            ok &= run_step(step, self.registers, self.direct, self.n);
        }
        ok
    }
}

/// Memory of one input, seen along the result's order of elements.
pub struct Source<'a> {
    /// The storage.
    pub bytes: &'a [u8],
    /// The element type it has; half types are read to `f32`.
    pub dtype: DType,
    /// Strides along the merged sizes.
    pub strides: Sizes,
    /// First element.
    pub offset: i64,
}

impl Program {
    /// Compiles the body whose value is `result` and whose inputs are read as `inputs`.
    pub fn new(body: &Body, inputs: &[DType], result: Scalar) -> Program {
        let nodes = body.nodes();
        let mut program = Program { constants: vec![], steps: vec![], registers: inputs.len(), result: 0, dtype: body.dtype(result) };
        let needed = reached(nodes, result);
        let (mut last_use, mut uses) = (vec![usize::MAX; nodes.len()], vec![0; nodes.len()]);
        uses[result.0 as usize] = 1;
        for (i, (node, _)) in nodes.iter().enumerate().filter(|(i, _)| needed[*i]) {
            for s in operands(node) {
                last_use[s.0 as usize] = i;
                uses[s.0 as usize] += 1;
            }
        }
        let mut place: Vec<Option<usize>> = vec![None; nodes.len()];
        let mut free: Vec<usize> = vec![];
        // The value of the last step, and the variable of its polynomial.
        let mut last: Option<(Scalar, Scalar)> = None;
        for (i, (node, dtype)) in nodes.iter().enumerate() {
            match node {
                _ if !needed[i] => continue,
                Node::Constant(_) => continue,
                Node::Input(k) => {
                    place[i] = Some(*k as usize);
                    continue;
                }
                _ => {}
            }
            let value = Scalar(i as u32);
            let mut used = operands(node);
            let mut polynomial = vec![];
            let mut merged = false;
            if let Node::Fma(a, x, c) = *node
                && let Some(low) = body.known(c)
            {
                if let Some(high) = body.known(a) {
                    polynomial = vec![high.as_f64(), low.as_f64()];
                } else if last == Some((a, x))
                    && uses[a.0 as usize] == 1
                    && let Some(step) = program.steps.last_mut()
                {
                    step.polynomial.push(low.as_f64());
                    place[i] = Some(step.out);
                    merged = true;
                }
                if merged || !polynomial.is_empty() {
                    used = SmallVec::from_slice(&[x]);
                    last = Some((value, x));
                }
            }
            if !merged {
                if polynomial.is_empty() {
                    last = None;
                }
                let mut registers = [0; 3];
                for (register, s) in registers.iter_mut().zip(&used) {
                    *register = program.operand(nodes, &mut place, *s);
                }
                let out = free.pop().unwrap_or(program.registers);
                program.registers = program.registers.max(out + 1);
                place[i] = Some(out);
                let ([a, b, c], from) = (registers, used.first().map_or(*dtype, |s| body.dtype(*s)));
                program.steps.push(Step { node: *node, dtype: *dtype, from, a, b, c, out, polynomial });
            }
            for (k, s) in used.iter().enumerate() {
                let at = s.0 as usize;
                let temporary = !matches!(nodes[at].0, Node::Input(_) | Node::Constant(_));
                if temporary && last_use[at] == i && *s != result && !used[..k].contains(s) {
                    free.extend(place[at]);
                }
            }
        }
        program.result = program.operand(nodes, &mut place, result);
        program
    }

    /// The register of a value that has been computed, or of a constant, which gets one now.
    fn operand(&mut self, nodes: &[(Node, DType)], place: &mut [Option<usize>], value: Scalar) -> usize {
        let at = value.0 as usize;
        if let (None, (Node::Constant(number), dtype)) = (place[at], nodes[at]) {
            place[at] = Some(self.registers);
            self.constants.push((self.registers, constant_bits(number, dtype), dtype));
            self.registers += 1;
        }
        place[at].unwrap_or(0)
    }

    /// Evaluates over merged `sizes`, which the sources' strides belong to, into row-major `out` of type `dtype`: the body's own type, or the half type it is rounded to.
    ///
    /// # Errors
    /// An integer division by zero.
    pub fn run(&self, workers: &Workers, sizes: &[i64], sources: &[Source<'_>], dtype: DType, out: &mut [u8]) -> Result<(), OpError> {
        let by_zero = AtomicBool::new(false);
        let n = out.len() / dtype.size();
        let chunk =
            if n <= PARALLEL_FROM { n } else { (n / (workers.threads() * 4)).clamp(BLOCK * 4, PARALLEL_FROM).next_multiple_of(BLOCK) };
        workers.chunks(out, chunk * dtype.size(), n, |i, piece| {
            if !self.run_piece(sizes, sources, dtype, i * chunk, piece) {
                by_zero.store(true, Ordering::Relaxed);
            }
        });
        if by_zero.into_inner() { Err(OpError::runtime("ZeroDivisionError")) } else { Ok(()) }
    }

    /// Evaluates over one slice in place, for kernels that need a function of the body language. `T` is the type of the only input and
    /// of the result.
    pub fn map<T: Pod>(&self, data: &mut [T]) {
        let mut registers = self.registers_for(data.len().min(BLOCK), &[]);
        for block in data.chunks_mut(BLOCK) {
            let n = block.len();
            cast_slice_mut::<u64, T>(&mut registers[0])[..n].copy_from_slice(block);
            self.run_steps(&mut registers, &[], n);
            block.copy_from_slice(&cast_slice::<u64, T>(&registers[self.result])[..n]);
        }
    }

    /// Registers for blocks of `n` elements; inputs that are read where they lie need none.
    fn registers_for(&self, n: usize, direct: &[bool]) -> Vec<Vec<u64>> {
        let length = |k: usize| if direct.get(k) == Some(&true) { 0 } else { n };
        let mut registers: Vec<Vec<u64>> = (0..self.registers).map(|k| vec![0u64; length(k)]).collect();
        for (at, bits, dtype) in &self.constants {
            let register = &mut registers[*at];
            match dtype.size() {
                1 => cast_slice_mut::<u64, u8>(register)[..n].fill(*bits as u8),
                2 => cast_slice_mut::<u64, u16>(register)[..n].fill(*bits as u16),
                4 => cast_slice_mut::<u64, u32>(register)[..n].fill(*bits as u32),
                _ => register.fill(*bits),
            }
        }
        registers
    }

    /// Runs all steps over `n` elements; false on an integer division by zero.
    fn run_steps(&self, registers: &mut [Vec<u64>], direct: &[Option<&[u8]>], n: usize) -> bool {
        pulp::Arch::new().dispatch(Steps { steps: &self.steps, registers, direct, n })
    }

    /// Evaluates elements `first..` into `out`; false on an integer division by zero.
    fn run_piece(&self, sizes: &[i64], sources: &[Source<'_>], dtype: DType, first: usize, out: &mut [u8]) -> bool {
        let item = dtype.size();
        let n = out.len() / item;
        let whole: SmallVec<[bool; 4]> = sources.iter().map(|s| is_linear(sizes, s) && s.dtype == self.read_as(s)).collect();
        let mut registers = self.registers_for(n.min(BLOCK), &whole);
        for (i, source) in sources.iter().enumerate() {
            if !whole[i] && source.strides.iter().all(|s| *s == 0) {
                load(source, sizes, 0, n.min(BLOCK), &mut registers[i]);
            }
        }
        let mut ok = true;
        for start in (0..n).step_by(BLOCK) {
            let count = BLOCK.min(n - start);
            let mut direct: SmallVec<[Option<&[u8]>; 4]> = SmallVec::new();
            for (i, source) in sources.iter().enumerate() {
                if whole[i] {
                    let size = source.dtype.size();
                    let at = (source.offset as usize + first + start) * size;
                    direct.push(Some(&source.bytes[at..at + count * size]));
                } else {
                    direct.push(None);
                    if !source.strides.iter().all(|s| *s == 0) {
                        load(source, sizes, first + start, count, &mut registers[i]);
                    }
                }
            }
            ok &= self.run_steps(&mut registers, &direct, count);
            let target = &mut out[start * item..(start + count) * item];
            let result = operand_bytes(self.result, &registers, &direct, count * self.dtype.size());
            store(result, self.dtype, target, dtype);
        }
        ok
    }

    fn read_as(&self, source: &Source<'_>) -> DType {
        taipan_ir::promote::compute_type(source.dtype)
    }
}

fn operands(node: &Node) -> SmallVec<[Scalar; 3]> {
    let mut out = SmallVec::new();
    match *node {
        Node::Input(_) | Node::Constant(_) => {}
        Node::Unary(_, a) | Node::Cast(a) | Node::Bitcast(a) => out.push(a),
        Node::Binary(_, a, b) | Node::Compare(_, a, b) => out.extend([a, b]),
        Node::Select(a, b, c) | Node::Fma(a, b, c) => out.extend([a, b, c]),
        Node::Call(_, a, b) => out.extend([Some(a), b].into_iter().flatten()),
        Node::Rescue { guard, fast, x, .. } => out.extend([guard, fast, x]),
    }
    out
}

fn reached(nodes: &[(Node, DType)], result: Scalar) -> Vec<bool> {
    let mut needed = vec![false; nodes.len()];
    needed[result.0 as usize] = true;
    for i in (0..nodes.len()).rev() {
        if needed[i] {
            operands(&nodes[i].0).into_iter().for_each(|s| needed[s.0 as usize] = true);
        }
    }
    needed
}

fn constant_bits(number: taipan_ir::Number, dtype: DType) -> u64 {
    match dtype {
        DType::F32 => u64::from((number.as_f64() as f32).to_bits()),
        DType::F64 => number.as_f64().to_bits(),
        DType::Bool => u64::from(number.truth()),
        _ => number.as_i64() as u64,
    }
}

/// Whether element `i` of the order lies at `offset + i`.
fn is_linear(sizes: &[i64], source: &Source<'_>) -> bool {
    let mut expected = 1;
    for (n, s) in sizes.iter().zip(&source.strides).rev() {
        if *n != 1 && *s != expected {
            return false;
        }
        expected *= n;
    }
    true
}

/// Reads `count` elements from number `first` of the order into a register.
#[inline]
fn load(source: &Source<'_>, sizes: &[i64], first: usize, count: usize, register: &mut [u64]) {
    match source.dtype {
        DType::F16 => {
            let target = &mut cast_slice_mut::<u64, f32>(register)[..count];
            let mut buffer = [f16::ZERO; BLOCK];
            load_as(cast_slice::<u8, f16>(source.bytes), source, sizes, first, &mut buffer[..count]);
            buffer[..count].convert_to_f32_slice(target);
        }
        DType::BF16 => {
            let target = &mut cast_slice_mut::<u64, f32>(register)[..count];
            let mut buffer = [bf16::ZERO; BLOCK];
            load_as(cast_slice::<u8, bf16>(source.bytes), source, sizes, first, &mut buffer[..count]);
            target.iter_mut().zip(&buffer[..count]).for_each(|(t, b)| *t = f32::from_bits(u32::from(b.to_bits()) << 16));
        }
        other => match other.size() {
            1 => load_as(source.bytes, source, sizes, first, &mut cast_slice_mut::<u64, u8>(register)[..count]),
            2 => load_as(cast_slice::<u8, u16>(source.bytes), source, sizes, first, &mut cast_slice_mut::<u64, u16>(register)[..count]),
            4 => load_as(cast_slice::<u8, u32>(source.bytes), source, sizes, first, &mut cast_slice_mut::<u64, u32>(register)[..count]),
            _ => load_as(cast_slice::<u8, u64>(source.bytes), source, sizes, first, &mut register[..count]),
        },
    }
}

#[inline]
fn load_as<T: Pod>(memory: &[T], source: &Source<'_>, sizes: &[i64], first: usize, out: &mut [T]) {
    let inner = sizes.len() - 1;
    let mut index: Sizes = Sizes::from_elem(0, sizes.len());
    let mut rest = first as i64;
    let mut at = source.offset;
    for d in (0..sizes.len()).rev() {
        index[d] = rest % sizes[d];
        rest /= sizes[d];
        at += index[d] * source.strides[d];
    }
    let step = source.strides[inner];
    let mut done = 0;
    while done < out.len() {
        let run = ((sizes[inner] - index[inner]) as usize).min(out.len() - done);
        let target = &mut out[done..done + run];
        let start = at as usize;
        match step {
            1 => target.copy_from_slice(&memory[start..start + run]),
            0 => target.fill(memory[start]),
            _ => {
                let mut i = at;
                for t in target {
                    *t = memory[i as usize];
                    i += step;
                }
            }
        }
        done += run;
        index[inner] += run as i64;
        at += run as i64 * step;
        for d in (1..sizes.len()).rev() {
            if index[d] < sizes[d] {
                break;
            }
            at += source.strides[d - 1] - sizes[d] * source.strides[d];
            index[d] = 0;
            index[d - 1] += 1;
        }
    }
}

/// Writes a register to memory of `dtype`.
#[inline(always)]
fn store(register: &[u8], from: DType, target: &mut [u8], dtype: DType) {
    match (from, dtype) {
        (DType::F32, DType::F16) => cast_slice_mut::<u8, f16>(target).convert_from_f32_slice(cast_slice(register)),
        (DType::F32, DType::BF16) => cast_slice_mut::<u8, bf16>(target).convert_from_f32_slice(cast_slice(register)),
        _ => target.copy_from_slice(register),
    }
}

#[inline(always)]
fn operand_bytes<'a>(at: usize, registers: &'a [Vec<u64>], direct: &[Option<&'a [u8]>], bytes: usize) -> &'a [u8] {
    match direct.get(at) {
        Some(Some(memory)) => memory,
        _ => &cast_slice::<u64, u8>(&registers[at])[..bytes],
    }
}

#[inline(always)]
fn operand<'a, T: Pod>(at: usize, registers: &'a [Vec<u64>], direct: &[Option<&'a [u8]>], n: usize) -> &'a [T] {
    cast_slice(operand_bytes(at, registers, direct, n * size_of::<T>()))
}

/// Runs one step over `n` elements; false on an integer division by zero.
#[inline(always)]
fn run_step(step: &Step, registers: &mut [Vec<u64>], direct: &[Option<&[u8]>], n: usize) -> bool {
    let mut out = std::mem::take(&mut registers[step.out]);
    let ok = {
        let registers: &[Vec<u64>] = registers;
        macro_rules! of {
            ($t:ty, $at:expr) => {
                operand::<$t>($at, registers, direct, n)
            };
        }
        macro_rules! to {
            ($t:ty) => {
                &mut cast_slice_mut::<u64, $t>(&mut out)[..n]
            };
        }
        macro_rules! by_type {
            ($dtype:expr, $t:ident => $body:expr) => {
                match $dtype {
                    DType::F32 => {
                        type $t = f32;
                        $body
                    }
                    DType::F64 => {
                        type $t = f64;
                        $body
                    }
                    DType::I64 => {
                        type $t = i64;
                        $body
                    }
                    DType::I32 => {
                        type $t = i32;
                        $body
                    }
                    DType::I16 => {
                        type $t = i16;
                        $body
                    }
                    DType::I8 => {
                        type $t = i8;
                        $body
                    }
                    DType::U8 => {
                        type $t = u8;
                        $body
                    }
                    _ => {
                        type $t = Truth;
                        $body
                    }
                }
            };
        }
        match step.node {
            Node::Input(_) | Node::Constant(_) => true,
            Node::Unary(op, _) => by_type!(step.dtype, T => { T::unary(op, of!(T, step.a), to!(T)); true }),
            Node::Binary(op, ..) => by_type!(step.dtype, T => T::binary(op, of!(T, step.a), of!(T, step.b), to!(T))),
            Node::Compare(op, ..) => by_type!(step.from, T => { compare(op, of!(T, step.a), of!(T, step.b), to!(u8)); true }),
            Node::Select(..) => {
                let condition = of!(u8, step.a);
                match step.dtype.size() {
                    1 => select(condition, of!(u8, step.b), of!(u8, step.c), to!(u8)),
                    2 => select(condition, of!(u16, step.b), of!(u16, step.c), to!(u16)),
                    4 => select(condition, of!(u32, step.b), of!(u32, step.c), to!(u32)),
                    _ => select(condition, of!(u64, step.b), of!(u64, step.c), to!(u64)),
                }
                true
            }
            Node::Cast(_) => {
                by_type!(step.from, F => by_type!(step.dtype, T => zip1(of!(F, step.a), to!(T), |x: F| <T as Lane>::from_lane(x))));
                true
            }
            Node::Bitcast(_) => {
                let bytes = n * step.dtype.size();
                cast_slice_mut::<u64, u8>(&mut out)[..bytes].copy_from_slice(operand_bytes(step.a, registers, direct, bytes));
                true
            }
            Node::Fma(..) if !step.polynomial.is_empty() => {
                match step.dtype {
                    DType::F64 => polynomial(&step.polynomial, of!(f64, step.a), to!(f64), |x| x, f64::mul_add),
                    _ => polynomial(&step.polynomial, of!(f32, step.a), to!(f32), |x| x as f32, f32::mul_add),
                }
                true
            }
            Node::Fma(..) => {
                match step.dtype {
                    DType::F64 => zip3(of!(f64, step.a), of!(f64, step.b), of!(f64, step.c), to!(f64), f64::mul_add),
                    _ => zip3(of!(f32, step.a), of!(f32, step.b), of!(f32, step.c), to!(f32), f32::mul_add),
                }
                true
            }
            Node::Call(function, _, second) => {
                let b = if second.is_some() { step.b } else { step.a };
                match step.dtype {
                    DType::F64 => call(function, of!(f64, step.a), of!(f64, b), to!(f64), |x| x, |x| x),
                    _ => call(function, of!(f32, step.a), of!(f32, b), to!(f32), f64::from, |x| x as f32),
                }
                true
            }
            Node::Rescue { function, .. } => {
                let guard = of!(u8, step.a);
                match step.dtype {
                    DType::F64 => rescue(function, guard, of!(f64, step.b), of!(f64, step.c), to!(f64), |x| x, |x| x),
                    _ => rescue(function, guard, of!(f32, step.b), of!(f32, step.c), to!(f32), f64::from, |x| x as f32),
                }
                true
            }
        }
    };
    registers[step.out] = out;
    ok
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, build: fn(&mut Body, Scalar) -> Scalar, truth: fn(f64) -> f64, from: f32, to: f32, ulps: f64) {
        let mut body = Body::default();
        let x = body.input(0, DType::F32);
        let y = build(&mut body, x);
        let program = Program::new(&body, &[DType::F32], y);
        let xs: Vec<f32> = (0..40_000).map(|i| from + (to - from) * (i as f32 / 39_999.0)).collect();
        let mut ys = xs.clone();
        program.map(&mut ys);
        for (x, y) in xs.iter().zip(&ys) {
            let expected = truth(f64::from(*x));
            let rounded = (expected.abs() as f32).max(f32::MIN_POSITIVE);
            let ulp = f64::from(f32::from_bits(rounded.to_bits() + 1)) - f64::from(rounded);
            let error = (f64::from(*y) - expected).abs() / ulp;
            assert!(error <= ulps, "{name}({x}) = {y}, expected {expected}: {error} ulp");
        }
    }

    #[test]
    fn f32_functions_are_within_two_ulps() {
        check("exp", Body::exp, libm::exp, -87.0, 88.0, 1.0);
        check("log", Body::log, libm::log, 1e-30, 4.0, 1.0);
        check("log", Body::log, libm::log, 0.5, 2.0, 1.0);
        check("log1p", Body::log1p, libm::log1p, -0.99, 10.0, 1.0);
        check("expm1", Body::expm1, libm::expm1, -10.0, 10.0, 1.0);
        check("tanh", Body::tanh, libm::tanh, -10.0, 10.0, 1.0);
        check("tanh", Body::tanh, libm::tanh, -0.01, 0.01, 1.0);
        check("erf", Body::erf, libm::erf, -5.0, 5.0, 2.0);
        check("sin", Body::sin, libm::sin, -1000.0, 1000.0, 1.0);
        check("cos", Body::cos, libm::cos, -1000.0, 1000.0, 1.0);
        check("sin", Body::sin, libm::sin, 1e6, 1e8, 1.0);
        check("sigmoid", Body::sigmoid, |x| 1.0 / (1.0 + libm::exp(-x)), -30.0, 30.0, 2.5);
        check("cosh", Body::cosh, libm::cosh, -10.0, 10.0, 1.0);
    }

    #[test]
    fn f64_functions_are_within_two_ulps() {
        type Case = (fn(&mut Body, Scalar) -> Scalar, fn(f64) -> f64, f64, f64);
        let functions: [Case; 4] = [
            (Body::exp, libm::exp, -700.0, 700.0),
            (Body::log, libm::log, 1e-300, 10.0),
            (Body::sin, libm::sin, -100.0, 100.0),
            (Body::cos, libm::cos, -100.0, 100.0),
        ];
        for (build, truth, from, to) in functions {
            let mut body = Body::default();
            let x = body.input(0, DType::F64);
            let y = build(&mut body, x);
            let program = Program::new(&body, &[DType::F64], y);
            let xs: Vec<f64> = (0..20_000).map(|i| from + (to - from) * (i as f64 / 19_999.0)).collect();
            let mut ys = xs.clone();
            program.map(&mut ys);
            for (x, y) in xs.iter().zip(&ys) {
                let expected = truth(*x);
                let ulp = f64::from_bits(expected.abs().to_bits() + 1) - expected.abs();
                assert!((y - expected).abs() <= 2.0 * ulp, "f({x}) = {y}, expected {expected}");
            }
        }
    }

    #[test]
    fn edges_of_exp_and_log() {
        let mut body = Body::default();
        let x = body.input(0, DType::F32);
        let y = body.exp(x);
        let mut values = [f32::NEG_INFINITY, -200.0, 0.0, 100.0, f32::INFINITY, f32::NAN];
        Program::new(&body, &[DType::F32], y).map(&mut values);
        assert_eq!(values[..5], [0.0, 0.0, 1.0, f32::INFINITY, f32::INFINITY]);
        assert!(values[5].is_nan());
        let mut body = Body::default();
        let x = body.input(0, DType::F32);
        let y = body.log(x);
        let mut values = [0.0, 1.0, f32::INFINITY, -1.0, f32::NAN];
        Program::new(&body, &[DType::F32], y).map(&mut values);
        assert_eq!(values[..3], [f32::NEG_INFINITY, 0.0, f32::INFINITY]);
        assert!(values[3].is_nan() && values[4].is_nan());
    }
}
