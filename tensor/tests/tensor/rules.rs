//! Facts rules agree with what kernels make, and answer for sizes they don't know.

use taipan_ir::{
    Arg, DType, Device, Dim, DimOp, Dims, Facts, OpError, Rel,
    dims::{ExprId, NumberDims, calc_numbers, decide_numbers},
    emit::facts_of,
    op::{FactsList, RuleContext},
};
use taipan_tensor::registry;

/// Dims where the one symbol stands for `value`, which only questions may find out.
struct OneSymbol {
    expressions: Vec<i64>,
    questions: usize,
}

impl OneSymbol {
    fn new(value: i64) -> OneSymbol {
        OneSymbol { expressions: vec![value], questions: 0 }
    }

    fn value(&self, d: Dim) -> i64 {
        match d {
            Dim::Is(n) => n,
            Dim::Sym(e) => self.expressions[e.0 as usize],
        }
    }
}

impl Dims for OneSymbol {
    fn calc(&mut self, op: DimOp, a: Dim, b: Dim) -> Dim {
        let n = calc_numbers(op, self.value(a), self.value(b));
        if let (Dim::Is(_), Dim::Is(_)) = (a, b) {
            return Dim::Is(n);
        }
        match (op, a, b) {
            (DimOp::Mul, Dim::Is(1), s) | (DimOp::Mul, s, Dim::Is(1)) | (DimOp::Add, s, Dim::Is(0)) | (DimOp::Add, Dim::Is(0), s) => {
                return s;
            }
            (DimOp::Max, s, Dim::Is(1)) => return s,
            _ => {}
        }
        self.expressions.push(n);
        Dim::Sym(ExprId(self.expressions.len() as u32 - 1))
    }

    fn decide(&mut self, rel: Rel, a: Dim, b: Dim) -> Result<bool, OpError> {
        self.questions += 1;
        Ok(decide_numbers(rel, self.value(a), self.value(b)))
    }

    fn fresh(&mut self, low: i64) -> Dim {
        Dim::Is(low)
    }

    fn number(&mut self, _: Dim) -> Result<i64, OpError> {
        Err(OpError::runtime("a rule specialised"))
    }
}

fn ask(dims: &mut dyn Dims, name: &str, args: &[Arg<&Facts>]) -> FactsList {
    let entry = registry().find(name).unwrap();
    let mut all: Vec<Arg<&Facts>> = args.to_vec();
    all.extend(taipan_tensor::ops::call::defaults(&entry.schema, args.len()));
    facts_of(registry(), &mut RuleContext { dims, default_float: DType::F32 }, entry.op, &all).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn facts(dims: &mut dyn Dims, sizes: &[Dim]) -> Facts {
    Facts::contiguous(dims, DType::F32, Device::CPU, sizes.into()).unwrap()
}

/// Calls on `[s, 8, 4]` where `s` is a symbol: what a transformer's rules must answer without specialising.
#[test]
fn rules_keep_symbols() {
    let symbol = Dim::Sym(ExprId(0));
    let ints = |d: &[Dim]| Arg::Ints(d.iter().copied().collect());
    let int = |n: i64| Arg::Int(Dim::Is(n));
    for value in [3, 17] {
        let mut dims = OneSymbol::new(value);
        let x = facts(&mut dims, &[symbol, Dim::Is(8), Dim::Is(4)]);
        let w = facts(&mut dims, &[Dim::Is(16), Dim::Is(4)]);
        let calls: Vec<(&str, Vec<Arg<&Facts>>)> = vec![
            ("add.Tensor", vec![Arg::Tensor(&x), Arg::Tensor(&x)]),
            ("gelu", vec![Arg::Tensor(&x)]),
            ("linear", vec![Arg::Tensor(&x), Arg::Tensor(&w)]),
            ("softmax.int", vec![Arg::Tensor(&x), int(-1)]),
            ("layer_norm", vec![Arg::Tensor(&x), ints(&[Dim::Is(4)])]),
            ("transpose.int", vec![Arg::Tensor(&x), int(0), int(1)]),
            ("view", vec![Arg::Tensor(&x), ints(&[symbol, Dim::Is(32)])]),
            ("reshape", vec![Arg::Tensor(&x), ints(&[Dim::Is(-1), Dim::Is(4)])]),
            ("sum.dim_IntList", vec![Arg::Tensor(&x), ints(&[Dim::Is(0)])]),
            ("slice.Tensor", vec![Arg::Tensor(&x), int(0), int(1)]),
            ("select.int", vec![Arg::Tensor(&x), int(0), int(-1)]),
            ("unsqueeze", vec![Arg::Tensor(&x), int(0)]),
            ("cat", vec![Arg::Tensors(vec![&x, &x]), int(0)]),
            ("flatten.using_ints", vec![Arg::Tensor(&x)]),
        ];
        for (name, args) in calls {
            let result = &ask(&mut dims, name, &args)[0];
            // With the number in place of the symbol, the same rule gives the same sizes and strides.
            let number = |f: &Facts| {
                let mut out = (*f).clone();
                out.dims.iter_mut().chain(out.strides.iter_mut()).for_each(|d| *d = Dim::Is(dims.value(*d)));
                out.offset = Dim::Is(dims.value(out.offset));
                out
            };
            let plain: Vec<Arg<Facts>> = args
                .iter()
                .map(|a| match a {
                    Arg::Ints(ds) => Arg::Ints(ds.iter().map(|d| Dim::Is(dims.value(*d))).collect()),
                    other => other.map(|f| number(f)),
                })
                .collect();
            let plain: Vec<Arg<&Facts>> = plain.iter().map(Arg::borrowed).collect();
            assert_eq!(number(result), ask(&mut NumberDims, name, &plain)[0], "{name}");
        }
    }
}
