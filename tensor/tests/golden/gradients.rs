//! Gradients by the tape against differences of the op itself, in `f64`, once and twice; and against those PyTorch gave.

use crate::{compare_numbers, edges, epsilon, floats, golden, key, sample, samples};
use num_complex::Complex;
use std::cell::RefCell;
use taipan_ir::{Arg, DType, Gradient, Meaning, Number, OpError, bind, bind::Operand, op::Entry};
use taipan_tensor::{
    Context, Tensor, registry,
    tape::{Edge, Host, Request, Var, backward, run},
};

/// Ops that PyTorch differentiates, or says itself that it doesn't, and that have no rule here. The list must only get shorter.
const MISSING: &[&str] = &[
    // PyTorch has no derivative either.
    "heaviside",
    "scatter.reduce",
    "_standard_gamma_grad",
    "_dirichlet_grad",
    // PyTorch has no derivative, or none that tests could tell from a missing one.
    "nextafter",
    "special_bessel_j0",
    "special_bessel_j1",
    "special_bessel_y0",
    "special_bessel_y1",
    "special_modified_bessel_k0",
    "special_modified_bessel_k1",
    "special_scaled_modified_bessel_k0",
    "special_scaled_modified_bessel_k1",
    "_unique2",
    "unique_consecutive",
    "unique_dim",
    "unique_dim_consecutive",
    // PyTorch differentiates these; no rule is written.
    "_lu_factor",
    "_lu_permutation",
    "frexp.Tensor",
    "linalg_lu_factor",
];

/// Ops whose gradients are not PyTorch's. A line goes when they agree.
const NOT_PYTORCH: &[(&str, &str)] = &[
    ("digamma | f64[4]+", "the trigamma functions differ in the tenth digit"),
    ("digamma_ | f64[4]+", "the trigamma functions differ in the tenth digit"),
    ("special_digamma", "the trigamma functions differ in the tenth digit"),
    ("special_psi", "the trigamma functions differ in the tenth digit"),
    ("polygamma | 0, f64[4]+", "the trigamma functions differ in the tenth digit"),
    ("logical_and_", "PyTorch lets the gradient of what was overwritten pass"),
    ("logical_or_", "PyTorch lets the gradient of what was overwritten pass"),
    ("logical_xor_", "PyTorch lets the gradient of what was overwritten pass"),
    ("logical_not_", "PyTorch lets the gradient of what was overwritten pass"),
    ("float_power_.Tensor_Tensor", "the sample's conversion is the leaf itself"),
    (
        "as_strided_scatter | f32[3,3], f32[2,2], [2,2], [1,2]",
        "elements that are overwritten keep a gradient in PyTorch where the base lies transposed",
    ),
    ("fill_diagonal_", "writes through a view of a leaf"),
    ("linalg_lu_factor", "no rule"),
    ("linalg_lu", "no rule"),
    ("linalg_qr | f32[3,4]", "no rule for wide matrices"),
    ("cholesky_solve | f32[3,2], f32[3,3]", "PyTorch spreads the gradient over both triangles"),
    ("cholesky_inverse | f32[3,3]", "PyTorch spreads the gradient over both triangles"),
    ("linalg_pinv | f32[3,3], rtol=0.5", "singular values below the tolerance count"),
    ("linalg_tensorinv | f64[4,2,2], 1", "the last bits differ where values are large"),
    ("_native_batch_norm_legit.no_stats", "statistics pass gradients that PyTorch ignores"),
    ("native_layer_norm", "statistics pass gradients that PyTorch ignores"),
    ("frexp.Tensor", "no rule"),
    ("nextafter", "no derivative here"),
    ("nextafter_", "no derivative here"),
    ("special_bessel_j0", "no derivative here"),
    ("special_bessel_j1", "no derivative here"),
    ("special_bessel_y0", "no derivative here"),
    ("special_bessel_y1", "no derivative here"),
    ("special_modified_bessel_k0", "no derivative here"),
    ("special_modified_bessel_k1", "no derivative here"),
];

