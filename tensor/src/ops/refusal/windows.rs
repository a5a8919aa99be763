//! Convolutions, pools, padding and columns: lists of the wrong length, sizes that leave no window, parameters that don't fit.

use super::{Checked, dtypes, dtypes::scalar_type_name, same};
use crate::ops::{args, rules};
use taipan_ir::{Arg, DType, Dim, DimOp, Facts, OpError, Rel, op::RuleContext};

fn refused(text: impl Into<String>) -> Checked {
    Err(OpError::runtime(text))
}

/// A list of ints; empty where the argument is none or absent.
fn list<'a>(a: &'a [Arg<&Facts>], i: usize) -> &'a [Dim] {
    args::optional_dims(a, i).unwrap_or(&[])
}

/// Whether any element is known to be less than `bound`.
fn below(values: &[Dim], bound: i64) -> bool {
    values.iter().any(|v| v.known().is_some_and(|v| v < bound))
}

/// The lists of a convolution have an element for each spatial dim. `LISTS` are their places; they are named stride, padding, dilation and
/// output padding, in that order.
fn check_lists(spatial: usize, a: &[Arg<&Facts>], lists: &[(usize, &str)]) -> Checked {
    for (i, name) in lists {
        let given = list(a, *i);
        if !given.is_empty() && given.len() != spatial {
            return refused(format!(
                "expected {name} to be a single integer value or a list of {spatial} values to match the convolution dimensions, but got {name}={}",
                rules::shown(given)
            ));
        }
    }
    Ok(())
}

/// `conv1d` to `conv3d`; the padding may be a word.
pub fn conv(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let w = args::tensor(a, 1)?;
    if w.rank() < 3 {
        return refused("weight should have at least three dimensions");
    }
    check_lists(w.rank() - 2, a, &[(3, "stride"), (4, "padding"), (5, "dilation")])
}

/// `conv_transpose1d` to `conv_transpose3d`.
pub fn conv_transposed(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let w = args::tensor(a, 1)?;
    if w.rank() < 3 {
        return refused("weight should have at least three dimensions");
    }
    check_lists(w.rank() - 2, a, &[(3, "stride"), (4, "padding"), (7, "dilation"), (5, "output_padding")])
}

/// What all convolutions come to: numbers, channels, the bias, element types.
pub fn convolution(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let (x, w) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let (stride, padding, dilation, extra) = (list(a, 3), list(a, 4), list(a, 5), list(a, 7));
    let (transposed, groups) = (args::flag(a, 6), args::int(a, 8)?);
    if groups <= 0 {
        return refused("non-positive groups is not supported");
    }
    if below(padding, 0) {
        return refused("negative padding is not supported");
    }
    if below(extra, 0) {
        return refused("negative output_padding is not supported");
    }
    if below(stride, 1) {
        return refused("non-positive stride is not supported");
    }
    if below(dilation, 1) {
        return refused("dilation should be greater than zero");
    }
    if w.rank() != x.rank() {
        return refused(format!(
            "Expected {}-dimensional input for {}-dimensional weight {}, but got {}-dimensional input of size {} instead",
            w.rank(),
            w.rank(),
            rules::shown(&w.dims),
            x.rank(),
            rules::shown(&x.dims)
        ));
    }
    if cx.dims.decide(Rel::Lt, w.dims[0], Dim::Is(groups))? {
        return refused(format!(
            "Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size {} instead",
            rules::shown(&w.dims)
        ));
    }
    if !cx.dims.decide(Rel::Divides, Dim::Is(groups), w.dims[0])? {
        return refused(format!(
            "Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size [{}] instead",
            rules::shown(&w.dims)
        ));
    }
    let outputs = if transposed { cx.dims.calc(DimOp::Mul, w.dims[1], Dim::Is(groups)) } else { w.dims[0] };
    let inputs = if transposed { w.dims[0] } else { cx.dims.calc(DimOp::Mul, w.dims[1], Dim::Is(groups)) };
    let kind = if transposed { "transposed=1".to_owned() } else { format!("groups={groups}") };
    if !same(cx, x.dims[1], inputs)? {
        return refused(format!(
            "Given {kind}, weight of size {}, expected input{} to have {inputs} channels, but got {} channels instead",
            rules::shown(&w.dims),
            rules::shown(&x.dims),
            x.dims[1]
        ));
    }
    let bias = args::optional_tensor(a, 2);
    if let Some(bias) = bias
        && !(bias.rank() == 1 && same(cx, bias.dims[0], outputs)?)
    {
        return refused(format!(
            "Given {}weight of size {}, expected bias to be 1-dimensional with {outputs} elements, but got bias of size {} instead",
            if transposed { "transposed=1, " } else { "" },
            rules::shown(&w.dims),
            rules::shown(&bias.dims)
        ));
    }
    if below(&w.dims[2..], 1) {
        let sides: Vec<String> =
            ["kernel_height", "kernel_width"].iter().zip(plane(&w.dims[2..])).map(|(n, s)| format!("{n}: {s}")).collect();
        return refused(format!("kernel size should be greater than zero, but got {}", sides.join(" ")));
    }
    if transposed && output_padding_too_large(stride, dilation, extra) {
        return refused(output_padding_text(stride, dilation, extra));
    }
    if x.dtype != w.dtype {
        return refused(match x.dtype.is_half() {
            true => {
                let own =
                    if x.dtype == DType::BF16 { "CPUBFloat16Type".to_owned() } else { format!("torch.{}Tensor", x.dtype.scalar_name()) };
                format!(
                    "Input type ({own}) and weight type (torch.{}Tensor) should be the same or input should be a MKLDNN tensor and weight is a dense tensor",
                    w.dtype.scalar_name()
                )
            }
            false => format!("expected scalar type {} but found {}", x.dtype.scalar_name(), w.dtype.scalar_name()),
        });
    }
    match bias {
        Some(bias) if bias.dtype != x.dtype => refused(format!(
            "Input type ({}) and bias type ({}) should be the same",
            scalar_type_name(x.dtype),
            scalar_type_name(bias.dtype)
        )),
        _ => Ok(()),
    }
}

