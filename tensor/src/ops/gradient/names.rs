//! What PyTorch calls the nodes of ops: scripts print `grad_fn`, and some compare its name.

use taipan_ir::{Facts, OpRef};

/// Ops whose node isn't called after them, and ops of which PyTorch differentiates several forms, which it numbers.
const NAMES: &[(&str, &str)] = &[
    ("absolute", "AbsBackward0"),
    ("clamp", "ClampBackward1"),
    ("div.Tensor_mode", "DivBackward2"),
    ("fix", "TruncBackward0"),
    ("layer_norm", "NativeLayerNormBackward0"),
    ("lerp.Tensor", "LerpBackward1"),
    ("logsigmoid", "LogSigmoidBackward0"),
    ("mean.dim", "MeanBackward1"),
    ("median.dim", "MedianBackward1"),
    ("narrow", "SliceBackward0"),
    ("negative", "NegBackward0"),
    ("prod.dim_int", "ProdBackward1"),
    ("relu6", "HardtanhBackward0"),
    ("scatter.value", "ScatterBackward1"),
    ("selu", "EluBackward0"),
    ("sort.stable", "SortBackward1"),
    ("square", "PowBackward0"),
    ("squeeze.dim", "SqueezeBackward1"),
    ("squeeze.dims", "SqueezeBackward2"),
    ("sum.dim_IntList", "SumBackward1"),
];

/// Pooling, whose names tell the number of spatial dims.
const POOLS: &[(&str, &str, &str)] = &[
    ("_adaptive_avg_pool", "AdaptiveAvgPool", ""),
    ("_adaptive_max_pool", "AdaptiveMaxPool", ""),
    ("_avg_pool", "AvgPool", ""),
    ("_max_pool", "MaxPool", "WithIndices"),
];

/// What PyTorch calls the node of an op with this first result. `bias` says whether the gradient of argument 2 is asked for.
pub fn node_name(op: OpRef, result: Option<&Facts>, bias: bool) -> String {
    let (base, overload) = op.name().split_once('.').map_or((op.name(), ""), |(base, overload)| (base, overload));
    let base = base.strip_suffix('_').unwrap_or(base);
    let full = if overload.is_empty() { base.to_owned() } else { format!("{base}.{overload}") };
    let rank = result.map_or(0, Facts::rank);
    if let Some((_, name)) = NAMES.iter().find(|(op, _)| *op == full) {
        return (*name).to_owned();
    }
    if let Some((_, name, rest)) = POOLS.iter().find(|(op, ..)| *op == base) {
        return format!("{name}{}D{rest}Backward0", rank.saturating_sub(2));
    }
    // Products of more than two dims are those of matrices, looked at differently.
    match (base, rank) {
        ("linear", 2) if bias => "AddmmBackward0".to_owned(),
        ("linear", 3..) if bias => "ViewBackward0".to_owned(),
        ("linear" | "matmul", 2) => "MmBackward0".to_owned(),
        ("linear" | "matmul", 3..) => "UnsafeViewBackward0".to_owned(),
        ("matmul", 1) => "MvBackward0".to_owned(),
        ("matmul", 0) => "DotBackward0".to_owned(),
        _ => format!("{}Backward0", in_capitals(base)),
    }
}

/// `log1p` as `Log1P`: each word, and each letter behind a digit, begins large.
fn in_capitals(name: &str) -> String {
    let (mut text, mut large) = (String::with_capacity(name.len()), true);
    for letter in name.chars() {
        if letter == '_' {
            large = true;
            continue;
        }
        text.push(if large { letter.to_ascii_uppercase() } else { letter });
        large = letter.is_ascii_digit();
    }
    text
}
