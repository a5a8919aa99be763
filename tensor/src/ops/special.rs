//! Special functions, the most of them in `torch.special`.

use super::{
    args,
    arithmetic::x,
    call::{self, call, f, one, t},
    define::{ALL, composite, constant, gradient, kernel, no_complex, pointwise, samples, ulps},
    gradient::special::*,
    rules,
};
use crate::{Context, KernelFn, Tensor, write};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Emitter, Facts, Op, OpError, Val,
    body::{Binary, Body, Compare, Function, Scalar},
    op::{BodyRule, FactsList, Family, Forms, Kernel, Promotion::*, RuleContext, Vals},
    promote,
};

const SPECIAL: Forms = Forms::SPECIAL;
const FLOATS: &[&str] = &["f32[2,3]", "f64[5]", "i64[4]"];
const POSITIVE: &[&str] = &["f32[2,3]+", "f64[5]+"];
const PAIRS: &[&str] = &["f32[2,3]+, f32[3]+", "f64[4]+, f64[4]+"];
/// PyTorch evaluates these in the type of the elements, with up to this error.
const WITHIN: &[(DType, u32)] = &[(DType::F32, 8), (DType::F64, 32), (DType::F16, 1), (DType::BF16, 1)];

const fn function(schema: &'static str, forms: Forms, examples: &'static [&'static str], body: BodyRule) -> Op {
    ulps(samples(pointwise(schema, forms, Float, rules::float, body), examples), WITHIN)
}

macro_rules! routine {
    ($schema:literal, $forms:expr, $function:ident, $examples:expr) => {
        function($schema, $forms, $examples, |b, a| b.call(Function::$function, x(a, 0)))
    };
    ($schema:literal, $forms:expr, $function:ident, $examples:expr, $saves:literal, $rule:expr) => {
        gradient(routine!($schema, $forms, $function, $examples), $saves, $rule)
    };
}

/// The op tables of this file.
pub static OPS: &[Op] = &[
    routine!("i0(Tensor self) -> Tensor", ALL, BesselI0, FLOATS, "self", of_i0),
    routine!("special_i0e(Tensor self) -> Tensor", SPECIAL, BesselI0e, FLOATS, "self, result", of_i0e),
    routine!("special_i1(Tensor self) -> Tensor", SPECIAL, BesselI1, FLOATS, "self, result", of_i1),
    routine!("special_i1e(Tensor self) -> Tensor", SPECIAL, BesselI1e, FLOATS, "self, result", of_i1e),
    routine!("special_bessel_j0(Tensor self) -> Tensor", SPECIAL, BesselJ0, FLOATS),
    routine!("special_bessel_j1(Tensor self) -> Tensor", SPECIAL, BesselJ1, FLOATS),
    routine!("special_bessel_y0(Tensor self) -> Tensor", SPECIAL, BesselY0, POSITIVE),
    routine!("special_bessel_y1(Tensor self) -> Tensor", SPECIAL, BesselY1, POSITIVE),
    routine!("special_modified_bessel_k0(Tensor self) -> Tensor", SPECIAL, BesselK0, POSITIVE),
    routine!("special_modified_bessel_k1(Tensor self) -> Tensor", SPECIAL, BesselK1, POSITIVE),
    routine!("special_scaled_modified_bessel_k0(Tensor x) -> Tensor", SPECIAL, BesselK0e, POSITIVE),
    routine!("special_scaled_modified_bessel_k1(Tensor x) -> Tensor", SPECIAL, BesselK1e, POSITIVE),
    routine!("special_erfcx(Tensor self) -> Tensor", SPECIAL, Erfcx, FLOATS, "self, result", of_erfcx),
    routine!("special_log_ndtr(Tensor self) -> Tensor", SPECIAL, LogNdtr, FLOATS, "self", of_log_ndtr),
    routine!("special_ndtri(Tensor self) -> Tensor", SPECIAL, Ndtri, &["f32[2,3]+", "f64[5]+"], "result", of_ndtri),
    gradient(
        function("special_ndtr(Tensor self) -> Tensor", SPECIAL, FLOATS, |b, a| {
            let scaled = b.mul_number(x(a, 0), -std::f64::consts::FRAC_1_SQRT_2);
            let tail = b.call(Function::Erfc, scaled);
            b.mul_number(tail, 0.5)
        }),
        "self",
        of_ndtr,
    ),
    constant(function("special_spherical_bessel_j0(Tensor x) -> Tensor", SPECIAL, FLOATS, |b, a| {
        let sine = b.sin(x(a, 0));
        let ratio = b.div(sine, x(a, 0));
        let zero = b.compare_number(Compare::Eq, x(a, 0), 0.0);
        let (one, none) = (b.number(ratio, 1.0), b.number(ratio, 0.0));
        let size = b.abs(x(a, 0));
        let far = b.compare_number(Compare::Eq, size, f64::INFINITY);
        let ratio = b.select(far, none, ratio);
        b.select(zero, one, ratio)
    })),
    gradient(
        function("special_entr(Tensor self) -> Tensor", SPECIAL, FLOATS, |b, a| {
            let value = x(a, 0);
            let log = b.log(value);
            let product = b.mul(value, log);
            let minus = b.neg(product);
            let zero = b.compare_number(Compare::Eq, value, 0.0);
            let negative = b.compare_number(Compare::Lt, value, 0.0);
            let (none, least) = (b.number(value, 0.0), b.number(value, f64::NEG_INFINITY));
            let result = b.select(zero, none, minus);
            b.select(negative, least, result)
        }),
        "self",
        of_entr,
    ),
    gradient(
        function("special_xlog1py(Tensor self, Tensor|Scalar other) -> Tensor", SPECIAL, PAIRS, |b, a| {
            let log = b.log1p(x(a, 1));
            let log = b.rounded(log);
            let product = b.mul(x(a, 0), log);
            let zero = b.compare_number(Compare::Eq, x(a, 0), 0.0);
            let ordinary = b.compare(Compare::Eq, x(a, 1), x(a, 1));
            let none = b.number(product, 0.0);
            let result = b.select(zero, none, product);
            b.select(ordinary, result, x(a, 1))
        }),
        "self, other",
        of_xlog1py,
    ),
    gradient(
        function("special_zeta(Tensor self, Tensor|Scalar other) -> Tensor", SPECIAL, PAIRS, |b, a| {
            b.call2(Function::Zeta, x(a, 0), x(a, 1))
        }),
        "self, other",
        of_zeta,
    ),
    gradient(
        function("igamma(Tensor self, Tensor other) -> Tensor", ALL, PAIRS, |b, a| b.call2(Function::GammaP, x(a, 0), x(a, 1))),
        "self, other",
        of_igamma,
    ),
    gradient(
        function("igammac(Tensor self, Tensor other) -> Tensor", ALL, PAIRS, |b, a| b.call2(Function::GammaQ, x(a, 0), x(a, 1))),
        "self, other",
        of_igammac,
    ),
    gradient(
        function("_trigamma(Tensor self) -> Tensor", Forms::INTERNAL, &[], |b, a| b.call(Function::Trigamma, x(a, 0))),
        "self",
        of_trigamma,
    ),
    no_complex(
        ulps(
            samples(
                composite("polygamma(int n, Tensor self) -> Tensor", Forms::FUNCTION, |e, a| {
                    polygamma(e, *args::tensor(a, 1)?, args::int(a, 0)?)
                }),
                &["0, f64[4]+", "1, f32[4]+", "2, f64[4]+", "3, f32[4]+"],
            ),
            WITHIN,
        ),
        "\"polygamma\" not implemented for '{}'",
    ),
    ulps(
        samples(
            composite("mvlgamma(Tensor self, int p) -> Tensor", ALL, |e, a| {
                let (value, p) = (*args::tensor(a, 0)?, args::int(a, 1)?);
                if p < 1 {
                    return Err(OpError::runtime("p has to be greater than or equal to 1"));
                }
                let dtype = e.facts(value).dtype;
                let float = e.default_float();
                let value = if dtype.is_float() { value } else { call::cast(e, value, float)? };
                let wide = call::unary(e, "lgamma", value)?;
                let mut total = wide;
                for j in 1..p {
                    let shifted = call::add(e, value, f(-(j as f64) / 2.0))?;
                    let term = call::unary(e, "lgamma", shifted)?;
                    total = call::add(e, total, t(term))?;
                }
                let constant = (p * (p - 1)) as f64 / 4.0 * std::f64::consts::PI.ln();
                Ok(smallvec![call::add(e, total, f(constant))?])
            }),
            &["f64[4]+, 1", "f64[4]+, 2"],
        ),
        WITHIN,
    ),
    samples(
        composite("ldexp.Tensor(Tensor self, Tensor other) -> Tensor", ALL, |e, a| {
            let power = one(e, "pow.Scalar", &[f(2.0), a[1].clone()])?;
            call(e, "mul.Tensor", &[a[0].clone(), t(power)])
        }),
        &["f32[4], i64[4]", "f32[4], f32[4]"],
    ),
    no_complex(
        samples(
            composite("float_power.Tensor_Tensor(Tensor self, Tensor|Scalar exponent) -> Tensor", Forms::BOTH, |e, a| {
                let base = call::cast(e, *args::tensor(a, 0)?, DType::F64)?;
                let exponent = match a[1] {
                    Arg::Tensor(v) => t(call::cast(e, v, DType::F64)?),
                    _ => f(args::float(a, 1, 1.0)),
                };
                call(e, "pow.Tensor_Tensor", &[t(base), exponent])
            }),
            &["f32[4], 2", "i64[4], 0.5", "f32[4], f32[4]"],
        ),
        "float_power of '{}' is not supported",
    ),
    samples(
        composite("float_power_.Tensor_Tensor(Tensor(a!) self, Tensor|Scalar exponent) -> Tensor(a!)", Forms::METHOD, |e, a| {
            let base = *args::tensor(a, 0)?;
            let own = e.facts(base).dtype;
            if own != DType::F64 {
                return Err(OpError::runtime(format!(
                    "the base given to float_power_ has dtype {} but the operation's result requires dtype Double",
                    own.scalar_name()
                )));
            }
            let power = one(e, "float_power.Tensor_Tensor", a)?;
            call(e, "copy_", &[t(base), t(power)])?;
            Ok(smallvec![base])
        }),
        &["f64[4], 2", "f32[4], 2"],
    ),
    no_complex(
        samples(
            composite("float_power.Scalar(Scalar self, Tensor exponent) -> Tensor", Forms::FUNCTION, |e, a| {
                let exponent = call::cast(e, *args::tensor(a, 1)?, DType::F64)?;
                call(e, "pow.Scalar", &[f(args::float(a, 0, 1.0)), t(exponent)])
            }),
            &["2, f32[4]"],
        ),
        "float_power of '{}' is not supported",
    ),
    gradient(
        function("logaddexp2(Tensor self, Tensor other) -> Tensor", Forms::BOTH, &["f32[2,3], f32[3]", "f64[4], f64[4]"], |b, a| {
            let (p, q) = (x(a, 0), x(a, 1));
            let high = b.max(p, q);
            let difference = b.sub(p, q);
            let size = b.abs(difference);
            let minus = b.neg(size);
            let power = b.exp2(minus);
            let log = b.log1p(power);
            let log = b.mul_number(log, std::f64::consts::LOG2_E);
            let sum = b.add(high, log);
            let equal = b.compare(Compare::Eq, p, q);
            let doubled = b.add_number(p, 1.0);
            b.select(equal, doubled, sum)
        }),
        "self, other",
        of_logaddexp2,
    ),
    samples(
        pointwise("nextafter(Tensor self, Tensor other) -> Tensor", ALL, Common, nextafter_rule, next_after),
        &["f32[2,3], f32[3]", "f64[4], f64[4]", "i64[2], i64[2]"],
    ),
    samples(
        constant(kernel(
            "gcd(Tensor self, Tensor other) -> Tensor",
            ALL,
            Family::Other,
            |cx, a| divisors_rule(cx, a, "gcd"),
            Kernel(&(gcd as KernelFn)),
        )),
        &["i64[4], i64[4]", "i32[2,3], i32[3]", "f32[2], f32[2]"],
    ),
    samples(
        constant(kernel(
            "lcm(Tensor self, Tensor other) -> Tensor",
            ALL,
            Family::Other,
            |cx, a| divisors_rule(cx, a, "lcm"),
            Kernel(&(lcm as KernelFn)),
        )),
        &["i64[4], i64[4]", "i32[2,3], i32[3]"],
    ),
    samples(
        kernel(
            "frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)",
            Forms::BOTH,
            Family::Other,
            |cx, a| {
                let own = *args::tensor(a, 0)?;
                if !own.dtype.is_float() {
                    return Err(OpError::runtime("torch.frexp() only supports floating-point dtypes"));
                }
                let mut out = rules::pointwise_result(cx, own.dtype, &[own])?;
                out.extend(rules::pointwise_result(cx, DType::I32, &[own])?);
                Ok(out)
            },
            Kernel(&(frexp as KernelFn)),
        ),
        &["f32[4]", "f64[4]"],
    ),
];

fn polygamma(e: &mut dyn Emitter, value: Val, order: i64) -> Result<Vals, OpError> {
    if order < 0 {
        return Err(OpError::runtime("polygamma(n, x) does not support negative n."));
    }
    match order {
        0 => call(e, "digamma", &[t(value)]),
        1 => call(e, "_trigamma", &[t(value)]),
        _ => {
            let dtype = e.facts(value).dtype;
            let float = e.default_float();
            let value = if dtype.is_float() { value } else { call::cast(e, value, float)? };
            let like = one(e, "full_like", &[t(value), f(order as f64 + 1.0)])?;
            let zeta = one(e, "special_zeta", &[t(like), t(value)])?;
            let sign = if order % 2 == 1 { 1.0 } else { -1.0 };
            Ok(smallvec![call::mul(e, zeta, f(sign * libm::tgamma(order as f64 + 1.0)))?])
        }
    }
}

fn nextafter_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let common = promote::result_type(a, cx.default_float);
    if !matches!(common, DType::F32 | DType::F64 | DType::BF16) {
        return Err(OpError::not_implemented(format!("\"nextafter_cpu\" not implemented for '{}'", common.scalar_name())));
    }
    if common == DType::BF16 {
        return Err(OpError::not_implemented("nextafter of bfloat16 tensors"));
    }
    rules::common(cx, a)
}