/// Ops whose gradients differ from differences. A line goes when they agree.
const NOT_DIFFERENCES: &[(&str, &str)] = &[
    ("remainder.Scalar_Tensor | 0.7, f16[5]+", "its first argument is a number"),
    ("cross_entropy | f32[3,4], i64[3]%4, f32[4]+", "the weight of classes has no gradient"),
    ("nll_loss | f32[3,4], i64[3]%4, f32[4]+", "the weight of classes has no gradient"),
    ("special_gammainc", "no derivative in the order"),
    ("special_gammaincc", "no derivative in the order"),
    ("igamma", "no derivative in the order"),
    ("igamma_", "no derivative in the order"),
    ("igammac", "no derivative in the order"),
    ("igammac_", "no derivative in the order"),
    ("special_spherical_bessel_j0", "constant in its gradient"),
    ("float_power_.Tensor_Tensor", "the sample's conversion is the leaf itself"),
    ("bincount", "has no gradient"),
    ("histogram.bin_ct", "has no gradient"),
    ("fill_diagonal_", "writes through a view of a leaf"),
    ("linalg_qr", "no rule but for reduced factors of matrices that aren't wide"),
    ("linalg_eigvalsh", "reads one triangle, and spreads the gradient over both"),
    ("native_batch_norm", "writes running statistics, which the sample makes leaves"),
    ("_native_batch_norm_legit", "writes running statistics, which the sample makes leaves"),
    ("_native_batch_norm_legit_functional", "statistics have no gradient"),
    ("_batch_norm_with_update", "writes running statistics, which the sample makes leaves"),
    ("_batch_norm_with_update_functional", "statistics have no gradient"),
];

/// The faults beyond those a table explains, and the lines of the table that no fault needs. A line names an op, or one sample of it.
fn unexplained(faults: Vec<(String, String)>, table: &[(&str, &str)]) -> String {
    let is_of = |key: &str, line: &str| key == line || key.split(" | ").next() == Some(line);
    let mut report = String::new();
    for (key, fault) in faults.iter().filter(|(key, _)| table.iter().all(|(line, _)| !is_of(key, line))) {
        report += &format!("{key}: {fault}\n");
    }
    for (line, why) in table.iter().filter(|(line, _)| faults.iter().all(|(key, _)| !is_of(key, line))) {
        report += &format!("{line}: agrees now; take `{why}` off the list\n");
    }
    report
}

/// Samples whose gradient PyTorch refuses too: the index must be as large as what is scattered.
const REFUSED: &[&str] = &["scatter.src | f32[3,4], 1, i64[3,1]%4, f32[3,2]", "scatter_.src | f32[3,4], 1, i64[3,1]%4, f32[3,2]"];

/// The context, the leaves a call was made with, and their gradients.
type Differentiated = (Cell, Vec<Var>, Vec<Option<Var>>);

struct Cell(RefCell<Context>);

impl Host for Cell {
    fn step(&self, work: &mut dyn FnMut(&mut Context) -> Result<(), OpError>) -> Result<(), OpError> {
        work(&mut self.0.borrow_mut())
    }
}

/// A fresh context, seeded as for every sample.
fn host() -> Cell {
    let mut cx = Context::with_threads(1);
    cx.generators.seed(crate::SEED);
    Cell(RefCell::new(cx))
}

/// The sample's call with all floats in `f64`.
fn in_f64(operand: Operand<Tensor>, cx: &mut Context) -> Operand<Tensor> {
    match operand {
        Operand::Tensor(x) if x.dtype().is_float() => Operand::Tensor(taipan_tensor::write::cast(cx, &x, DType::F64).unwrap()),
        Operand::Tensor(x) if x.dtype().is_complex() => Operand::Tensor(taipan_tensor::write::cast(cx, &x, DType::C128).unwrap()),
        Operand::DType(dtype) if dtype.is_complex() => Operand::DType(DType::C128),
        Operand::DType(dtype) if dtype.is_float() => Operand::DType(DType::F64),
        Operand::List(items, tuple) => Operand::List(items.into_iter().map(|item| in_f64(item, cx)).collect(), tuple),
        other => other,
    }
}

/// What weighs the result elements in the sum that is differentiated: the same formula as in `make.py`.
fn cotangent(like: &Tensor, result: usize) -> Tensor {
    let numbers: Vec<f64> =
        (0..like.numel() as i64).map(|i| ((i * i * 17 + i * 613 + (result as i64 + 1) * 331) % 101) as f64 / 50.0 - 1.0).collect();
    let weights = Tensor::from_slice(&numbers, like.sizes()).unwrap();
    if !like.dtype().is_complex() {
        return weights;
    }
    let pairs: Vec<Complex<f64>> = numbers.iter().zip(numbers.iter().rev()).map(|(re, im)| Complex::new(*re, *im)).collect();
    Tensor::from_slice(&pairs, like.sizes()).unwrap()
}

