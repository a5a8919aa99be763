//! Scalar bodies: the one text of a pointwise op's maths.

use crate::{DType, Number};

/// A value of a body under construction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scalar(pub u32);

/// A body under construction: a list of nodes in evaluation order.
#[derive(Clone, Debug, Default)]
pub struct Body {
    nodes: Vec<(Node, DType)>,
}

/// One step of a body.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Node {
    Input(u32),
    Constant(Number),
}

impl Body {
    /// The nodes with their types, in evaluation order.
    pub fn nodes(&self) -> &[(Node, DType)] {
        &self.nodes
    }
}
