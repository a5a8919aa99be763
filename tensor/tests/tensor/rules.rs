//! Facts rules agree with what kernels make, and answer for sizes they don't know.

use taipan_ir::{
    Arg, DType, Device, Dim, DimOp, Dims, Facts, OpError, Rel, bind,
    dims::{ExprId, NumberDims, calc_numbers, decide_numbers},
    emit::facts_of,
    op::{FactsList, RuleContext},
};
use taipan_tensor::{Context, Tensor, registry, run, sample};

/// Dims where the one symbol stands for `value`, which only questions may find out.
struct OneSymbol {
    expressions: Vec<i64>,
}

impl OneSymbol {
    fn new(value: i64) -> OneSymbol {
        OneSymbol { expressions: vec![value] }
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

/// What a rule says of a sample's results is what its kernel makes: sizes, strides and dtype. Results whose size depends on data are
/// left out.
#[test]
fn rules_say_what_kernels_make() {
    let mut report = String::new();
    for entry in registry().entries() {
        for text in entry.op.0.samples {
            let call = sample::parse(text).unwrap();
            let Ok(bound) = bind::bind(entry.schema.base, bind::CallForm::Function, std::iter::once(entry), &call.args, &call.named) else {
                continue;
            };
            let owned: Vec<Arg<Facts>> = bound.args.iter().map(|a| a.map(Tensor::facts)).collect();
            let borrowed: Vec<Arg<&Facts>> = owned.iter().map(Arg::borrowed).collect();
            let mut dims = Counting::default();
            let mut cx = RuleContext { dims: &mut dims, default_float: DType::F32 };
            let ruled = facts_of(registry(), &mut cx, bound.op, &borrowed);
            if dims.fresh {
                continue;
            }
            let made = run(&mut Context::with_threads(1), bound.op, &bound.args);
            let differs = match (&ruled, &made) {
                (Ok(ruled), Ok(made)) => !ruled.iter().cloned().eq(made.iter().map(Tensor::facts)),
                (Err(ruled), Err(made)) => ruled != made,
                // An error that only the data shows.
                (Ok(_), Err(_)) => false,
                (Err(_), Ok(_)) => true,
            };
            if differs {
                let shown = |f: Vec<String>| f.join(", ");
                let ruled = ruled.map(|f| shown(f.iter().map(Facts::to_string).collect())).unwrap_or_else(|e| e.to_string());
                let made = made.map(|t| shown(t.iter().map(|t| t.facts().to_string()).collect())).unwrap_or_else(|e| e.to_string());
                report.push_str(&format!("{} | {text}: the rule says {ruled}; made is {made}\n", entry.schema.name()));
            }
        }
    }
    assert!(report.is_empty(), "{} differ:\n{report}", report.lines().count());
}

/// Numbers, with a note of whether a size was made up.
#[derive(Default)]
struct Counting {
    fresh: bool,
}

impl Dims for Counting {
    fn calc(&mut self, op: DimOp, a: Dim, b: Dim) -> Dim {
        NumberDims.calc(op, a, b)
    }
    fn decide(&mut self, rel: Rel, a: Dim, b: Dim) -> Result<bool, OpError> {
        NumberDims.decide(rel, a, b)
    }
    fn fresh(&mut self, low: i64) -> Dim {
        self.fresh = true;
        Dim::Is(low)
    }
    fn number(&mut self, a: Dim) -> Result<i64, OpError> {
        NumberDims.number(a)
    }
}