/// The sizes of the last two dims, the first 1 where there is one only.
fn plane(sizes: &[Dim]) -> [Dim; 2] {
    match sizes {
        [.., h, w] => [*h, *w],
        [w] => [Dim::Is(1), *w],
        [] => [Dim::Is(1); 2],
    }
}

fn output_padding_too_large(stride: &[Dim], dilation: &[Dim], extra: &[Dim]) -> bool {
    let numbers = |values: &[Dim], d: usize| values.get(d).or(values.first()).and_then(|v| v.known()).unwrap_or(1);
    (0..extra.len()).any(|d| {
        let more = numbers(extra, d);
        more >= numbers(stride, d) && more >= numbers(dilation, d)
    })
}

fn output_padding_text(stride: &[Dim], dilation: &[Dim], extra: &[Dim]) -> String {
    let extra = if extra.len() == 1 { [Dim::Is(0), extra[0]] } else { plane(extra) };
    let pair = |name: &str, [h, w]: [Dim; 2]| format!("{name}_height: {h} {name}_width: {w}");
    format!(
        "output padding must be smaller than either stride or dilation, but got {} {} {}",
        pair("output_padding", extra),
        pair("stride", plane(stride)),
        pair("dilation", plane(dilation))
    )
}

/// `unfold` and `fold`: arguments from number `first` on are kernel size, dilation, padding and stride.
fn columns(a: &[Arg<&Facts>], first: usize) -> Checked {
    for (k, name) in ["kernel_size", "dilation", "padding", "stride"].iter().enumerate() {
        let given = list(a, first + k);
        if given.len() > 2 {
            return refused(format!("It is expected {name} equals to 2, but got size {}", given.len()));
        }
    }
    let positive = |k: usize, least: i64, text: &str, name: &str| {
        let given = list(a, first + k);
        if !below(given, least) {
            return Ok(());
        }
        let [h, w] = if given.len() == 1 { [given[0]; 2] } else { plane(given) };
        refused(format!("{text}, but got {name}_height: {h} {name}_width: {w}"))
    };
    positive(0, 1, "kernel size should be greater than zero", "kernel")?;
    positive(1, 1, "dilation should be greater than zero", "dilation")?;
    positive(2, 0, "padding should be non-negative", "pad")?;
    positive(3, 1, "stride should be greater than zero", "stride")
}

/// One number of a list that stands for all dims where it has one element.
fn of(values: &[Dim], d: usize) -> Dim {
    values.get(d).or(values.first()).copied().unwrap_or(Dim::Is(1))
}

/// Two numbers as `(h, w)`.
fn pair(values: &[Dim]) -> String {
    format!("({}, {})", of(values, 0), of(values, 1))
}