/// One call with the tensors of floats as leaves that require grad.
struct Call {
    op: taipan_ir::OpRef,
    args: Vec<Arg<Tensor>>,
}

impl Call {
    fn new(entry: &'static Entry, text: &str, wide: bool) -> Result<Call, OpError> {
        let mut call = sample::parse(text).unwrap();
        if wide {
            let mut cx = Context::with_threads(1);
            call.args = call.args.into_iter().map(|x| in_f64(x, &mut cx)).collect();
            call.named = call.named.into_iter().map(|(name, x)| (name, in_f64(x, &mut cx))).collect();
        }
        let bound = bind::bind(entry.schema.base, bind::CallForm::Function, std::iter::once(entry), &call.args, &call.named)?;
        Ok(Call { op: bound.op, args: bound.args.into_iter().collect() })
    }

    /// The tensors whose gradients are asked for.
    fn inputs(&self) -> Vec<Tensor> {
        let mut inputs = vec![];
        self.args.iter().for_each(|arg| {
            arg.for_each(|x| {
                if x.dtype().has_gradients() {
                    inputs.push(x.clone())
                }
            })
        });
        inputs
    }

    /// Runs on leaves, recorded; answers the leaves and the results. Where the op writes, it writes into a copy.
    fn record(&self, host: &Cell, inputs: &[Tensor]) -> Result<(Vec<Var>, Vec<Var>), OpError> {
        let mut leaves = vec![];
        let mut next = inputs.iter();
        let args: Vec<Arg<Var>> = self
            .args
            .iter()
            .map(|arg| {
                arg.map(|x| {
                    let var = Var::new(if x.dtype().has_gradients() { next.next().unwrap().clone() } else { x.clone() });
                    if x.dtype().has_gradients() {
                        var.meta.ask_for_grad(true);
                        leaves.push(var.clone());
                    }
                    var
                })
            })
            .collect();
        let mut results = vec![];
        host.step(&mut |cx| {
            let mut args = args.clone();
            if let (Meaning::Mutate { writes, .. }, Some(clone)) = (self.op.0.meaning, registry().find("clone"))
                && let Arg::Tensor(target) = &args[writes]
            {
                let copy = run(cx, true, clone.op, &[Arg::Tensor(target.clone()), Arg::Absent])?;
                args[writes] = Arg::Tensor(copy[0].clone());
            }
            results = run(cx, true, self.op, &args)?.into_vec();
            Ok(())
        })?;
        Ok((leaves, results))
    }

    /// The gradients of the sum of all results, weighted.
    fn gradients(&self, inputs: &[Tensor], create_graph: bool) -> Result<Differentiated, OpError> {
        let host = host();
        let (leaves, results) = self.record(&host, inputs)?;
        let mut roots = vec![];
        for (k, result) in results.iter().enumerate() {
            if let Some(edge) = result.gradient_edge() {
                let weight = cotangent(&result.data, k);
                let mut cx = host.0.borrow_mut();
                roots.push((edge, Var::new(taipan_tensor::write::cast(&mut cx, &weight, result.data.dtype())?)));
            }
        }
        let edges: Vec<Edge> = leaves.iter().filter_map(Var::gradient_edge).collect();
        if roots.is_empty() {
            return Ok((host, leaves.clone(), vec![None; leaves.len()]));
        }
        let grads = backward(&host, Request { roots, keep_graph: create_graph, create_graph, inputs: Some(edges) })?;
        Ok((host, leaves, grads))
    }

    /// The weighted sum itself.
    fn total(&self, inputs: &[Tensor]) -> Result<f64, OpError> {
        let mut next = inputs.iter();
        let args: Vec<Arg<Tensor>> = self
            .args
            .iter()
            .map(|arg| arg.map(|x| if x.dtype().has_gradients() { next.next().unwrap().copied().unwrap() } else { x.clone() }))
            .collect();
        let host = host();
        let results = taipan_tensor::run(&mut host.0.borrow_mut(), self.op, &args)?;
        let floats = results.iter().enumerate().filter(|(_, result)| result.dtype().has_gradients());
        Ok(floats.map(|(k, result)| weighted(result, &cotangent(result, k))).sum())
    }
}

