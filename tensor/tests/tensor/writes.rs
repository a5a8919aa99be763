//! Writes, views and storages.

use taipan_ir::{Arg, Dim, Number};
use taipan_tensor::{Context, Tensor, registry, run};

fn op(name: &str, args: &[Arg<Tensor>]) -> Result<Tensor, taipan_ir::OpError> {
    let entry = registry().find(name).unwrap();
    let mut all = args.to_vec();
    all.extend(taipan_tensor::ops::call::defaults(&entry.schema, args.len()));
    run(&mut Context::with_threads(1), entry.op, &all).map(|mut r| r.remove(0))
}

fn t(x: &Tensor) -> Arg<Tensor> {
    Arg::Tensor(x.clone())
}

#[test]
fn a_write_goes_through_a_view_and_counts() {
    let x = Tensor::from_slice(&[1i64, 2, 3, 4], &[2, 2]).unwrap();
    let turned = op("transpose.int", &[t(&x), Arg::Int(Dim::Is(0)), Arg::Int(Dim::Is(1))]).unwrap();
    op("add_.Tensor", &[t(&turned), Arg::Tensor(Tensor::from_slice(&[10i64, 20], &[2]).unwrap())]).unwrap();
    assert_eq!(x.to_vec::<i64>().unwrap(), [11, 12, 23, 24]);
    assert_eq!(x.storage().version(), 1);
}

#[test]
fn overlapping_source_and_target_are_refused() {
    let x = Tensor::from_slice(&[1i32, 2, 3, 4], &[4]).unwrap();
    let (head, tail) = (x.with_layout(x.dtype(), &[3], &[1], 0), x.with_layout(x.dtype(), &[3], &[1], 1));
    let error = op("copy_", &[t(&tail), t(&head)]).unwrap_err();
    assert!(error.to_string().starts_with("unsupported operation: some elements of the input tensor and the written-to tensor"));
    assert_eq!(x.to_vec::<i32>().unwrap(), [1, 2, 3, 4]);
}

#[test]
fn an_expanded_target_is_refused() {
    let x = Tensor::zeros(taipan_ir::DType::F32, &[1]);
    let wide = op("expand", &[t(&x), Arg::Ints([Dim::Is(3)].into_iter().collect())]).unwrap();
    let error = op("add_.Tensor", &[t(&wide), Arg::Number(Number::Int(1))]).unwrap_err();
    assert!(error.to_string().starts_with("unsupported operation: more than one element of the written-to tensor"));
}

#[test]
fn reading_beyond_a_shrunk_storage_is_an_error() {
    let x = Tensor::from_slice(&[1.0f32, 2.0], &[2]).unwrap();
    x.storage().resize(4);
    let error = op("neg", &[t(&x)]).unwrap_err();
    assert!(error.to_string().contains("are out of bounds for storage of size 4"), "{error}");
    x.storage().resize(8);
    assert_eq!(op("neg", &[t(&x)]).unwrap().to_vec::<f32>().unwrap(), [-1.0, -0.0]);
}

#[test]
fn an_integer_division_by_zero_is_an_error() {
    let x = Tensor::from_slice(&[1i64, 2], &[2]).unwrap();
    let error = op("floor_divide", &[t(&x), Arg::Number(Number::Int(0))]).unwrap_err();
    assert_eq!(error.to_string(), "ZeroDivisionError");
}

#[test]
fn asking_for_too_much_memory_is_an_error() {
    let sizes = |d: &[i64]| Arg::Ints(d.iter().map(|n| Dim::Is(*n)).collect());
    let error = op("zeros", &[sizes(&[1 << 40, 1 << 40])]).unwrap_err();
    assert_eq!(error.to_string(), "Storage size calculation overflowed with sizes=[1099511627776, 1099511627776]");
    let error = op("zeros", &[sizes(&[1 << 50])]).unwrap_err();
    assert!(error.to_string().contains("you tried to allocate 4503599627370496 bytes"), "{error}");
}

#[test]
fn sizes_below_zero_are_errors() {
    let sizes = |d: &[i64]| Arg::Ints(d.iter().map(|n| Dim::Is(*n)).collect());
    let x = Tensor::zeros(taipan_ir::DType::F32, &[1]);
    for (name, args) in [
        ("zeros", vec![sizes(&[-1])]),
        ("expand", vec![t(&x), sizes(&[-2])]),
        ("as_strided", vec![t(&x), sizes(&[-2, -2]), sizes(&[1, 1])]),
        ("as_strided", vec![t(&x), sizes(&[2]), sizes(&[-1])]),
        ("repeat", vec![t(&x), sizes(&[-1])]),
        ("eye", vec![Arg::Int(Dim::Is(-1))]),
    ] {
        assert!(op(name, &args).is_err(), "{name}");
    }
}