/// The neighbour of the first towards the second: its bits plus or minus one.
fn next_after(b: &mut Body, a: &[Arg<Scalar>]) -> Scalar {
    let (from, to) = (x(a, 0), x(a, 1));
    let float = b.dtype(from);
    let bits_type = if float == DType::F64 { DType::I64 } else { DType::I32 };
    let bits = b.bitcast(from, bits_type);
    // Away from zero the bits grow, so they grow where both grow or both shrink.
    let (up, above) = (b.compare(Compare::Gt, to, from), b.compare_number(Compare::Gt, from, 0.0));
    let differ = b.binary(Binary::Xor, up, above);
    let (one, minus) = (b.constant(taipan_ir::Number::Int(1), bits_type), b.constant(taipan_ir::Number::Int(-1), bits_type));
    let step = b.select(differ, minus, one);
    let moved = b.add(bits, step);
    let moved = b.bitcast(moved, float);
    let least = b.bitcast(one, float);
    let below = b.neg(least);
    let least = b.select(up, least, below);
    let zero = b.compare_number(Compare::Eq, from, 0.0);
    let moved = b.select(zero, least, moved);
    let same = b.compare(Compare::Eq, from, to);
    let moved = b.select(same, to, moved);
    // A NaN on either side shows in the sum.
    let sum = b.add(from, to);
    let (p, q) = (b.compare(Compare::Eq, from, from), b.compare(Compare::Eq, to, to));
    let ordinary = b.binary(Binary::And, p, q);
    b.select(ordinary, moved, sum)
}

