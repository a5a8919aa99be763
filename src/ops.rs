//! The ops there are, as people look them up.

use taipan_ir::{DType, Meaning, op::Promotion};
use taipan_tensor::{registry, sample};

/// One op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpDescription {
    /// Its signature in the ecosystem's notation.
    pub schema: &'static str,
    /// Whether PyTorch differentiates it.
    pub differentiable: bool,
    /// The element types with which its samples run; empty where it has none.
    pub dtypes: Vec<DType>,
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
            dtypes: sample::dtypes(entry),
            executes: executes(&entry.op.0.meaning),
        })
        .collect();
    ops.sort_by_key(|op| op.schema);
    ops
}

impl OpDescription {
    /// The element types in a few words: the name of a group, such as `all` or `floats`, or each by its short name.
    pub fn dtypes_text(&self) -> String {
        type Group = (&'static str, fn(DType) -> bool);
        const GROUPS: [Group; 5] = [
            ("all", |_| true),
            ("all but complex", |dtype| !dtype.is_complex()),
            ("floats and complex", DType::has_gradients),
            ("floats", DType::is_float),
            ("complex", DType::is_complex),
        ];
        for (name, holds) in GROUPS {
            if self.dtypes.iter().copied().eq(DType::ALL.into_iter().filter(|dtype| holds(*dtype))) {
                return name.to_owned();
            }
        }
        let names: Vec<String> = self.dtypes.iter().map(DType::to_string).collect();
        if names.is_empty() { "-".to_owned() } else { names.join(" ") }
    }
}

/// The documentation page of these ops: a table in Markdown.
pub fn markdown(ops: &[OpDescription]) -> String {
    let mut text = String::from(
        "# Ops\n\nGenerated from the op blocks. An op runs with the element types for which its sample calls do.\n\n\
         | op | runs with | differentiable | executes |\n|---|---|---|---|\n",
    );
    for op in ops {
        let differentiable = if op.differentiable { "yes" } else { "" };
        let schema = op.schema.replace('|', "\\|");
        text.push_str(&format!("| `{schema}` | {} | {differentiable} | {} |\n", op.dtypes_text(), op.executes));
    }
    text
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
