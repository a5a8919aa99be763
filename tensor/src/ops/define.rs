//! How an op block is written: a constructor per meaning, and what is not the default behind it.

use taipan_ir::{
    DType, ErrorKind, Gradient, Meaning, Op,
    complex::Complex,
    gradient::GradientRule,
    op::{BodyRule, CompositeRule, FactsRule, Family, Forms, Kernel, Promotion, Refusal},
};

/// Function, method and in-place form.
pub const ALL: Forms = Forms::BOTH.or(Forms::INPLACE);

const fn block(schema: &'static str, forms: Forms, facts: Option<FactsRule>, meaning: Meaning) -> Op {
    Op {
        schema,
        forms,
        refuses: None,
        facts,
        meaning,
        complex: Complex::Refused,
        gradient: Gradient::Missing,
        laws: &[],
        ulps: &[],
        samples: &[],
    }
}

/// One result element from one of each broadcast argument.
pub const fn pointwise(schema: &'static str, forms: Forms, promotion: Promotion, facts: FactsRule, body: BodyRule) -> Op {
    let op = block(schema, forms, Some(facts), Meaning::Pointwise { body, promotion });
    if matches!(promotion, Promotion::Compare) { constant(op) } else { op }
}

/// A view of argument 0.
pub const fn view(schema: &'static str, forms: Forms, layout: FactsRule) -> Op {
    gradient(block(schema, forms, Some(layout), Meaning::View), "", super::gradient::of_view)
}

/// Code of this crate.
pub const fn kernel(schema: &'static str, forms: Forms, family: Family, facts: FactsRule, run: Kernel) -> Op {
    block(schema, forms, Some(facts), Meaning::Kernel { family, run })
}

/// A draw from a generator.
pub const fn random(schema: &'static str, forms: Forms, facts: FactsRule, run: Kernel) -> Op {
    constant(block(schema, forms, Some(facts), Meaning::Random { run }))
}

/// A pure op, then a write of its result into argument 0.
pub const fn mutate(schema: &'static str, forms: Forms, pure: &'static str) -> Op {
    block(schema, forms, None, Meaning::Mutate { pure, writes: 0 })
}

/// A decomposition, as exact as its parts.
pub const fn composite(schema: &'static str, forms: Forms, rule: CompositeRule) -> Op {
    close(Op { gradient: Gradient::Parts, ..block(schema, forms, None, Meaning::Composite(rule)) })
}

/// The op with what it refuses.
pub const fn refusing(op: Op, refuses: Refusal) -> Op {
    Op { refuses: Some(refuses), ..op }
}

/// The op with sample calls.
pub const fn samples(op: Op, samples: &'static [&'static str]) -> Op {
    Op { samples, ..op }
}

/// The op with the units in the last place by which executors may differ.
pub const fn ulps(op: Op, ulps: &'static [(DType, u32)]) -> Op {
    Op { ulps, ..op }
}

/// The op as one whose sums and functions may come out a little differently than PyTorch's.
pub const fn close(op: Op) -> Op {
    ulps(op, &[(DType::F32, 32), (DType::F64, 32), (DType::F16, 1), (DType::BF16, 1), (DType::C64, 32), (DType::C128, 32)])
}

/// The op as one whose result never requires grad.
pub const fn constant(op: Op) -> Op {
    Op { gradient: Gradient::Constant, ..op }
}

/// The op with its gradient. `saves` names the parameters and results whose elements the rule reads.
pub const fn gradient(op: Op, saves: &'static str, rule: GradientRule) -> Op {
    Op { gradient: Gradient::Rule { saves, rule }, ..op }
}

/// The op as one whose code and gradient serve complex elements too: it moves elements and doesn't look at them, or knows both kinds.
pub const fn moves(op: Op) -> Op {
    Op { complex: Complex::Same, ..op }
}

/// The op with its code for complex elements, and a gradient that holds for them.
pub const fn complex(op: Op, run: Kernel) -> Op {
    Op { complex: Complex::Kernel { run, gradient: true }, ..op }
}

/// As [`complex`] for an op that is exact but for complex elements: how often a sum of two products is rounded shows in their last digits.
pub const fn complex_close(op: Op, run: Kernel) -> Op {
    ulps(complex(op, run), &[(DType::C64, 4), (DType::C128, 4)])
}

/// As [`complex`], without a gradient for complex elements.
pub const fn complex_only(op: Op, run: Kernel) -> Op {
    Op { complex: Complex::Kernel { run, gradient: false }, ..op }
}

/// The op as one that refuses complex elements with this text; `{}` stands for the dtype.
pub const fn no_complex(op: Op, text: &'static str) -> Op {
    Op { complex: Complex::RefusedWith(ErrorKind::NotImplemented, text), ..op }
}

/// As [`no_complex`], with a `TypeError`.
pub const fn no_complex_type(op: Op, text: &'static str) -> Op {
    Op { complex: Complex::RefusedWith(ErrorKind::Type, text), ..op }
}
