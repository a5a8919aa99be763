//! Padding, resampling and rearranging of images.

use super::{
    antialias::MODES,
    args,
    call::{self, call, dims, f, i, one, t},
    copy::images_like,
    define::{close, complex_only, composite, gradient, kernel, moves, refusing, samples},
    gradient::window::{by_transpose, of_constant_pad, of_transpose},
    refusal::{numbers, shapes, windows},
    rules,
};
use crate::{
    Context, KernelFn, Tensor,
    element::Real,
    layout::{Sizes, numel},
    with_real, write,
};
use taipan_ir::{
    Arg, Dim, DimOp, Emitter, Facts, Number, Op, OpError, Rel, Val,
    op::{FactsList, Family, Forms, Kernel, RuleContext, Vals},
};

const NN: Forms = Forms::NN;

/// The op tables of this file.
pub static OPS: &[Op] = &[
    moves(samples(
        gradient(
            refusing(
                kernel(
                    "constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor",
                    Forms::FUNCTION,
                    Family::Copy,
                    pad_rule,
                    Kernel(&(constant_pad as KernelFn)),
                ),
                numbers::padding,
            ),
            "",
            of_constant_pad,
        ),
        &["f32[2,3], [1,2]", "f32[2,3], [1,0,0,2], 1.5", "f32[2,4], [-1,1]", "c64[2,3], [1,2]"],
    )),
    complex_only(
        gradient(
            kernel(
                "_index_pad(Tensor self, int[] pad, str mode) -> Tensor",
                Forms::INTERNAL,
                Family::Gather,
                pad_rule,
                Kernel(&(index_pad as KernelFn)),
            ),
            "",
            |b| by_transpose(b, "_index_pad_transpose"),
        ),
        Kernel(&(index_pad as KernelFn)),
    ),
    samples(
        refusing(
            composite("pad(Tensor input, int[] pad, str mode='constant', float? value=None) -> Tensor", NN, |e, a| {
                match args::text(a, 2) {
                    "constant" => call(e, "constant_pad_nd", &[a[0].clone(), a[1].clone(), f(args::float(a, 3, 0.0))]),
                    "reflect" | "replicate" | "circular" => call(e, "_index_pad", &[a[0].clone(), a[1].clone(), a[2].clone()]),
                    other => Err(OpError::not_implemented(format!("Unrecognised padding mode {other}"))),
                }
            }),
            windows::pad,
        ),
        &[
            "f32[1,2,4], [1,2]",
            "f32[1,2,4], [2,1], 'reflect'",
            "f32[1,2,4], [2,1], 'replicate'",
            "f32[1,2,4], [2,1], 'circular'",
            "f32[1,1,3,4], [1,1,2,2], 'reflect'",
        ],
    ),
    close(gradient(
        kernel(
            "_resample(Tensor self, int[] output_size, float[] scales, str mode, bool align_corners) -> Tensor",
            Forms::INTERNAL,
            Family::Gather,
            resample_rule,
            Kernel(&(resample as KernelFn)),
        ),
        "",
        |b| by_transpose(b, "_resample_transpose"),
    )),
    close(gradient(
        kernel(
            "_index_pad_transpose(Tensor grad, int[] input_size, int[] pad, str mode) -> Tensor",
            Forms::INTERNAL,
            Family::Scatter,
            image_rule,
            Kernel(&(index_pad_transpose as KernelFn)),
        ),
        "",
        |b| of_transpose(b, "_index_pad"),
    )),
    close(gradient(
        kernel(
            "_resample_transpose(Tensor grad, int[] input_size, int[] output_size, float[] scales, str mode, bool align_corners) -> Tensor",
            Forms::INTERNAL,
            Family::Scatter,
            image_rule,
            Kernel(&(resample_transpose as KernelFn)),
        ),
        "",
        |b| of_transpose(b, "_resample"),
    )),
    samples(
        composite(
            "interpolate(Tensor input, int[1]? size=None, float? scale_factor=None, str mode='nearest', bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
            NN,
            |e, a| interpolate(e, a, args::number(a, 2).map(|s| vec![s.as_f64()])),
        ),
        &[
            "f32[1,2,3,4], 5",
            "f32[1,2,3,4], scale_factor=2.0",
            "f32[1,2,3,4], [6,5], mode='bilinear'",
            "f32[1,2,3,4], [5,7], mode='bilinear', align_corners=True",
            "f32[1,2,5], 8, mode='linear'",
            "f32[1,2,5,7], [3,4], mode='bilinear', antialias=True",
            "f64[1,2,5,7], [3,9], mode='bicubic', align_corners=True, antialias=True",
            "f32[1,2,5,7], scale_factor=0.5, mode='bicubic', antialias=True",
            "f32[1,2,7,5], [2,3], mode='lanczos', antialias=True",
        ],
    ),
    composite(
        "interpolate.scales(Tensor input, int[1]? size=None, float[]? scale_factor=None, str mode='nearest', bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
        NN,
        |e, a| {
            let scales = match &a[2] {
                Arg::Floats(s) => Some(s.clone()),
                _ => None,
            };
            interpolate(e, a, scales)
        },
    ),
    samples(
        composite("pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", Forms::FUNCTION.or(NN), pixel_shuffle),
        &["f32[1,4,2,3], 2"],
    ),
    samples(
        composite("pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor", Forms::FUNCTION.or(NN), pixel_unshuffle),
        &["f32[1,2,4,6], 2"],
    ),
    samples(
        refusing(
            composite("channel_shuffle(Tensor self, int groups) -> Tensor", Forms::FUNCTION.or(NN), |e, a| {
                let x = *args::tensor(a, 0)?;
                let facts = e.facts(x).clone();
                let groups = args::dim(a, 1)?;
                let each = e.dims().calc(DimOp::FloorDiv, facts.dims[1], groups);
                let mut split = facts.dims.to_vec();
                split.splice(1..2, [groups, each]);
                let x = one(e, "reshape", &[t(x), dims(split)])?;
                let x = one(e, "transpose.int", &[t(x), i(1), i(2)])?;
                let out = one(e, "reshape", &[t(x), Arg::Ints(facts.dims.clone())])?;
                images_like(e, out, &facts).map(|images| Vals::from_elem(images, 1))
            }),
            shapes::channel_shuffle,
        ),
        &["f32[1,4,2,2], 2"],
    ),
];