/// Along each dim of a plane, the number of windows.
fn windows(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>], first: usize, image: &[Dim]) -> Result<[Dim; 2], OpError> {
    let mut counts = [Dim::Is(0); 2];
    for (d, count) in counts.iter_mut().enumerate() {
        let number = |k: usize| of(list(a, first + k), d).known().ok_or(OpError::DataDependent);
        let size = crate::ops::columns::output_size(cx.dims, of(image, d), Dim::Is(number(0)?), number(3)?, number(2)?, number(1)?);
        *count = size;
    }
    Ok(counts)
}

/// `unfold`.
pub fn unfold(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    columns(a, 1)?;
    let x = *args::tensor(a, 0)?;
    let empty = x.rank() > 0 && below(&x.dims[x.rank().saturating_sub(3)..], 1);
    if !matches!(x.rank(), 3 | 4) || empty {
        return refused(format!(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: {}",
            rules::shown(&x.dims)
        ));
    }
    let image = &x.dims[x.rank() - 2..];
    let counts = windows(cx, a, 1, image)?;
    for count in counts {
        if cx.dims.decide(Rel::Lt, count, Dim::Is(1))? {
            return refused(format!(
                "Given input with spatial size {}, kernel_size={}, dilation={}, padding={}, calculated shape of the array of sliding blocks as {}, but its components must be at least one.",
                pair(image),
                pair(list(a, 1)),
                pair(list(a, 2)),
                pair(list(a, 3)),
                pair(&counts.map(|n| if n.known().is_some_and(|n| n < 0) { Dim::Is(0) } else { n }))
            ));
        }
    }
    // Bools are moved about, integers are not.
    if x.dtype == DType::Bool { Ok(()) } else { dtypes::floats(a, "im2col_out_cpu") }
}

/// `fold`.
pub fn fold(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let x = *args::tensor(a, 0)?;
    let output = list(a, 1);
    if output.len() > 2 {
        return refused(format!("It is expected output_size equals to 2, but got size {}", output.len()));
    }
    columns(a, 2)?;
    if !matches!(x.rank(), 2 | 3) {
        return refused(format!(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but got: {}",
            rules::shown(&x.dims)
        ));
    }
    let (rows, count) = (x.dims[x.rank() - 2], x.dims[x.rank() - 1]);
    let kernel = [of(list(a, 2), 0), of(list(a, 2), 1)];
    let each = cx.dims.calc(DimOp::Mul, kernel[0], kernel[1]);
    if !cx.dims.decide(Rel::Divides, each, rows)? {
        return refused(format!(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)={rows} and kernel_size=({}, {}).",
            kernel[0], kernel[1]
        ));
    }
    let [high, wide] = windows(cx, a, 2, output)?;
    let all = cx.dims.calc(DimOp::Mul, high, wide);
    if !same(cx, all, count)? {
        return refused(format!(
            "Given output_size={}, kernel_size={}, dilation={}, padding={}, stride={}, expected size of input's dimension 2 to match the calculated number of sliding blocks {high} * {wide} = {all}, but got input.size(2)={count}.",
            pair(output),
            pair(list(a, 2)),
            pair(list(a, 3)),
            pair(list(a, 4)),
            pair(list(a, 5))
        ));
    }
    dtypes::floats(a, "col2im_out_cpu")
}

/// How a pool of one to three dims names its numbers.
const WORDS: [&str; 4] = ["", "int", "two ints", "three ints"];

/// A list of `SPATIAL` ints or one, which may be absent where `optional`.
fn pool_list(name: &str, spatial: usize, given: &[Dim], what: &str, text: impl FnOnce() -> String) -> Checked {
    if given.len() <= 1 || given.len() == spatial {
        return Ok(());
    }
    refused(match spatial {
        1 if name == "max_pool1d" => {
            let or_none =
                if what == "stride" { "None, an int, list of ints, or tuple of ints" } else { "an int, list of ints or tuple of ints" };
            let or_none = if what == "padding" || what == "dilation" { "an int, list of ints, or tuple of ints" } else { or_none };
            format!("max_pool1d() {what} must be {or_none} of size 1 but got size {}", given.len())
        }
        1 => format!("{name}() argument '{what}' should contain one int (got {})", given.len()),
        _ => text(),
    })
}

/// `T: a H: b W: c` for as many dims as there are.
fn labelled(label: &str, spatial: usize, values: &[Dim]) -> String {
    let names = &["T", "H", "W"][3 - spatial.min(3)..];
    names.iter().enumerate().map(|(d, n)| format!("{label}{n}: {}", of(values, d))).collect::<Vec<_>>().join(" ")
}