fn divisors_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>], name: &str) -> Result<FactsList, OpError> {
    let common = promote::result_type(a, cx.default_float);
    if common.is_float() || common == DType::Bool {
        return Err(OpError::not_implemented(format!("\"{name}_cpu\" not implemented for '{}'", common.scalar_name())));
    }
    let dims = rules::broadcast(cx.dims, &[args::tensor(a, 0)?, args::tensor(a, 1)?])?;
    rules::fresh(cx, args::tensor(a, 0)?, common, dims)
}

fn greatest_divisor(p: i64, q: i64) -> i64 {
    let (mut p, mut q) = (p.unsigned_abs(), q.unsigned_abs());
    while q != 0 {
        (p, q) = (q, p % q);
    }
    p as i64
}

/// `combine` of each pair of integers.
fn pairs(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts], combine: fn(i64, i64) -> i64) -> Result<Vec<Tensor>, OpError> {
    let sizes = super::reduce::sizes_of(&facts[0])?;
    let wide = |cx: &mut Context, k: usize| Ok::<_, OpError>(write::cast(cx, args::tensor(a, k)?, DType::I64)?.broadcast_to(&sizes));
    let (p, q) = (wide(cx, 0)?, wide(cx, 1)?);
    let values: Vec<i64> = p.elements::<i64>()?.iter().zip(q.elements::<i64>()?.iter()).map(|(p, q)| combine(*p, *q)).collect();
    Ok(vec![write::cast(cx, &Tensor::from_slice(&values, &sizes)?, facts[0].dtype)?])
}

