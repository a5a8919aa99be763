//! Running sums, products and extrema along a dim.

use super::{
    args,
    call::{call, i, one, t},
    define::{ALL, close, composite, gradient, kernel, refusing, samples},
    gradient::{reduce::of_chosen, scan::*},
    refusal::{dtypes, shapes},
    rules::{self, wrap_dim},
};
use crate::{Context, KernelFn, Tensor, element::Arithmetic, layout::numel, with_comparable, write};
use taipan_ir::{
    Arg, DType, Emitter, Facts, Op, OpError, Val,
    dtype::Category,
    op::{FactsList, Family, Forms, Kernel, RuleContext, Vals},
};

const BOTH: Forms = Forms::BOTH;

/// The op tables of this file.
pub static OPS: &[Op] = &[
    close(samples(
        gradient(
            kernel(
                "cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
                ALL,
                Family::Scan,
                scan_rule,
                Kernel(&(cumsum as KernelFn)),
            ),
            "",
            of_cumsum,
        ),
        SCANS,
    )),
    close(samples(
        gradient(
            kernel(
                "cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
                ALL,
                Family::Scan,
                scan_rule,
                Kernel(&(cumprod as KernelFn)),
            ),
            "self, result",
            of_cumprod,
        ),
        SCANS,
    )),
    close(samples(
        gradient(
            refusing(
                kernel(
                    "logcumsumexp(Tensor self, int dim) -> Tensor",
                    BOTH,
                    Family::Scan,
                    |cx, a| {
                        wrap_dim(args::int(a, 1)?, args::tensor(a, 0)?.rank())?;
                        rules::like_first(cx, a)
                    },
                    Kernel(&(logcumsumexp as KernelFn)),
                ),
                |_, a| dtypes::floats(a, "logcumsumexp_out_cpu"),
            ),
            "self, result",
            of_logcumsumexp,
        ),
        &["f32[2,3], 1"],
    )),
    samples(
        gradient(
            kernel(
                "cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)",
                BOTH,
                Family::Scan,
                extremum_rule,
                Kernel(&(cummax as KernelFn)),
            ),
            "indices",
            |b| of_chosen(b, 1, None),
        ),
        &["f32[2,5], 1", "i64[4], 0"],
    ),
    samples(
        gradient(
            kernel(
                "cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)",
                BOTH,
                Family::Scan,
                extremum_rule,
                Kernel(&(cummin as KernelFn)),
            ),
            "indices",
            |b| of_chosen(b, 1, None),
        ),
        &["f32[2,5], 1"],
    ),
    close(samples(
        gradient(
            kernel(
                "_linear_scan(Tensor self, Tensor factor, int dim) -> Tensor",
                Forms::INTERNAL,
                Family::Scan,
                rules::like_first,
                Kernel(&(linear_scan as KernelFn)),
            ),
            "self: factor; factor: factor, result",
            of_linear_scan,
        ),
        &["f32[2,5], f32[2,5], 1"],
    )),
    samples(
        refusing(
            composite("diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor", BOTH, diff),
            shapes::diff,
        ),
        &["f32[5]", "f32[2,5], 2", "i64[4]"],
    ),
];

const SCANS: &[&str] = &["f32[2,3], 1", "f32[2,3], 0", "i32[4], 0", "f16[4], 0"];

fn scan_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    wrap_dim(args::int(a, 1)?, x.rank())?;
    let own = if x.dtype.category() == Category::Float { x.dtype } else { DType::I64 };
    rules::fresh(cx, x, args::dtype(a, 2).unwrap_or(own), x.dims.clone())
}

fn extremum_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    wrap_dim(args::int(a, 1)?, x.rank())?;
    let mut out = rules::fresh(cx, x, x.dtype, x.dims.clone())?;
    out.extend(rules::fresh(cx, x, DType::I64, x.dims.clone())?);
    Ok(out)
}

/// Calls `step(state, element)` along dim `d`, keeping each state it answers.
fn scan<T: Copy, A: Copy>(elements: &[T], sizes: &[i64], d: usize, first: A, step: impl Fn(A, T, usize) -> A) -> Vec<A> {
    let n = sizes.get(d).copied().unwrap_or(1).max(0) as usize;
    let inner = numel(sizes.get(d + 1..).unwrap_or(&[]));
    let mut out = vec![first; elements.len()];
    for block in 0..elements.len() / (n * inner).max(1) {
        for k in 0..inner {
            let mut state = first;
            for p in 0..n {
                let at = (block * n + p) * inner + k;
                state = step(state, elements[at], p);
                out[at] = state;
            }
        }
    }
    out
}