fn pool(a: &[Arg<&Facts>], name: &str, spatial: usize, dilated: bool) -> Checked {
    let words = WORDS[spatial];
    let either = if name == "avg_pool3d" { "be" } else { "either be" };
    let plain = |what: &str| format!("{name}: {what} must {either} a single int, or a tuple of {words}");
    let (kernel, stride, padding) = (list(a, 1), list(a, 2), list(a, 3));
    pool_list(name, spatial, kernel, "kernel_size", || plain("kernel_size"))?;
    pool_list(name, spatial, stride, "stride", || format!("{name}: stride must {either} omitted, a single int, or a tuple of {words}"))?;
    pool_list(name, spatial, padding, "padding", || plain("padding"))?;
    let dilation = if dilated { list(a, 4) } else { &[] };
    pool_list(name, spatial, dilation, "dilation", || format!("{name}: dilation must be either a single int, or a tuple of {words}"))?;
    let x = args::tensor(a, 0)?;
    let inner = &x.dims[x.rank().saturating_sub(spatial + 1)..];
    if matches!(x.rank().checked_sub(spatial), Some(1 | 2)) && below(inner, 1) && spatial < 3 {
        let prefix = if name == "max_pool1d" { "max_pool1d: " } else { "" };
        return refused(format!(
            "{prefix}Expected {}D or {}D (batch mode) tensor with optional 0 dim batch size for input, but got:{}",
            spatial + 1,
            spatial + 2,
            rules::shown(&x.dims)
        ));
    }
    let number = |values: &[Dim]| of(values, 0);
    if name == "max_pool1d" {
        for (values, what, least, text) in [
            (kernel, "kernel_size", 1, "greater than zero"),
            (stride, "stride", 1, "greater than zero"),
            (padding, "padding", 0, "non-negative"),
            (dilation, "dilation", 1, "greater than zero"),
        ] {
            if below(values, least) {
                return refused(format!("max_pool1d() {what} must be {text}, but got {}", number(values)));
            }
        }
        return Ok(());
    }
    if list(a, 2).iter().chain(if stride.is_empty() { kernel } else { &[] }).any(|s| s.known() == Some(0)) {
        return refused("stride should not be zero");
    }
    if below(kernel, 1) {
        return refused(format!("kernel size should be greater than zero, but got {}", labelled("k", spatial.max(2), kernel)));
    }
    if below(stride, 1) {
        return refused(format!("stride should be greater than zero, but got {}", labelled("d", spatial.max(2), stride)));
    }
    if below(padding, 0) {
        return refused(format!("pad must be non-negative, but got pad: {}", number(padding)));
    }
    if below(dilation, 1) {
        return refused(format!("dilation should be greater than zero, but got {}", labelled("dilation", spatial, dilation)));
    }
    if !dilated && list(a, 6).is_empty() && args::optional_dim(a, 6).and_then(|d| d.known()) == Some(0) {
        return refused("divisor must be not zero");
    }
    Ok(())
}

/// `max_pool1d` to `max_pool3d`.
pub fn max_pool<const SPATIAL: usize>(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    pool(a, &format!("max_pool{SPATIAL}d"), SPATIAL, true)?;
    let kernel = if SPATIAL == 1 { "max_pool1d_impl".to_owned() } else { format!("max_pool{SPATIAL}d") };
    dtypes::numbers_only(a, &kernel)
}

/// `avg_pool1d` to `avg_pool3d`.
pub fn avg_pool<const SPATIAL: usize>(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    pool(a, &format!("avg_pool{SPATIAL}d"), SPATIAL, false)?;
    dtypes::numbers_only(a, &format!("avg_pool{}d", SPATIAL.max(2)))
}

/// `adaptive_avg_pool1d` to `adaptive_avg_pool3d`.
pub fn adaptive_avg<const SPATIAL: usize>(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let size = list(a, 1);
    pool_list(&format!("adaptive_avg_pool{SPATIAL}d"), SPATIAL, size, "output_size", || {
        format!("adaptive_avg_pool{SPATIAL}d: output_size must be {SPATIAL}")
    })?;
    dtypes::floats(a, &format!("adaptive_avg_pool{}d", SPATIAL.max(2)))
}

