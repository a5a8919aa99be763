//! The ops there are, as people look them up.

use taipan_ir::{Meaning, op::Promotion};
use taipan_tensor::registry;

/// One op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpDescription {
    /// Its signature in the ecosystem's notation.
    pub schema: &'static str,
    /// Whether PyTorch differentiates it.
    pub differentiable: bool,
    /// How it executes, in a few words.
    pub executes: String,
}

/// Every op, by name.
pub fn ops() -> Vec<OpDescription> {
    let mut ops: Vec<OpDescription> = registry()
        .entries()
        .iter()
        .map(|entry| OpDescription {
            schema: entry.op.0.schema,
            differentiable: entry.op.0.gradient.differentiable(),
            executes: executes(&entry.op.0.meaning),
        })
        .collect();
    ops.sort_by_key(|op| op.schema);
    ops
}

fn executes(meaning: &Meaning) -> String {
    match meaning {
        Meaning::Pointwise { promotion: Promotion::Compare, .. } => "pointwise, gives bool".to_owned(),
        Meaning::Pointwise { .. } => "pointwise".to_owned(),
        Meaning::View => "view".to_owned(),
        Meaning::Kernel { family, .. } => format!("kernel ({})", format!("{family:?}").to_lowercase()),
        Meaning::Random { .. } => "random kernel".to_owned(),
        Meaning::Mutate { pure, .. } => format!("writes {pure}"),
        Meaning::Composite(_) => "composite".to_owned(),
    }
}