fn pad_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    let pad = args::dims(a, 1)?;
    if pad.len() % 2 == 1 || pad.len() > 2 * x.rank() {
        return Err(OpError::runtime(format!(
            "Length of pad must be even and at most twice the number of dimensions of the input, got pad of length {} for an input of {} dimensions",
            pad.len(),
            x.rank()
        )));
    }
    let mode = args::text(a, 2);
    let mut sizes = x.dims.clone();
    for (k, sides) in pad.chunks(2).enumerate() {
        let d = x.rank() - 1 - k;
        if mode == "reflect" {
            for side in sides {
                if !cx.dims.decide(Rel::Lt, *side, x.dims[d])? {
                    return Err(OpError::runtime(format!(
                        "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding ({}, {}) at dimension {d} of input {}",
                        sides[0],
                        sides[1],
                        rules::shown(&x.dims)
                    )));
                }
            }
        }
        let total = cx.dims.calc(DimOp::Add, sides[0], sides[1]);
        sizes[d] = cx.dims.calc(DimOp::Add, x.dims[d], total);
        if cx.dims.decide(Rel::Lt, sizes[d], Dim::Is(0))? {
            return Err(OpError::runtime(format!(
                "The input size {}, plus negative padding {} and {} resulted in a negative output size, which is invalid. Check dimension {d} of your input.",
                x.dims[d], sides[0], sides[1]
            )));
        }
    }
    if mode == "circular" { rules::fresh(cx, x, x.dtype, sizes) } else { rules::image(cx, &[x], x.dtype, sizes) }
}

/// For each place along dim `d` of the result, the place of the input it shows.
fn sources(size: i64, before: i64, after: i64, mode: &str) -> Vec<Option<i64>> {
    (-before..size + after)
        .map(|p| match mode {
            _ if (0..size).contains(&p) => Some(p),
            "reflect" => Some(if p < 0 { -p } else { 2 * (size - 1) - p }),
            "replicate" => Some(p.clamp(0, size - 1)),
            "circular" => Some(p.rem_euclid(size)),
            _ => None,
        })
        .collect()
}

fn padded(a: &[Arg<Tensor>], mode: &str, value: Number) -> Result<Tensor, OpError> {
    let mut x = args::tensor(a, 0)?.contiguous()?;
    for (k, sides) in args::ints(a, 1)?.chunks(2).enumerate() {
        let d = x.rank() - 1 - k;
        if sides == [0, 0] {
            continue;
        }
        let places = sources(x.sizes()[d], sides[0], sides[1], mode);
        let inner = numel(&x.sizes()[d + 1..]);
        let mut sizes: Sizes = x.sizes().into();
        sizes[d] = places.len() as i64;
        x = crate::with_bits!(x.dtype(), T => {
            let elements = x.elements::<T>()?;
            let fill = Tensor::full(x.dtype(), &[], value).elements::<T>()?[0];
            Tensor::build(x.dtype(), &sizes, |out: &mut [T]| {
                let row = x.sizes()[d] as usize * inner;
                for (b, to) in out.chunks_mut((places.len() * inner).max(1)).enumerate() {
                    for (o, place) in to.chunks_mut(inner.max(1)).zip(&places) {
                        match place {
                            Some(p) => {
                                let start = b * row + *p as usize * inner;
                                o.copy_from_slice(&elements[start..start + inner]);
                            }
                            None => o.fill(fill),
                        }
                    }
                }
            })
        });
    }
    if x.same_view(args::tensor(a, 0)?) { x.copied() } else { Ok(x) }
}

