//! Sampling images at places that a grid gives, and the grids of affine maps.

use super::{
    args,
    call::{self, call, cast, dims, f, i, n, one, t},
    define::{close, composite, no_complex, refusing, samples},
    refusal::shapes,
    rules,
};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, DimOp, Emitter, Facts, Op, OpError, Rel, Val,
    op::{Forms, Vals},
};

/// The op tables of this file.
pub static OPS: &[Op] = &[
    no_complex(
        close(samples(
            composite(
                "grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor",
                Forms::FUNCTION,
                |e, a| grid_sampler(e, a, args::int(a, 2)?, args::int(a, 3)?, args::flag(a, 4)),
            ),
            &[
                "f32[1,2,3,4], f32[1,2,2,2], 0, 0, False",
                "f32[1,2,3,4], f32[1,2,2,2], 0, 1, True",
                "f32[1,2,3,4], f32[1,2,2,2], 0, 2, False",
                "f32[1,2,3,4], f32[1,2,2,2], 1, 0, False",
                "f32[2,1,4,4], f32[2,2,3,2], 2, 0, False",
                "f32[2,1,4,4], f32[2,2,3,2], 2, 2, True",
                "f32[1,1,2,3,3], f32[1,2,1,2,3], 0, 0, False",
            ],
        )),
        "\"grid_sampler_2d_cpu_kernel_impl\" not implemented for '{}'",
    ),
    close(samples(
        refusing(
            composite(
                "grid_sample(Tensor input, Tensor grid, str mode='bilinear', str padding_mode='zeros', bool? align_corners=None) -> Tensor",
                Forms::NN,
                |e, a| {
                    let mode = match args::text(a, 2) {
                        "bilinear" => 0,
                        "nearest" => 1,
                        "bicubic" => 2,
                        other => {
                            return Err(OpError::value(format!(
                                "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{other}'"
                            )));
                        }
                    };
                    let padding = match args::text(a, 3) {
                        "zeros" => 0,
                        "border" => 1,
                        "reflection" => 2,
                        other => {
                            return Err(OpError::value(format!(
                                "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{other}'"
                            )));
                        }
                    };
                    grid_sampler(e, a, mode, padding, args::flag(a, 4))
                },
            ),
            shapes::grid_sample,
        ),
        &["f32[1,2,3,4], f32[1,2,2,2]", "f32[1,2,3,4], f32[1,2,2,2], 'nearest', 'border'", "f32[1,2,3,4], f32[1,2,2,2], 'x'"],
    )),
    close(samples(
        composite("affine_grid_generator(Tensor theta, int[] size, bool align_corners) -> Tensor", Forms::FUNCTION, |e, a| {
            affine_grid(e, *args::tensor(a, 0)?, args::dims(a, 1)?, args::flag(a, 2))
        }),
        &["f32[2,2,3], [2,1,3,4], False", "f32[1,2,3], [1,1,2,2], True", "f32[1,3,4], [1,1,2,2,3], False"],
    )),
    close(samples(
        composite("affine_grid(Tensor theta, int[] size, bool? align_corners=None) -> Tensor", Forms::NN, |e, a| {
            affine_grid(e, *args::tensor(a, 0)?, args::dims(a, 1)?, args::flag(a, 2))
        }),
        &["f32[2,2,3], [2,1,3,4]"],
    )),
];

/// One place along each spatial dim, and whether it lies inside the image.
type Place = Vec<Val>;

/// How places outside of the image are read.
struct Outside {
    padding: i64,
    align: bool,
}

