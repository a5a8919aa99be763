//! From a pointwise op and the facts of its arguments to the body that every executor runs.

use crate::{
    DType, Facts,
    body::{Body, Scalar},
    op::{Arg, BodyRule, Entry, Promotion},
    promote::{compute_type, types},
    schema::Kind,
};

/// A pointwise op's body for arguments of known types.
#[derive(Clone, Debug)]
pub struct Pointwise {
    /// The nodes.
    pub body: Body,
    /// The type each tensor argument is read as, in argument order; half types as `f32`.
    pub inputs: Vec<DType>,
    /// The value of the result, in `f32` where the result is of a half type.
    pub result: Scalar,
}

/// The arguments that take part in promotion: tensors, and numbers where a tensor may stand.
pub fn promoted<'a>(entry: &Entry, args: &[Arg<&'a Facts>]) -> Vec<Arg<&'a Facts>> {
    let part = |kind: Kind| matches!(kind, Kind::Tensor | Kind::TensorOrScalar);
    entry.schema.params.iter().zip(args).map(|(p, a)| if part(p.kind) { a.clone() } else { Arg::Absent }).collect()
}

/// Builds the body. `result` is the element type the op's facts rule gives.
pub fn build(entry: &Entry, rule: BodyRule, promotion: Promotion, args: &[Arg<&Facts>], default_float: DType, result: DType) -> Pointwise {
    let types = types(promotion, &promoted(entry, args), default_float);
    let compute = types.compute();
    let mut body = Body::default();
    body.set_half(Some(types.common).filter(|d| d.is_half()));
    let mut inputs = vec![];
    let mut scalars = vec![];
    for (i, (param, arg)) in entry.schema.params.iter().zip(args).enumerate() {
        scalars.push(match arg {
            Arg::Tensor(facts) => {
                let read = compute_type(facts.dtype);
                let input = body.input(inputs.len() as u32, read);
                inputs.push(read);
                if facts.dtype == types.common {
                    body.note_half(input);
                }
                Arg::Tensor(match promotion {
                    Promotion::Select if i == 0 => body.truth(input),
                    Promotion::First if i > 0 => input,
                    _ => body.cast(input, compute),
                })
            }
            Arg::Number(n) if param.kind == Kind::TensorOrScalar => Arg::Tensor(body.constant(*n, compute)),
            other => other.map(|_| Scalar(0)),
        });
    }
    let value = rule(&mut body, &scalars);
    let value = body.cast(value, compute_type(result));
    Pointwise { body, inputs, result: value }
}