/// `adaptive_max_pool1d` to `adaptive_max_pool3d`.
pub fn adaptive_max<const SPATIAL: usize>(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let (x, size) = (args::tensor(a, 0)?, list(a, 1));
    pool_list(&format!("adaptive_max_pool{SPATIAL}d"), SPATIAL, size, "output_size", || {
        format!("adaptive_max_pool{SPATIAL}d(): internal error: output_size.size() must be {SPATIAL}")
    })?;
    let start = x.rank().saturating_sub(SPATIAL);
    if let Some(d) = (start..x.rank()).find(|d| x.dims[*d].known() == Some(0)) {
        return refused(format!(
            "adaptive_max_pool{SPATIAL}d(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {} with dimension {d} being empty",
            rules::shown(&x.dims)
        ));
    }
    dtypes::numbers_only(a, &format!("adaptive_max_pool{}d", SPATIAL.max(2)))
}

/// `pad` in all its modes.
pub fn pad(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let (x, pad, mode) = (*args::tensor(a, 0)?, list(a, 1), args::text(a, 2));
    if pad.len() % 2 == 1 {
        return refused("Padding length must be divisible by 2");
    }
    if pad.len() > 2 * x.rank() {
        return refused(format!(
            "Padding length should be less than or equal to two times the input dimension but got padding length {} and input of dimension {}",
            pad.len(),
            x.rank()
        ));
    }
    if !matches!(mode, "reflect" | "replicate" | "circular") {
        return Ok(());
    }
    if args::number(a, 3).is_some_and(|value| value.as_f64() != 0.0) {
        return refused(format!("Padding mode \"{mode}\" doesn't take in value argument"));
    }
    let spatial = pad.len() / 2;
    if !matches!((pad.len(), x.rank()), (2, 2 | 3) | (4, 3 | 4) | (6, 4 | 5)) {
        return Err(OpError::not_implemented(format!(
            "Padding size {} is not supported for {}D input tensor.\nSupported combinations for non-constant padding:\n  - 2D or 3D input: padding size = 2 (pads last dimension)\n  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)",
            pad.len(),
            x.rank()
        )));
    }
    if mode == "circular" {
        return circular(cx, x, pad);
    }
    if below(&x.dims[x.rank() - spatial - 1..], 1) {
        return refused(format!(
            "Expected {}D or {}D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: {}",
            spatial + 1,
            spatial + 2,
            rules::shown(&x.dims)
        ));
    }
    let mut sizes = vec![];
    for (k, sides) in pad.chunks(2).enumerate() {
        let d = x.rank() - 1 - k;
        for side in if mode == "reflect" { sides } else { &[] } {
            if !cx.dims.decide(Rel::Lt, *side, x.dims[d])? {
                return refused(format!(
                    "Argument #{}: Padding size should be less than the corresponding input dimension, but got: padding ({}, {}) at dimension {d} of input {}",
                    4 + 2 * k,
                    sides[0],
                    sides[1],
                    rules::shown(&x.dims)
                ));
            }
        }
        let total = cx.dims.calc(DimOp::Add, sides[0], sides[1]);
        sizes.insert(0, cx.dims.calc(DimOp::Add, x.dims[d], total));
    }
    if below(&sizes, 1) {
        let names = &["D", "H", "W"][3 - spatial..];
        let shown = |values: &[Dim], with: &str| names.iter().zip(values).map(|(n, v)| format!("{n}: {v}")).collect::<Vec<_>>().join(with);
        let own = &x.dims[x.rank() - spatial..];
        return refused(match spatial {
            1 => format!("input (W: {}) is too small. Calculated output W: {}", own[0], sizes[0]),
            _ => format!("Calculated output {} must be >= 1 in every dimension (input {})", shown(&sizes, " "), shown(own, ", ")),
        });
    }
    let kind = if mode == "reflect" { "reflection" } else { "replication" };
    dtypes::numbers_only(a, &format!("{kind}_pad{spatial}d"))
}

fn circular(cx: &mut RuleContext<'_>, x: &Facts, pad: &[Dim]) -> Checked {
    for (k, sides) in pad.chunks(2).enumerate() {
        let size = x.dims[x.rank() - 1 - k];
        for side in sides {
            if cx.dims.decide(Rel::Lt, size, *side)? {
                return refused("Padding value causes wrapping around more than once.");
            }
        }
        let total = cx.dims.calc(DimOp::Add, sides[0], sides[1]);
        let size = cx.dims.calc(DimOp::Add, size, total);
        if cx.dims.decide(Rel::Lt, size, Dim::Is(0))? {
            return refused("Negative padding value is resulting in an empty dimension");
        }
    }
    Ok(())
}