impl Outside {
    /// A position in the image for any position, `size` places long; only zeros need no moving.
    fn moved(&self, e: &mut dyn Emitter, at: Val, size: i64) -> Result<Val, OpError> {
        match self.padding {
            1 => one(e, "clamp", &[t(at), n(0), n(size - 1)]),
            2 => {
                let (low, high) = if self.align { (0.0, 2.0 * (size - 1) as f64) } else { (-1.0, 2.0 * size as f64 - 1.0) };
                if low == high {
                    return one(e, "zeros_like", &[t(at)]);
                }
                let (least, span) = (low / 2.0, (high - low) / 2.0);
                let away = call::sub(e, at, f(least))?;
                let away = call::unary(e, "abs", away)?;
                let extra = one(e, "fmod.Tensor", &[t(away), f(span)])?;
                let flips = call::div(e, away, f(span))?;
                let flips = call::unary(e, "floor", flips)?;
                let odd = one(e, "fmod.Tensor", &[t(flips), n(2)])?;
                let even = one(e, "eq.Tensor", &[t(odd), n(0)])?;
                let forward = call::add(e, extra, f(least))?;
                let back = one(e, "rsub.Tensor", &[t(extra), f(span + least)])?;
                let reflected = one(e, "where.self", &[t(even), t(forward), t(back)])?;
                one(e, "clamp", &[t(reflected), n(0), n(size - 1)])
            }
            _ => Ok(at),
        }
    }
}

/// The image with its places in one dim, and what reading it needs.
struct Image {
    flat: Val,
    sizes: Vec<i64>,
    channels: Dim,
    batch: Dim,
    /// The spatial sizes of the result.
    out: Vec<Dim>,
}

impl Image {
    /// The image at whole places, zero outside.
    fn read(&self, e: &mut dyn Emitter, place: &Place) -> Result<Val, OpError> {
        let mut index: Option<Val> = None;
        let mut inside: Option<Val> = None;
        for (at, size) in place.iter().zip(&self.sizes) {
            let (above, below) = (one(e, "ge.Tensor", &[t(*at), n(0)])?, one(e, "lt.Tensor", &[t(*at), n(*size)])?);
            let both = one(e, "logical_and", &[t(above), t(below)])?;
            inside = Some(match inside {
                Some(other) => one(e, "logical_and", &[t(other), t(both)])?,
                None => both,
            });
            let at = one(e, "clamp", &[t(*at), n(0), n(size - 1)])?;
            let at = cast(e, at, DType::I64)?;
            index = Some(match index {
                Some(other) => {
                    let row = call::mul(e, other, n(*size))?;
                    call::add(e, row, t(at))?
                }
                None => at,
            });
        }
        let (Some(index), Some(inside)) = (index, inside) else { return Ok(self.flat) };
        let row = one(e, "reshape", &[t(index), dims([self.batch, Dim::Is(1), Dim::Is(-1)])])?;
        let wide = one(e, "expand", &[t(row), dims([Dim::Is(-1), self.channels, Dim::Is(-1)])])?;
        let read = one(e, "gather", &[t(self.flat), i(2), t(wide)])?;
        let shape = [self.batch, self.channels].into_iter().chain(self.out.iter().copied());
        let read = one(e, "view", &[t(read), dims(shape)])?;
        let outside = one(e, "logical_not", &[t(inside)])?;
        let outside = one(e, "unsqueeze", &[t(outside), i(1)])?;
        one(e, "masked_fill.Scalar", &[t(read), t(outside), n(0)])
    }

    /// Adds `weight` times what is read at a place.
    fn add(&self, e: &mut dyn Emitter, total: Option<Val>, place: &Place, weight: Val) -> Result<Option<Val>, OpError> {
        let read = self.read(e, place)?;
        let weight = one(e, "unsqueeze", &[t(weight), i(1)])?;
        let term = call::mul(e, read, t(weight))?;
        Ok(Some(match total {
            Some(total) => call::add(e, total, t(term))?,
            None => term,
        }))
    }
}

fn check(e: &mut dyn Emitter, x: &Facts, grid: &Facts) -> Result<(), OpError> {
    let rank = x.rank();
    if !(4..=5).contains(&rank) || grid.rank() != rank {
        return Err(OpError::runtime(format!(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes {} and grid with sizes {}",
            rules::shown(&x.dims),
            rules::shown(&grid.dims)
        )));
    }
    if x.dims[0] != grid.dims[0] && !e.dims().decide(Rel::Eq, x.dims[0], grid.dims[0])? {
        return Err(OpError::runtime(format!(
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes {} and grid with sizes {}",
            rules::shown(&x.dims),
            rules::shown(&grid.dims)
        )));
    }
    if !e.dims().decide(Rel::Eq, grid.dims[rank - 1], Dim::Is(rank as i64 - 2))? {
        return Err(OpError::runtime(format!(
            "grid_sampler(): expected grid to have size {} in last dimension, but got grid with sizes {}",
            rank - 2,
            rules::shown(&grid.dims)
        )));
    }
    Ok(())
}

