//! What ops refuse before they run: rules that blocks name beside their meaning, by what they look at.

pub mod dtypes;
pub mod indexing;
pub mod losses;
pub mod norms;
pub mod numbers;
pub mod shapes;
pub mod windows;

use taipan_ir::{Dim, OpError, Rel, op::RuleContext};

/// The outcome of a check.
pub type Checked = Result<(), OpError>;

/// Whether two sizes are equal; on symbols this is recorded as a fact.
pub fn same(cx: &mut RuleContext<'_>, a: Dim, b: Dim) -> Result<bool, OpError> {
    Ok(a == b || cx.dims.decide(Rel::Eq, a, b)?)
}

/// Whether two lists of sizes are equal.
pub fn same_sizes(cx: &mut RuleContext<'_>, a: &[Dim], b: &[Dim]) -> Result<bool, OpError> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for (p, q) in a.iter().zip(b) {
        if !same(cx, *p, *q)? {
            return Ok(false);
        }
    }
    Ok(true)
}
