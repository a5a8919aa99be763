//! Second names: ops that PyTorch offers under more than one name, each a call of the one that does the work.

use super::{
    args,
    call::{call, i, one, t},
    define::{ALL, composite, constant, moves, refusing, samples, ulps},
    refusal::shapes,
};
use smallvec::smallvec;
use taipan_ir::{
    Op,
    op::{CompositeRule, Forms},
};

const BOTH: Forms = Forms::BOTH;
const SPECIAL: Forms = Forms::SPECIAL;

/// Another name of `$name`, with the same parameters.
macro_rules! synonym {
    ($schema:literal, $forms:expr, $name:literal, $samples:expr) => {
        samples(exact($schema, $forms, |e, a| call(e, $name, a)), $samples)
    };
}

const fn exact(schema: &'static str, forms: Forms, rule: CompositeRule) -> Op {
    moves(ulps(composite(schema, forms, rule), super::unary::WITHIN))
}

const ONE: &[&str] = &["f32[2,3]", "f64[4]"];
const POSITIVE: &[&str] = &["f32[2,3]+", "f64[4]+"];
const PAIR: &[&str] = &["f32[2,3], f32[3]", "i64[4], 2"];

/// The op tables of this file.
pub static OPS: &[Op] = &[
    synonym!("arccos(Tensor self) -> Tensor", ALL, "acos", ONE),
    synonym!("arcsin(Tensor self) -> Tensor", ALL, "asin", ONE),
    synonym!("arctan(Tensor self) -> Tensor", ALL, "atan", ONE),
    synonym!("arccosh(Tensor self) -> Tensor", ALL, "acosh", POSITIVE),
    synonym!("arcsinh(Tensor self) -> Tensor", ALL, "asinh", ONE),
    synonym!("arctanh(Tensor self) -> Tensor", ALL, "atanh", ONE),
    synonym!("divide.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", ALL, "div.Tensor", PAIR),
    synonym!(
        "divide.Tensor_mode(Tensor self, Tensor|Scalar other, *, str? rounding_mode) -> Tensor",
        ALL,
        "div.Tensor_mode",
        &["f32[5], 0.7, rounding_mode='floor'"]
    ),
    synonym!("true_divide.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", ALL, "div.Tensor", PAIR),
    synonym!("multiply.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", ALL, "mul.Tensor", PAIR),
    synonym!("subtract.Tensor(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor", ALL, "sub.Tensor", PAIR),
    constant(synonym!("greater.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", ALL, "gt.Tensor", PAIR)),
    constant(synonym!("greater_equal.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", ALL, "ge.Tensor", PAIR)),
    constant(synonym!("less.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", ALL, "lt.Tensor", PAIR)),
    constant(synonym!("less_equal.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", ALL, "le.Tensor", PAIR)),
    constant(synonym!("not_equal.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", ALL, "ne.Tensor", PAIR)),
    synonym!("ger(Tensor self, Tensor vec2) -> Tensor", BOTH, "outer", &["f32[2], f32[3]"]),
    synonym!(
        "moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
        BOTH,
        "movedim.intlist",
        &["f32[2,3,4], [0], [2]"]
    ),
    synonym!("moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)", BOTH, "movedim.int", &["f32[2,3,4], 0, -1"]),
    synonym!("row_stack(Tensor[] tensors) -> Tensor", Forms::FUNCTION, "vstack", &["[f32[3], f32[2,3]]"]),
    synonym!("pinverse(Tensor self, float rcond=1e-15) -> Tensor", BOTH, "_pinverse", &["f32[3,2]"]),
    synonym!("special_expit(Tensor self) -> Tensor", SPECIAL, "sigmoid", ONE),
    synonym!("special_erf(Tensor self) -> Tensor", SPECIAL, "erf", ONE),
    synonym!("special_erfc(Tensor self) -> Tensor", SPECIAL, "erfc", ONE),
    synonym!("special_erfinv(Tensor self) -> Tensor", SPECIAL, "erfinv", ONE),
    synonym!("special_exp2(Tensor self) -> Tensor", SPECIAL, "exp2", ONE),
    synonym!("special_expm1(Tensor self) -> Tensor", SPECIAL, "expm1", ONE),
    synonym!("special_log1p(Tensor self) -> Tensor", SPECIAL, "log1p", POSITIVE),
    synonym!("special_gammaln(Tensor self) -> Tensor", SPECIAL, "lgamma", POSITIVE),
    synonym!("special_digamma(Tensor self) -> Tensor", SPECIAL, "digamma", POSITIVE),
    synonym!("special_psi(Tensor self) -> Tensor", SPECIAL, "digamma", POSITIVE),
    synonym!("special_logit(Tensor self, float? eps=None) -> Tensor", SPECIAL, "logit", &["f32[4]+, 0.1"]),
    synonym!("special_sinc(Tensor self) -> Tensor", SPECIAL, "sinc", ONE),
    synonym!("special_round(Tensor self, *, int decimals=0) -> Tensor", SPECIAL, "round", &["f32[5], decimals=1"]),
    synonym!("special_xlogy.other(Tensor self, Tensor|Scalar other) -> Tensor", SPECIAL, "xlogy.Tensor", &["f32[4], f32[4]+"]),
    synonym!("special_i0(Tensor self) -> Tensor", SPECIAL, "i0", ONE),
    synonym!("special_modified_bessel_i0(Tensor self) -> Tensor", SPECIAL, "i0", ONE),
    synonym!("special_modified_bessel_i1(Tensor self) -> Tensor", SPECIAL, "special_i1", ONE),
    synonym!("special_gammainc(Tensor self, Tensor other) -> Tensor", SPECIAL, "igamma", &["f32[4]+, f32[4]+"]),
    synonym!("special_gammaincc(Tensor self, Tensor other) -> Tensor", SPECIAL, "igammac", &["f32[4]+, f32[4]+"]),
    synonym!("special_multigammaln(Tensor self, int p) -> Tensor", SPECIAL, "mvlgamma", &["f64[4]+, 1"]),
    synonym!("special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", SPECIAL, "logsumexp", &["f32[2,3], [1]"]),
    samples(
        exact("special_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", SPECIAL, |e, a| call(e, "softmax.int", a)),
        &["f32[2,3], 1"],
    ),
    samples(
        exact("special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", SPECIAL, |e, a| {
            call(e, "log_softmax.int", a)
        }),
        &["f32[2,3], 1"],
    ),
    samples(exact("special_polygamma(int n, Tensor self) -> Tensor", SPECIAL, |e, a| call(e, "polygamma", a)), &["2, f64[4]+"]),
    samples(
        exact("dstack(Tensor[] tensors) -> Tensor", Forms::FUNCTION, |e, a| {
            let parts = call(e, "atleast_3d.Sequence", &a[..1])?;
            call(e, "cat", &[taipan_ir::Arg::Tensors(parts.to_vec()), i(2)])
        }),
        &["[f32[3], f32[3]]", "[f32[2,3], f32[2,3]]"],
    ),
    samples(
        exact("column_stack(Tensor[] tensors) -> Tensor", Forms::FUNCTION, |e, a| {
            let mut parts = vec![];
            for part in args::tensors(a, 0)? {
                parts.push(match e.facts(*part).rank() {
                    0 => one(e, "reshape", &[t(*part), super::call::ints([1, 1])])?,
                    1 => one(e, "unsqueeze", &[t(*part), i(1)])?,
                    _ => *part,
                });
            }
            call(e, "cat", &[taipan_ir::Arg::Tensors(parts), i(1)])
        }),
        &["[f32[3], f32[3]]", "[f32[3], f32[3,2]]"],
    ),
    samples(
        refusing(
            exact("dsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]", BOTH, |e, a| {
                call(e, "tensor_split.sections", &[a[0].clone(), a[1].clone(), i(2)])
            }),
            shapes::dsplit,
        ),
        &["f32[2,3,4], 2"],
    ),
    samples(
        refusing(
            exact("dsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]", BOTH, |e, a| {
                call(e, "tensor_split.indices", &[a[0].clone(), a[1].clone(), i(2)])
            }),
            shapes::dsplit,
        ),
        &["f32[2,3,4], [1,3]"],
    ),
    samples(
        refusing(
            exact("hsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]", BOTH, |e, a| {
                let d = i64::from(e.facts(*args::tensor(a, 0)?).rank() > 1);
                call(e, "tensor_split.indices", &[a[0].clone(), a[1].clone(), i(d)])
            }),
            shapes::hsplit,
        ),
        &["f32[2,4], [1,3]"],
    ),
    samples(
        refusing(
            exact("vsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]", BOTH, |e, a| {
                call(e, "tensor_split.indices", &[a[0].clone(), a[1].clone(), i(0)])
            }),
            shapes::vsplit,
        ),
        &["f32[4,2], [1,3]"],
    ),
    samples(
        exact("atleast_1d(Tensor(a) self) -> Tensor(a)", Forms::FUNCTION, |e, a| Ok(smallvec![at_least(e, *args::tensor(a, 0)?, 1)?])),
        &["f32[]", "f32[2]"],
    ),
    samples(
        exact("atleast_2d(Tensor(a) self) -> Tensor(a)", Forms::FUNCTION, |e, a| Ok(smallvec![at_least(e, *args::tensor(a, 0)?, 2)?])),
        &["f32[]", "f32[2]", "f32[2,3]"],
    ),
    samples(
        exact("atleast_3d(Tensor(a) self) -> Tensor(a)", Forms::FUNCTION, |e, a| Ok(smallvec![at_least(e, *args::tensor(a, 0)?, 3)?])),
        &["f32[]", "f32[2]", "f32[2,3]", "f32[2,3,4]"],
    ),
    exact("atleast_1d.Sequence(Tensor(a)[] tensors) -> Tensor(a)[]", Forms::FUNCTION, |e, a| {
        args::tensors(a, 0)?.iter().map(|v| at_least(e, *v, 1)).collect()
    }),
    exact("atleast_2d.Sequence(Tensor(a)[] tensors) -> Tensor(a)[]", Forms::FUNCTION, |e, a| {
        args::tensors(a, 0)?.iter().map(|v| at_least(e, *v, 2)).collect()
    }),
    exact("atleast_3d.Sequence(Tensor(a)[] tensors) -> Tensor(a)[]", Forms::FUNCTION, |e, a| {
        args::tensors(a, 0)?.iter().map(|v| at_least(e, *v, 3)).collect()
    }),
    samples(
        exact("broadcast_tensors(Tensor(a)[] tensors) -> Tensor(a)[]", Forms::FUNCTION, |e, a| {
            let values = args::tensors(a, 0)?;
            let mut shape = taipan_ir::Shape::new();
            for value in values {
                let own = e.facts(*value).dims.clone();
                shape = super::rules::broadcast_pair(e.dims(), &shape, &own)?;
            }
            values.iter().map(|v| one(e, "expand", &[t(*v), taipan_ir::Arg::Ints(shape.clone())])).collect()
        }),
        &["[f32[2,1], f32[3]]"],
    ),
];

/// The value with dims of size 1 added, as NumPy's functions of these names add them.
fn at_least(e: &mut dyn taipan_ir::Emitter, value: taipan_ir::Val, wanted: usize) -> Result<taipan_ir::Val, taipan_ir::OpError> {
    let rank = e.facts(value).rank();
    let places: &[i64] = match (wanted, rank) {
        (1, 0) => &[0],
        (2, 0) => &[0, 0],
        (2, 1) => &[0],
        (3, 0) => &[0, 0, 0],
        (3, 1) => &[0, 2],
        (3, 2) => &[2],
        _ => &[],
    };
    places.iter().try_fold(value, |v, d| one(e, "unsqueeze", &[t(v), i(*d)]))
}