fn weighted(x: &Tensor, weight: &Tensor) -> f64 {
    let (x, weight) = (x.numbers().unwrap(), weight.numbers().unwrap());
    let product = |((a, b), (c, d)): ((f64, f64), (f64, f64))| a * c + b * d;
    x.iter().zip(&weight).map(|(x, w)| product((x.parts(), w.parts()))).sum()
}

/// The elements, or both parts of each in turn.
fn parts(x: &Tensor) -> Result<Vec<f64>, OpError> {
    let both = |number: &Number| match *number {
        Number::Complex(re, im) => vec![re, im],
        other => vec![other.as_f64()],
    };
    Ok(x.numbers()?.iter().flat_map(both).collect())
}

/// The slope of `total` in one element, or part of one, of one input, by the differences over two distances, and how far these are apart.
fn slope(inputs: &[Tensor], at: (usize, usize), total: &mut dyn FnMut(&[Tensor]) -> Result<f64, OpError>) -> Result<(f64, f64), OpError> {
    let mut moved = |h: f64| {
        let input = &inputs[at.0];
        let mut elements = parts(input)?;
        elements[at.1] += h;
        let moved = match input.dtype().is_complex() {
            true => {
                let pairs: Vec<Complex<f64>> = elements.chunks(2).map(|pair| Complex::new(pair[0], pair[1])).collect();
                Tensor::from_slice(&pairs, input.sizes())?
            }
            false => Tensor::from_slice(&elements, input.sizes())?,
        };
        let mut inputs = inputs.to_vec();
        inputs[at.0] = moved;
        total(&inputs)
    };
    let mut central = |h: f64| Ok::<f64, OpError>((moved(h)? - moved(-h)?) / (2.0 * h));
    let (near, far) = (central(1e-5)?, central(2e-5)?);
    Ok((near, (near - far).abs()))
}

/// How the gradients differ from differences; `None` where they don't.
fn check(call: &Call, key: &str) -> Result<Option<String>, OpError> {
    let inputs = call.inputs();
    let (_, _, grads) = call.gradients(&inputs, false)?;
    if let Some(difference) = against_slopes(&inputs, &grads, &mut |inputs| call.total(inputs))? {
        return Ok(Some(format!("{key}: {difference}")));
    }
    // The sum of the first gradients, weighted, is differentiated once more.
    let first = |inputs: &[Tensor]| -> Result<f64, OpError> {
        let (_, _, grads) = call.gradients(inputs, false)?;
        Ok(grads.iter().flatten().enumerate().map(|(k, grad)| weighted(&grad.data, &cotangent(&grad.data, k + 7))).sum())
    };
    let (host, leaves, grads) = call.gradients(&inputs, true)?;
    let mut roots = vec![];
    for (k, grad) in grads.iter().flatten().enumerate() {
        if let Some(edge) = grad.edge() {
            roots.push((edge, Var::new(cotangent(&grad.data, k + 7))));
        }
    }
    let edges: Vec<Edge> = leaves.iter().filter_map(Var::gradient_edge).collect();
    let second = match roots.is_empty() {
        true => vec![None; leaves.len()],
        false => backward(&host, Request { roots, keep_graph: false, create_graph: false, inputs: Some(edges) })?,
    };
    let difference = against_slopes(&inputs, &second, &mut |inputs| first(inputs))?;
    Ok(difference.map(|difference| format!("{key}: second derivative: {difference}")))
}

fn against_slopes(
    inputs: &[Tensor],
    grads: &[Option<Var>],
    total: &mut dyn FnMut(&[Tensor]) -> Result<f64, OpError>,
) -> Result<Option<String>, OpError> {
    for (k, (input, grad)) in inputs.iter().zip(grads).enumerate() {
        let numbers: Vec<f64> = match grad {
            Some(grad) if grad.data.sizes() != input.sizes() => return Ok(Some(format!("input {k} has {:?}", grad.data.sizes()))),
            Some(grad) => parts(&grad.data)?,
            None => vec![0.0; parts(input)?.len()],
        };
        let step = (numbers.len() / 12).max(1);
        for (i, got) in numbers.iter().enumerate().step_by(step) {
            let (want, spread) = slope(inputs, (k, i), total)?;
            let bound = 1e-5 * (1.0 + want.abs()) + 4.0 * spread;
            let alike = (got - want).abs() <= bound || (got.is_nan() && want.is_nan());
            if !alike {
                return Ok(Some(format!("input {k} element {i}: {got} but the difference says {want}")));
            }
        }
    }
    Ok(None)
}