fn constant_pad(_: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    Ok(vec![padded(a, "constant", args::number(a, 2).unwrap_or(Number::Int(0)))?])
}

fn index_pad(_: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    Ok(vec![padded(a, args::text(a, 2), Number::Int(0))?])
}

/// The facts of an image of the sizes that argument 1 says.
fn image_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let grad = *args::tensor(a, 0)?;
    rules::image(cx, &[grad], grad.dtype, args::dims(a, 1)?.into())
}

/// Adds each element up at the place that it shows.
fn index_pad_transpose(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (grad, image, mode) = (args::tensor(a, 0)?, args::ints(a, 1)?, args::text(a, 3));
    let mut wide = write::widened(cx, grad)?;
    for (k, sides) in args::ints(a, 2)?.chunks(2).enumerate() {
        let d = image.len() - 1 - k;
        let places = sources(image[d], sides[0], sides[1], mode);
        let shown: Vec<_> = places.iter().flatten().map(|p| (*p as usize, *p as usize, 0.0)).collect();
        wide = added_up(&wide, d, image[d], &shown)?;
    }
    Ok(vec![write::cast(cx, &wide, grad.dtype())?])
}

fn interpolate(e: &mut dyn Emitter, a: &[Arg<Val>], scales: Option<Vec<f64>>) -> Result<Vals, OpError> {
    let x = *args::tensor(a, 0)?;
    let facts = e.facts(x).clone();
    let mode = args::text(a, 3).to_owned();
    if facts.rank() < 3 {
        return Err(OpError::not_implemented(format!(
            "Input Error: Only 3D, 4D and 5D input Tensors supported (got {}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got {mode})",
            facts.rank()
        )));
    }
    let spatial = facts.rank() - 2;
    let antialias = args::flag(a, 6);
    let linear = match (mode.as_str(), spatial) {
        ("nearest" | "nearest-exact" | "area", _) => false,
        ("linear", 1) | ("bilinear", 2) | ("trilinear", 3) => true,
        ("bicubic", 2) if antialias => true,
        ("lanczos", 2) if a[4].is_absent() || !args::flag(a, 4) => true,
        ("lanczos", 2) => return Err(OpError::value("Lanczos mode does not support align_corners=True")),
        ("bicubic", _) => return Err(OpError::not_implemented("interpolate(mode='bicubic')")),
        _ => {
            return Err(OpError::not_implemented(format!(
                "Got {}D input, but {mode} mode needs another number of dimensions",
                facts.rank()
            )));
        }
    };
    if !linear && !a[4].is_absent() {
        return Err(OpError::value(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear",
        ));
    }
    let (sizes, scales): (Vec<Dim>, Vec<f64>) = match (&a[1], scales) {
        (Arg::Ints(_), Some(_)) => return Err(OpError::value("only one of size or scale_factor should be defined")),
        (Arg::Ints(asked), None) => {
            let sizes = if asked.len() == 1 { vec![asked[0]; spatial] } else { asked.to_vec() };
            if sizes.len() != spatial {
                return Err(OpError::value(format!(
                    "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of {} and output size of {}",
                    rules::shown(&facts.dims[2..]),
                    rules::shown(&sizes)
                )));
            }
            (sizes, vec![0.0; spatial])
        }
        (_, Some(scales)) => {
            let scales = if scales.len() == 1 { vec![scales[0]; spatial] } else { scales };
            let mut sizes = vec![];
            for (d, s) in facts.dims[2..].iter().zip(&scales) {
                sizes.push(Dim::Is((e.dims().number(*d)? as f64 * s).floor() as i64));
            }
            let used = if matches!(a[5], Arg::Bool(true)) { vec![0.0; spatial] } else { scales };
            (sizes, used)
        }
        _ => return Err(OpError::value("either size or scale_factor should be defined")),
    };
    if antialias && !(spatial == 2 && MODES.contains(&mode.as_str())) {
        return Err(OpError::value(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input",
        ));
    }
    if mode == "lanczos" && !antialias {
        return Err(OpError::value("Lanczos mode requires antialias=True"));
    }
    if mode == "area" {
        return call(e, &format!("adaptive_avg_pool{spatial}d.nn"), &[t(x), dims(sizes)]);
    }
    let name = if antialias { "_resample_antialias" } else { "_resample" };
    call(e, name, &[t(x), dims(sizes), Arg::Floats(scales), Arg::Str(mode.into()), Arg::Bool(args::flag(a, 4))])
}