fn grid_sampler(e: &mut dyn Emitter, a: &[Arg<Val>], mode: i64, padding: i64, align: bool) -> Result<Vals, OpError> {
    let (x, grid) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let (x_facts, grid_facts) = (e.facts(x).clone(), e.facts(grid).clone());
    check(e, &x_facts, &grid_facts)?;
    let rank = x_facts.rank();
    if mode == 2 && rank == 5 {
        return Err(OpError::runtime("grid_sampler(): bicubic interpolation only supports 4D input"));
    }
    let outside = Outside { padding, align };
    let sizes: Vec<i64> = x_facts.dims[2..].iter().map(|d| e.dims().number(*d)).collect::<Result<_, _>>()?;
    let flat = one(e, "reshape", &[t(x), dims([x_facts.dims[0], x_facts.dims[1], Dim::Is(-1)])])?;
    let image = Image { flat, sizes, channels: x_facts.dims[1], batch: x_facts.dims[0], out: grid_facts.dims[1..rank - 1].to_vec() };
    // The grid counts dims from the last, in [-1, 1] from edge to edge.
    let mut at = vec![];
    for (k, size) in image.sizes.iter().enumerate() {
        let place = one(e, "select.int", &[t(grid), i(-1), i((image.sizes.len() - 1 - k) as i64)])?;
        let place = call::add(e, place, n(1))?;
        let place = if align {
            call::mul(e, place, f((size - 1) as f64 / 2.0))?
        } else {
            let scaled = call::mul(e, place, n(*size))?;
            let shifted = call::sub(e, scaled, n(1))?;
            call::div(e, shifted, n(2))?
        };
        at.push(if mode == 2 { place } else { outside.moved(e, place, *size)? });
    }
    let out = match mode {
        1 => {
            let place: Place = at.iter().map(|p| call::unary(e, "round", *p)).collect::<Result<_, _>>()?;
            Some(image.read(e, &place)?)
        }
        2 => cubic(e, &image, &at, &outside)?,
        _ => linear(e, &image, &at)?,
    };
    Ok(out.into_iter().collect())
}

/// The neighbours on both sides along every dim, weighted by how near they are.
fn linear(e: &mut dyn Emitter, image: &Image, at: &[Val]) -> Result<Option<Val>, OpError> {
    let mut sides = vec![];
    for place in at {
        let low = call::unary(e, "floor", *place)?;
        let high = call::add(e, low, n(1))?;
        let (near, far) = (call::sub(e, high, t(*place))?, call::sub(e, *place, t(low))?);
        sides.push([(low, near), (high, far)]);
    }
    let mut total = None;
    for corner in 0..1usize << at.len() {
        let mut place = Place::new();
        let mut weight: Option<Val> = None;
        for (k, side) in sides.iter().enumerate() {
            // The last dim changes fastest.
            let (p, w) = side[corner >> (at.len() - 1 - k) & 1];
            place.push(p);
            weight = Some(match weight {
                Some(other) => call::mul(e, other, t(w))?,
                None => w,
            });
        }
        if let Some(weight) = weight {
            total = image.add(e, total, &place, weight)?;
        }
    }
    Ok(total)
}

/// The weights of four neighbours by cubic convolution, for a place `t` behind the second.
fn cubic_weights(e: &mut dyn Emitter, part: Val) -> Result<[Val; 4], OpError> {
    const A: f64 = -0.75;
    // ((A d - 5A) d + 8A) d - 4A for the outer ones, ((A + 2) d - (A + 3)) d² + 1 for the inner ones, d being the distance.
    let outer = |e: &mut dyn Emitter, d: Val| {
        let first = call::mul(e, d, f(A))?;
        let first = call::sub(e, first, f(5.0 * A))?;
        let second = call::mul(e, first, t(d))?;
        let second = call::add(e, second, f(8.0 * A))?;
        let third = call::mul(e, second, t(d))?;
        call::sub(e, third, f(4.0 * A))
    };
    let inner = |e: &mut dyn Emitter, d: Val| {
        let first = call::mul(e, d, f(A + 2.0))?;
        let first = call::sub(e, first, f(A + 3.0))?;
        let second = call::mul(e, first, t(d))?;
        let second = call::mul(e, second, t(d))?;
        call::add(e, second, n(1))
    };
    let before = call::add(e, part, n(1))?;
    let rest = one(e, "rsub.Tensor", &[t(part), n(1)])?;
    let behind = call::add(e, rest, n(1))?;
    Ok([outer(e, before)?, inner(e, part)?, inner(e, rest)?, outer(e, behind)?])
}