#[test]
fn gradients_match_differences() {
    let (mut faults, mut checked, mut missing) = (vec![], 0, std::collections::BTreeSet::new());
    for (entry, text) in samples() {
        let key = key(entry, text);
        let Ok(call) = Call::new(entry, text, true) else { continue };
        // Outside of an op's domain a difference says nothing; PyTorch's numbers tell what the gradient is there.
        if call.inputs().is_empty() || !call.total(&call.inputs()).is_ok_and(f64::is_finite) {
            continue;
        }
        match check(&call, &key) {
            Ok(None) => checked += 1,
            Err(_) if REFUSED.contains(&key.as_str()) => {}
            Ok(Some(difference)) => faults.push((key.clone(), difference)),
            Err(error) => {
                match error.to_string().strip_prefix("the derivative for '").and_then(|rest| rest.strip_suffix("' is not implemented.")) {
                    Some(name) => drop(missing.insert(name.to_owned())),
                    None => faults.push((key.clone(), error.to_string())),
                }
            }
        }
    }
    println!("{checked} samples checked");
    let mut report = unexplained(faults, NOT_DIFFERENCES);
    for name in missing.iter().filter(|name| !MISSING.contains(&name.replace("_.", ".").trim_end_matches('_'))) {
        report += &format!("{name}: no gradient rule\n");
    }
    assert!(report.is_empty(), "{} faults:\n{report}", report.lines().count());
    assert!(checked > 600, "only {checked} samples were checked");
}

#[test]
fn missing_rules_are_listed() {
    let missing: Vec<&str> = registry()
        .entries()
        .iter()
        .filter(|entry| matches!(entry.op.0.gradient, Gradient::Missing) && !matches!(entry.op.0.meaning, Meaning::Mutate { .. }))
        .map(|entry| entry.op.name())
        .collect();
    let mut listed = MISSING.to_vec();
    listed.sort_unstable();
    let mut found = missing;
    found.sort_unstable();
    assert_eq!(found, listed, "ops without a gradient");
}

/// The gradients of one call against the line of the file; `None` where they agree.
fn against_pytorch(entry: &'static Entry, text: &str, line: &serde_json::Value) -> Option<String> {
    let wanted = line["grads"].as_array()?;
    let grads = Call::new(entry, text, false).and_then(|call| call.gradients(&call.inputs(), false));
    let (_, leaves, grads) = match grads {
        Ok(found) => found,
        Err(error) => return Some(format!("error: {error}")),
    };
    if grads.len() != wanted.len() {
        return Some(format!("{} gradients, PyTorch has {}", grads.len(), wanted.len()));
    }
    leaves.iter().zip(&grads).zip(wanted).enumerate().find_map(|(k, ((leaf, grad), wanted))| {
        let dtype = leaf.data.dtype();
        let wanted = floats(wanted);
        let Some(grad) = grad else {
            // PyTorch answers None or zeros, by which of its formulas applies; both say that nothing depends on the input.
            return wanted.iter().any(|x| *x != 0.0).then(|| format!("gradient {k} is missing"));
        };
        let numbers = grad.data.numbers().unwrap();
        let units = if dtype.is_half() { 2.0 } else { 64.0 };
        let difference = match wanted.is_empty() && !numbers.is_empty() {
            true => compare_numbers(&numbers, &vec![0.0; 2 * numbers.len()], 0.0),
            false => compare_numbers(&numbers, &wanted, units * epsilon(dtype)),
        };
        difference.map(|difference| format!("gradient {k}: {difference}"))
    })
}

#[test]
fn gradients_match_pytorch() {
    let golden = golden();
    let (mut faults, mut compared) = (vec![], 0);
    let calls = samples().map(|(entry, text)| (entry, text.to_owned())).chain(edges());
    for (entry, text) in calls {
        let key = key(entry, &text);
        let Some(line) = golden.get(&key) else {
            faults.push((key, "no golden numbers; see fixtures/ops/make.py".to_owned()));
            continue;
        };
        if line["grads"].is_array() {
            compared += 1;
        }
        if let Some(difference) = against_pytorch(entry, &text, line) {
            faults.push((key, difference));
        }
    }
    println!("{compared} samples compared");
    let report = unexplained(faults, NOT_PYTORCH);
    assert!(report.is_empty(), "{} samples differ:\n{report}", report.lines().count());
    assert!(compared > 500, "only {compared} samples have gradients");
}
