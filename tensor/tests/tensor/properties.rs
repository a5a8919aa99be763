//! What holds for tensors of any size and layout.

use proptest::prelude::*;
use taipan_ir::{Arg, DType, Dim, Number};
use taipan_tensor::{Context, Tensor, registry, run};

fn op(threads: usize, name: &str, args: &[Arg<Tensor>]) -> Result<Tensor, taipan_ir::OpError> {
    let entry = registry().find(name).unwrap();
    let mut all = args.to_vec();
    all.extend(taipan_tensor::ops::call::defaults(&entry.schema, args.len()));
    run(&mut Context::with_threads(threads), entry.op, &all).map(|mut r| r.remove(0))
}

fn counted(sizes: &[i64]) -> Tensor {
    let n: i64 = sizes.iter().product();
    let elements: Vec<f32> = (0..n).map(|i| ((i * 7919) % 1013) as f32 * 0.01 - 5.0).collect();
    Tensor::from_slice(&elements, sizes).unwrap()
}

fn bits(x: &Tensor) -> Vec<u32> {
    x.to_vec::<f32>().unwrap().iter().map(|v| v.to_bits()).collect()
}

/// Sizes of up to four dims, and for each a choice of being one in the first, in the second, or in neither of two tensors.
fn broadcastable() -> impl Strategy<Value = Vec<(i64, u8)>> {
    prop::collection::vec((1i64..5, 0u8..3), 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn broadcasting_repeats_elements(shape in broadcastable(), drop in 0usize..3, turn in any::<bool>()) {
        let of = |which: u8| shape.iter().map(|(n, c)| if *c == which { 1 } else { *n }).collect::<Vec<i64>>();
        let (a_sizes, mut b_sizes) = (of(0), of(1));
        b_sizes.drain(..drop.min(b_sizes.len()));
        let mut a = counted(&a_sizes);
        if turn && a_sizes.len() >= 2 {
            // The same sizes over a transposed memory.
            let mut order: Vec<usize> = (0..a_sizes.len()).collect();
            order.swap(0, 1);
            a = a.permuted(&order).copied().unwrap().permuted(&order);
        }
        let b = counted(&b_sizes);
        let sum = op(1, "add.Tensor", &[Arg::Tensor(a.clone()), Arg::Tensor(b.clone())]).unwrap();
        let sizes = sum.sizes().to_vec();
        let (wide_a, wide_b) = (a.broadcast_to(&sizes).to_vec::<f32>().unwrap(), b.broadcast_to(&sizes).to_vec::<f32>().unwrap());
        let expected: Vec<f32> = wide_a.iter().zip(&wide_b).map(|(x, y)| x + y).collect();
        prop_assert_eq!(sum.to_vec::<f32>().unwrap(), expected);
    }

    #[test]
    fn promotion_does_not_depend_on_the_order(a in 0usize..10, b in 0usize..10, a_zero in any::<bool>(), b_zero in any::<bool>()) {
        let make = |k: usize, zero: bool| Tensor::full(DType::ALL[k], if zero { &[] } else { &[2] }, Number::Int(1));
        let (x, y) = (Arg::Tensor(make(a, a_zero)), Arg::Tensor(make(b, b_zero)));
        let (p, q) = (op(1, "mul.Tensor", &[x.clone(), y.clone()]).unwrap(), op(1, "mul.Tensor", &[y, x]).unwrap());
        prop_assert_eq!(p.dtype(), q.dtype());
        if a_zero == b_zero {
            prop_assert_eq!(p.dtype(), DType::ALL[a].promote(DType::ALL[b]));
        }
    }

    #[test]
    fn views_reach_the_elements_they_name(rows in 1i64..6, columns in 1i64..6, start in 0i64..6, step in 1i64..4) {
        let x = counted(&[rows, columns]);
        let turned = op(1, "t", &[Arg::Tensor(x.clone())]).unwrap();
        let args = [Arg::Tensor(turned), Arg::Int(Dim::Is(0)), Arg::Int(Dim::Is(start)), Arg::Absent, Arg::Int(Dim::Is(step))];
        let sliced = op(1, "slice.Tensor", &args).unwrap();
        let elements = x.to_vec::<f32>().unwrap();
        let kept = (start.min(columns)..columns).step_by(step as usize);
        let expected: Vec<f32> = kept.flat_map(|c| (0..rows).map(move |r| (r, c))).map(|(r, c)| elements[(r * columns + c) as usize]).collect();
        prop_assert_eq!(sliced.to_vec::<f32>().unwrap(), expected);
        prop_assert!(std::ptr::eq(sliced.storage().as_ref(), x.storage().as_ref()));
    }
}

#[test]
fn the_number_of_threads_shows_nowhere() {
    let x = counted(&[97, 1201]);
    let w = counted(&[61, 1201]);
    let dims = |d: &[i64]| Arg::Ints(d.iter().map(|n| Dim::Is(*n)).collect());
    let calls: Vec<(&str, Vec<Arg<Tensor>>)> = vec![
        ("sum", vec![Arg::Tensor(x.clone())]),
        ("sum.dim_IntList", vec![Arg::Tensor(x.clone()), dims(&[0])]),
        ("sum.dim_IntList", vec![Arg::Tensor(x.clone()), dims(&[1])]),
        ("var.correction", vec![Arg::Tensor(x.clone()), dims(&[1])]),
        ("softmax.int", vec![Arg::Tensor(x.clone()), Arg::Int(Dim::Is(-1))]),
        ("layer_norm", vec![Arg::Tensor(x.clone()), dims(&[1201])]),
        ("gelu", vec![Arg::Tensor(x.clone())]),
        ("linear", vec![Arg::Tensor(x), Arg::Tensor(w)]),
    ];
    for (name, args) in calls {
        let one = bits(&op(1, name, &args).unwrap());
        for threads in [2, 3, 5] {
            assert!(one == bits(&op(threads, name, &args).unwrap()), "{name} on {threads} threads");
        }
    }
}

#[test]
fn sums_of_a_million_are_accurate() {
    let n = 1_000_000;
    let elements: Vec<f32> = (0..n).map(|i| ((i as i64 * 48271) % 65537) as f32 / 65537.0).collect();
    let exact: f64 = elements.iter().map(|x| f64::from(*x)).sum();
    let x = Tensor::from_slice(&elements, &[n as i64]).unwrap();
    let sum = op(2, "sum", &[Arg::Tensor(x)]).unwrap().item().unwrap().as_f64();
    assert!((sum - exact).abs() / exact < 1e-6, "{sum} {exact}");
}

#[test]
fn numbers_beside_half_types_round_as_elements_do() {
    let values = [
        0.1f32,
        -0.3,
        1e-7,
        6e-8,
        2.98e-8,
        2.99e-8,
        -3e-6,
        6.1e-5,
        65519.9,
        65520.0,
        -70000.0,
        1e30,
        3.3e38,
        1.0 / 3.0,
        2049.0,
        f32::INFINITY,
    ];
    for dtype in [DType::F16, DType::BF16] {
        for v in values {
            // One way rounds the number where it stands, the other the zero-dim tensor as it is read.
            let element = Tensor::full(dtype, &[2], Number::Float(f64::from(v)));
            for other in [Arg::Number(Number::Float(f64::from(v))), Arg::Tensor(Tensor::scalar(v))] {
                let same = op(1, "eq.Tensor", &[Arg::Tensor(element.clone()), other]).unwrap();
                assert_eq!(same.to_vec::<bool>().unwrap(), [true, true], "{v} as {dtype}");
            }
        }
    }
}