/// The facts of an image of the spatial sizes that argument 1 says.
pub fn resample_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    let mut sizes = x.dims.clone();
    for (k, asked) in args::dims(a, 1)?.iter().enumerate() {
        sizes[k + 2] = *asked;
        if !cx.dims.decide(Rel::Lt, Dim::Is(0), *asked)? {
            return Err(OpError::runtime(format!(
                "Input and output sizes should be greater than 0, but got input {} output {}",
                rules::shown(&x.dims),
                rules::shown(&sizes)
            )));
        }
    }
    rules::image(cx, &[x], x.dtype, sizes)
}

/// Two places of the input along one dim, and the weight of the second.
type Weight = (usize, usize, f32);

/// What each place of the result along one dim is made of.
fn weights(size: usize, count: usize, scale: f64, mode: &str, align: bool) -> Vec<Weight> {
    let ratio = match (align, scale > 0.0) {
        (true, _) => {
            if count > 1 {
                (size - 1) as f32 / (count - 1) as f32
            } else {
                0.0
            }
        }
        (false, true) => (1.0 / scale) as f32,
        (false, false) => size as f32 / count as f32,
    };
    let last = size - 1;
    (0..count)
        .map(|k| match mode {
            "nearest" => {
                let p = ((k as f32 * ratio).floor() as usize).min(last);
                (p, p, 0.0)
            }
            "nearest-exact" => {
                let p = (((k as f32 + 0.5) * ratio).floor() as usize).min(last);
                (p, p, 0.0)
            }
            _ => {
                let at = if align { k as f32 * ratio } else { ((k as f32 + 0.5) * ratio - 0.5).max(0.0) };
                let p = (at as usize).min(last);
                (p, (p + 1).min(last), (at - p as f32).clamp(0.0, 1.0))
            }
        })
        .collect()
}

/// Resamples along one dim.
fn along<T: Real>(x: &[T], sizes: &[i64], d: usize, weights: &[Weight], out: &mut [T]) {
    let inner = numel(&sizes[d + 1..]);
    let row = sizes[d] as usize * inner;
    for (b, to) in out.chunks_mut((weights.len() * inner).max(1)).enumerate() {
        for (o, (p, q, w)) in to.chunks_mut(inner.max(1)).zip(weights) {
            let (first, second) = (&x[b * row + p * inner..][..inner], &x[b * row + q * inner..][..inner]);
            if p == q && *w == 0.0 {
                o.copy_from_slice(first);
                continue;
            }
            let w = T::from_f64(f64::from(*w));
            o.iter_mut().zip(first.iter().zip(second)).for_each(|(o, (a, c))| *o = *a * (T::one() - w) + *c * w);
        }
    }
}

/// The weights along each spatial dim, for the arguments that begin with number `first`: sizes, scales, mode, alignment.
fn all_weights(a: &[Arg<Tensor>], first: usize, image: &[i64]) -> Result<Vec<Vec<Weight>>, OpError> {
    let Arg::Floats(scales) = &a[first + 1] else { return Err(OpError::type_error("scales must be tuple of floats")) };
    let (mode, align) = (args::text(a, first + 2), args::flag(a, first + 3));
    let counts = args::ints(a, first)?;
    let along = |(k, count): (usize, &i64)| match image[k + 2] {
        0 => Err(OpError::runtime("Input and output sizes should be greater than 0")),
        size => Ok(weights(size as usize, *count as usize, scales[k], mode, align)),
    };
    counts.iter().enumerate().map(along).collect()
}

fn resample(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let mut wide = write::widened(cx, x)?;
    // The innermost dim first, as the fewest elements are touched then.
    for (k, weights) in all_weights(a, 1, x.sizes())?.iter().enumerate().rev() {
        let d = k + 2;
        let mut sizes: Sizes = wide.sizes().into();
        sizes[d] = weights.len() as i64;
        wide = with_real!(wide.dtype(), T => {
            let elements = wide.elements::<T>()?;
            Tensor::build(wide.dtype(), &sizes, |out: &mut [T]| along(&elements, wide.sizes(), d, weights, out))
        });
    }
    Ok(vec![write::cast(cx, &wide, x.dtype())?])
}