fn gcd(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    pairs(cx, a, facts, greatest_divisor)
}

fn lcm(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    pairs(cx, a, facts, |p, q| match greatest_divisor(p, q) {
        0 => 0,
        divisor => (p / divisor).wrapping_mul(q).wrapping_abs(),
    })
}

fn frexp(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let own = args::tensor(a, 0)?;
    let wide = write::cast(cx, own, DType::F64)?;
    let split: Vec<(f64, i32)> = wide.elements::<f64>()?.iter().map(|v| libm::frexp(*v)).collect();
    let (mantissas, exponents): (Vec<f64>, Vec<i32>) = split.into_iter().unzip();
    let found = [Tensor::from_slice(&mantissas, own.sizes())?, Tensor::from_slice(&exponents, own.sizes())?];
    let mut out = vec![];
    for (tensor, facts) in found.iter().zip(facts) {
        let target = super::create::filled(facts, taipan_ir::Number::Int(0))?;
        write::fill_new(cx, &target, tensor)?;
        out.push(target);
    }
    Ok(out)
}

/// `polygamma` as a method, whose receiver is its second argument.
pub static METHODS: &[Op] = &[ulps(
    samples(
        composite("polygamma.method(Tensor self, int n) -> Tensor", Forms::METHOD.or(Forms::INPLACE), |e, a| {
            polygamma(e, *args::tensor(a, 0)?, args::int(a, 1)?)
        }),
        &[],
    ),
    WITHIN,
)];