fn cubic(e: &mut dyn Emitter, image: &Image, at: &[Val], outside: &Outside) -> Result<Option<Val>, OpError> {
    let mut sides = vec![];
    for (place, size) in at.iter().zip(&image.sizes) {
        let low = call::unary(e, "floor", *place)?;
        let part = call::sub(e, *place, t(low))?;
        let weights = cubic_weights(e, part)?;
        let mut side = vec![];
        for (k, weight) in weights.into_iter().enumerate() {
            let neighbour = call::add(e, low, n(k as i64 - 1))?;
            side.push((outside.moved(e, neighbour, *size)?, weight));
        }
        sides.push(side);
    }
    let mut total = None;
    for (row, row_weight) in &sides[0] {
        for (column, column_weight) in &sides[1] {
            let weight = call::mul(e, *row_weight, t(*column_weight))?;
            total = image.add(e, total, &vec![*row, *column], weight)?;
        }
    }
    Ok(total)
}

/// The places that an affine map sends the places of an image of this size to.
fn affine_grid(e: &mut dyn Emitter, theta: Val, size: &[Dim], align: bool) -> Result<Vals, OpError> {
    let facts = e.facts(theta).clone();
    if !facts.dtype.is_float() {
        return Err(OpError::value(format!("Expected theta to have floating point type, but got torch.{}", facts.dtype.torch_name())));
    }
    let spatial = size.len().saturating_sub(2);
    if !(2..=3).contains(&spatial) {
        return Err(OpError::not_implemented(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. ".to_owned()
                + &format!("Got size {}", rules::shown(size)),
        ));
    }
    let wanted = [Dim::Is(spatial as i64), Dim::Is(spatial as i64 + 1)];
    if facts.rank() != 3 || facts.dims[1..] != wanted {
        return Err(OpError::value(format!(
            "Expected a batch of {spatial}D affine matrices of shape Nx{}x{} for size torch.Size({}). Got torch.Size({}).",
            spatial,
            spatial + 1,
            rules::shown(size),
            rules::shown(&facts.dims)
        )));
    }
    let sizes: Vec<i64> = size[2..].iter().map(|d| e.dims().number(*d)).collect::<Result<_, _>>()?;
    let mut axes = vec![];
    for count in &sizes {
        let line = one(e, "linspace", &[n(-1), n(1), i(*count), Arg::DType(facts.dtype)])?;
        let line = match *count {
            1 => one(e, "zeros_like", &[t(line)])?,
            _ if align => line,
            n => call::mul(e, line, f((n - 1) as f64 / n as f64))?,
        };
        axes.push(line);
    }
    let grids = call(e, "meshgrid.indexing", &[Arg::Tensors(axes), Arg::Str("ij".into())])?;
    // Coordinates from the last dim to the first, then a one for the shift.
    let mut columns: Vec<Val> = grids.iter().rev().copied().collect();
    columns.push(one(e, "ones_like", &[t(grids[0])])?);
    let base = one(e, "stack", &[Arg::Tensors(columns), i(-1)])?;
    let places = sizes.iter().product::<i64>();
    let base = one(e, "reshape", &[t(base), call::ints([1, places, spatial as i64 + 1])])?;
    let turned = one(e, "transpose.int", &[t(theta), i(1), i(2)])?;
    let out = one(e, "matmul", &[t(base), t(turned)])?;
    let last = e.dims().calc(DimOp::Max, Dim::Is(spatial as i64), Dim::Is(1));
    let shape = std::iter::once(size[0]).chain(size[2..].iter().copied()).chain([last]);
    Ok(smallvec![one(e, "reshape", &[t(out), dims(shape)])?])
}