/// Floats accumulate in `f64`, as PyTorch's do.
fn running(
    cx: &mut Context,
    a: &[Arg<Tensor>],
    facts: &[Facts],
    floats: (f64, fn(f64, f64) -> f64),
    integers: (i64, fn(i64, i64) -> i64),
) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let d = wrap_dim(args::int(a, 1)?, x.rank())?;
    let dtype = facts[0].dtype;
    let x = write::cast(cx, x, dtype)?;
    let out = if dtype.is_float() {
        let wide = write::cast(cx, &x, DType::F64)?;
        let states = scan(&wide.elements::<f64>()?, x.sizes(), d, floats.0, |s, v: f64, _| (floats.1)(s, v));
        Tensor::from_slice(&states, x.sizes())?
    } else {
        let wide = write::cast(cx, &x, DType::I64)?;
        let states = scan(&wide.elements::<i64>()?, x.sizes(), d, integers.0, |s, v: i64, _| (integers.1)(s, v));
        Tensor::from_slice(&states, x.sizes())?
    };
    Ok(vec![write::cast(cx, &out, dtype)?])
}

fn cumsum(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    running(cx, a, facts, (0.0, |s, v| s + v), (0, i64::wrapping_add))
}

fn cumprod(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    running(cx, a, facts, (1.0, |s, v| s * v), (1, i64::wrapping_mul))
}

fn logcumsumexp(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let join = |s: f64, v: f64| {
        let (low, high) = if s < v { (s, v) } else { (v, s) };
        if low == f64::NEG_INFINITY { high } else { high + libm::log1p(libm::exp(low - high)) }
    };
    running(cx, a, facts, (f64::NEG_INFINITY, join), (0, |s, _| s))
}

/// `r[k] = self[k] + factor[k] * r[k - 1]` along a dim, from zero.
fn linear_scan(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (x, factor) = (args::tensor(a, 0)?, args::tensor(a, 1)?);
    let d = wrap_dim(args::int(a, 2)?, x.rank())?;
    let (wide, factor) = (write::cast(cx, x, DType::F64)?, write::cast(cx, factor, DType::F64)?);
    let pairs: Vec<(f64, f64)> = wide.elements::<f64>()?.iter().copied().zip(factor.elements::<f64>()?.iter().copied()).collect();
    // The first factor has nothing to multiply, not even where it is infinite.
    let step = |state: f64, (value, factor): (f64, f64), place: usize| if place == 0 { value } else { value + factor * state };
    let out = Tensor::from_slice(&scan(&pairs, x.sizes(), d, 0.0, step), x.sizes())?;
    Ok(vec![write::cast(cx, &out, x.dtype())?])
}

fn extremum(cx: &mut Context, a: &[Arg<Tensor>], greatest: bool) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let d = wrap_dim(args::int(a, 1)?, x.rank())?;
    let wide = write::comparable(cx, x)?;
    let (values, indices) = with_comparable!(wide.dtype(), T => {
        let first = (if greatest { <T as Arithmetic>::least() } else { <T as Arithmetic>::greatest() }, 0i64);
        let states = scan(&wide.elements::<T>()?, x.sizes(), d, first, |s, v, p| {
            let better = if greatest { v >= s.0 } else { v <= s.0 };
            let taken = p == 0 || Arithmetic::is_nan(v) || (better && !Arithmetic::is_nan(s.0));
            if taken { (v, p as i64) } else { s }
        });
        let (values, indices): (Vec<T>, Vec<i64>) = states.into_iter().unzip();
        (Tensor::from_slice(&values, x.sizes())?, indices)
    });
    Ok(vec![write::cast(cx, &values, x.dtype())?, Tensor::from_slice(&indices, x.sizes())?])
}

fn cummax(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    extremum(cx, a, true)
}

fn cummin(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    extremum(cx, a, false)
}

fn diff(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let mut x = *args::tensor(a, 0)?;
    let d = wrap_dim(args::int(a, 2)?, e.facts(x).rank())? as i64;
    let parts: Vec<Val> = [args::optional_tensor(a, 3), Some(&x), args::optional_tensor(a, 4)].into_iter().flatten().copied().collect();
    if parts.len() > 1 {
        x = one(e, "cat", &[Arg::Tensors(parts), i(d)])?;
    }
    for _ in 0..args::int(a, 1)? {
        let later = one(e, "slice.Tensor", &[t(x), i(d), i(1)])?;
        let earlier = one(e, "slice.Tensor", &[t(x), i(d), i(0), i(-1)])?;
        let name = if e.facts(x).dtype == DType::Bool { "logical_xor" } else { "sub.Tensor" };
        x = one(e, name, &[t(later), t(earlier)])?;
    }
    call(e, "alias", &[t(x)])
}
