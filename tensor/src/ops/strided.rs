//! Parts of a tensor by where they lie in memory: what gradients of views, and of writes into views, are made of.
//!
//! `self` has the sizes of some base tensor, and is looked at as if it lay in memory as that base does, by `base_stride`.

use super::{
    args,
    define::{gradient, kernel, moves, samples},
    gradient::Maths,
};
use crate::{Context, KernelFn, Tensor, element::Additive, layout, with_plain, write};
use smallvec::smallvec;
use taipan_ir::{
    Arg, Dim, Facts, Op, OpError,
    facts::row_major,
    op::{FactsList, Family, Forms, Kernel, RuleContext},
};

/// The op tables of this file.
pub static OPS: &[Op] = &[
    moves(samples(
        gradient(
            kernel(
                "_strided_part(Tensor self, int[] size, int[] stride, int storage_offset, int[] base_stride) -> Tensor",
                Forms::INTERNAL,
                Family::Gather,
                part_rule,
                Kernel(&(part as KernelFn)),
            ),
            "",
            |b| {
                let like = b.facts(0)?;
                let grad = b.grad()?;
                let zeros = b.zeros(&like)?;
                let a = b.args();
                let put = [Arg::Tensor(zeros), Arg::Tensor(grad), a[1].clone(), a[2].clone(), a[3].clone(), a[4].clone()];
                let grad = b.op("_strided_put", &put)?;
                b.give(0, grad);
                Ok(())
            },
        ),
        &["f32[3,4], [2,2], [4,1], 1, [4,1]"],
    )),
    moves(samples(
        gradient(
            kernel(
                "_strided_put(Tensor self, Tensor part, int[] size, int[] stride, int storage_offset, int[] base_stride) -> Tensor",
                Forms::INTERNAL,
                Family::Scatter,
                put_rule,
                Kernel(&(put as KernelFn)),
            ),
            "",
            |b| {
                let (grad, a) = (b.grad()?, b.args());
                if b.needs(0) {
                    let part = b.facts(1)?;
                    let zeros = b.zeros(&part)?;
                    let put = [Arg::Tensor(grad), Arg::Tensor(zeros), a[2].clone(), a[3].clone(), a[4].clone(), a[5].clone()];
                    let without = b.op("_strided_put", &put)?;
                    b.give(0, without);
                }
                if b.needs(1) {
                    let part = b.op("_strided_part", &[Arg::Tensor(grad), a[2].clone(), a[3].clone(), a[4].clone(), a[5].clone()])?;
                    b.give(1, part);
                }
                Ok(())
            },
        ),
        &["f32[3,4], f32[2,2], [2,2], [4,1], 1, [4,1]", "f32[4], f32[2,2], [2,2], [1,1], 1, [1]"],
    )),
];

fn part_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let like = args::tensor(a, 0)?;
    let dims: taipan_ir::Shape = args::dims(a, 1)?.into();
    let strides = row_major(cx.dims, &dims)?;
    Ok(smallvec![Facts { dims, strides, offset: Dim::Is(0), ..(*like).clone() }])
}

fn put_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let like = args::tensor(a, 0)?;
    let strides = row_major(cx.dims, &like.dims)?;
    Ok(smallvec![Facts { strides, offset: Dim::Is(0), ..(*like).clone() }])
}

/// A copy of `x` that lies as the base does, and where the part lies in it.
fn laid_out(cx: &mut Context, x: &Tensor, a: &[Arg<Tensor>], first: usize) -> Result<(Tensor, Tensor), OpError> {
    let (sizes, strides, offset) = (args::ints(a, first)?, args::ints(a, first + 1)?, args::int(a, first + 2)?);
    let base = args::ints(a, first + 3)?;
    if base.len() != x.rank() || base.iter().any(|stride| *stride < 0) {
        return Err(OpError::runtime("base_stride must have one stride per dim"));
    }
    let reach = match x.numel() {
        0 => 0,
        _ => layout::extent(x.sizes(), &base).1 + 1,
    };
    let memory = Tensor::zeros(x.dtype(), &[reach]);
    let whole = memory.with_layout(x.dtype(), x.sizes(), &base, 0);
    write::fill_new(cx, &whole, x)?;
    let part = memory.with_layout(x.dtype(), &sizes, &strides, offset);
    Ok((whole, part))
}

fn part(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (_, part) = laid_out(cx, args::tensor(a, 0)?, a, 1)?;
    Ok(vec![part.copied()?])
}

/// Elements that the part reaches more than once get the sum.
fn put(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let value = write::cast(cx, args::tensor(a, 1)?, x.dtype())?;
    let (whole, part) = laid_out(cx, x, a, 2)?;
    let value = value.broadcast_to(part.sizes());
    if !layout::may_overlap_itself(part.sizes(), part.strides()) {
        write::fill_new(cx, &part, &value)?;
        return Ok(vec![whole.contiguous()?]);
    }
    write::fill_new(cx, &part, &Tensor::zeros(x.dtype(), &[]).broadcast_to(part.sizes()))?;
    let (wide, value) = match x.dtype().is_complex() {
        true => (whole.clone(), value),
        false => (write::comparable(cx, &whole)?, write::comparable(cx, &value)?),
    };
    let wide = wide.copied()?;
    // The sums are made where the elements lie in the base.
    let reach = layout::extent(x.sizes(), whole.strides()).1 + 1;
    let memory = Tensor::zeros(wide.dtype(), &[reach]);
    write::fill_new(cx, &memory.with_layout(wide.dtype(), x.sizes(), whole.strides(), 0), &wide)?;
    with_plain!(wide.dtype(), T => {
        let values = value.elements::<T>()?;
        let (sizes, strides, offset) = (part.sizes(), part.strides(), part.offset());
        write::change_new(&memory, |elements: &mut [T]| {
            let mut at = 0;
            layout::for_each_row(sizes, [strides], [offset], |[start], [step], length| {
                for i in 0..length as i64 {
                    let element = &mut elements[(start + i * step) as usize];
                    *element = Additive::plus(*element, values[at]);
                    at += 1;
                }
            });
        })?;
    });
    let sums = memory.with_layout(wide.dtype(), x.sizes(), whole.strides(), 0);
    Ok(vec![write::cast(cx, &sums, x.dtype())?.contiguous()?])
}