fn resample_transpose(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (grad, image) = (args::tensor(a, 0)?, args::ints(a, 1)?);
    let mut wide = write::widened(cx, grad)?;
    for (k, weights) in all_weights(a, 2, &image)?.iter().enumerate() {
        wide = added_up(&wide, k + 2, image[k + 2], weights)?;
    }
    Ok(vec![write::cast(cx, &wide, grad.dtype())?])
}

/// The transpose of [`along`]: a tensor of size `count` along dim `d`, in which the elements of `x` are added up by weight.
fn added_up(x: &Tensor, d: usize, count: i64, weights: &[Weight]) -> Result<Tensor, OpError> {
    let mut sizes: Sizes = x.sizes().into();
    sizes[d] = count;
    let inner = numel(&sizes[d + 1..]);
    let row = count as usize * inner;
    Ok(with_real!(x.dtype(), T => {
        let elements = x.elements::<T>()?;
        Tensor::build(x.dtype(), &sizes, |out: &mut [T]| {
            for (to, from) in out.chunks_mut(row.max(1)).zip(elements.chunks((weights.len() * inner).max(1))) {
                for (values, (p, q, w)) in from.chunks(inner.max(1)).zip(weights) {
                    let w = T::from(*w);
                    for (place, share) in [(p, 1.0 - w), (q, w)] {
                        if share != 0.0 {
                            to[place * inner..][..inner].iter_mut().zip(values).for_each(|(o, v)| *o += *v * share);
                        }
                    }
                }
            }
        })
    }))
}

fn pixel_shuffle(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let x = *args::tensor(a, 0)?;
    let facts = e.facts(x).clone();
    let r = args::int(a, 1)?;
    let rank = facts.rank();
    if rank < 3 {
        return Err(OpError::runtime(format!(
            "pixel_shuffle expects input to have at least 3 dimensions, but got input with {rank} dimension(s)"
        )));
    }
    let (lead, [c, h, w]) = (&facts.dims[..rank - 3], [facts.dims[rank - 3], facts.dims[rank - 2], facts.dims[rank - 1]]);
    if r <= 0 || !e.dims().decide(Rel::Divides, Dim::Is(r * r), c)? {
        return Err(OpError::runtime(format!(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but input.size(-3)={c} is not divisible by {}",
            r * r
        )));
    }
    let out = e.dims().calc(DimOp::FloorDiv, c, Dim::Is(r * r));
    let split = lead.iter().copied().chain([out, Dim::Is(r), Dim::Is(r), h, w]);
    let x = one(e, "reshape", &[t(x), dims(split)])?;
    let k = lead.len() as i64;
    let x = one(e, "permute", &[t(x), call::ints((0..k).chain([k, k + 3, k + 1, k + 4, k + 2]))])?;
    let (h, w) = (e.dims().calc(DimOp::Mul, h, Dim::Is(r)), e.dims().calc(DimOp::Mul, w, Dim::Is(r)));
    let out = one(e, "reshape", &[t(x), dims(lead.iter().copied().chain([out, h, w]))])?;
    images_like(e, out, &facts).map(|images| Vals::from_elem(images, 1))
}

fn pixel_unshuffle(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let x = *args::tensor(a, 0)?;
    let facts = e.facts(x).clone();
    let r = args::int(a, 1)?;
    let rank = facts.rank();
    if rank < 3 || r <= 0 {
        return Err(OpError::runtime(format!(
            "pixel_unshuffle expects input to have at least 3 dimensions, but got input with {rank} dimension(s)"
        )));
    }
    let (lead, [c, h, w]) = (&facts.dims[..rank - 3], [facts.dims[rank - 3], facts.dims[rank - 2], facts.dims[rank - 1]]);
    let (h, w) = (e.dims().calc(DimOp::FloorDiv, h, Dim::Is(r)), e.dims().calc(DimOp::FloorDiv, w, Dim::Is(r)));
    let split = lead.iter().copied().chain([c, h, Dim::Is(r), w, Dim::Is(r)]);
    let x = one(e, "reshape", &[t(x), dims(split)])?;
    let k = lead.len() as i64;
    let x = one(e, "permute", &[t(x), call::ints((0..k).chain([k, k + 2, k + 4, k + 1, k + 3]))])?;
    let c = e.dims().calc(DimOp::Mul, c, Dim::Is(r * r));
    let out = one(e, "reshape", &[t(x), dims(lead.iter().copied().chain([c, h, w]))])?;
    images_like(e, out, &facts).map(|images| Vals::from_elem(images, 1))
}
