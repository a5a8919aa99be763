//! A graph's run commits or has done nothing.

use taipan_ir::{graph::Graph, text};
use taipan_tensor::{
    Context, Tensor,
    evaluate::{Plan, evaluate},
    registry,
};

/// Two writes to an input, one of them through a view, a draw, and a read of what was written.
const WRITES: &str = "
  a : f32[2,3] = input x
  b : f32[3] = select a, 0, 1
  c : f32[3] = mul b, 2
  d : f32[3] = copy_ b, c
  e : f32[2,3] = rand [2, 3]
  f : f32[2,3] = add_ a, e
  g : f32[] = sum f
  return g, d
";

fn graph(text: &str) -> Graph {
    text::parse(text, registry()).unwrap()
}

fn input() -> Tensor {
    Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]).unwrap()
}

fn draw(cx: &mut Context) -> u32 {
    cx.generators.get(0).unwrap().bits32()
}

#[test]
fn a_run_gives_what_the_ops_give() {
    let x = input();
    let mut cx = Context::with_threads(1);
    let outputs = evaluate(&mut cx, &graph(WRITES), std::slice::from_ref(&x)).unwrap().commit();
    let after = x.to_vec::<f32>().unwrap();
    let row: Vec<f32> = after[3..].to_vec();
    assert_eq!(outputs[1].to_vec::<f32>().unwrap(), row);
    assert!(std::ptr::eq(outputs[1].storage().as_ref(), x.storage().as_ref()), "a view of the input stays one");
    let sum: f32 = after.iter().sum();
    assert!((outputs[0].item().unwrap().as_f64() - f64::from(sum)).abs() < 1e-4);
    assert!(x.storage().version() >= 2);
}

#[test]
fn a_failure_at_any_node_changes_nothing() {
    let graph = graph(WRITES);
    let plan = Plan::new(&graph);
    for node in 0..graph.nodes().len() {
        let x = input();
        let mut cx = Context::with_threads(1);
        cx.generators.seed(7);
        let expected = {
            let mut other = Context::with_threads(1);
            other.generators.seed(7);
            draw(&mut other)
        };
        let failed = plan.run(&mut cx, std::slice::from_ref(&x), Some(node));
        assert!(failed.is_err());
        assert_eq!(x.to_vec::<f32>().unwrap(), input().to_vec::<f32>().unwrap(), "after a failure at node {node}");
        assert_eq!(x.storage().version(), 0);
        assert_eq!(draw(&mut cx), expected, "the stream after a failure at node {node}");
    }
}

#[test]
fn a_run_can_be_taken_back() {
    let x = input();
    let mut cx = Context::with_threads(1);
    cx.generators.seed(3);
    let ran = evaluate(&mut cx, &graph(WRITES), std::slice::from_ref(&x)).unwrap();
    assert_ne!(x.to_vec::<f32>().unwrap(), input().to_vec::<f32>().unwrap());
    ran.take_back(&mut cx);
    assert_eq!(x.to_vec::<f32>().unwrap(), input().to_vec::<f32>().unwrap());
    assert_eq!(x.storage().version(), 0);
    let first = draw(&mut cx);
    cx.generators.seed(3);
    assert_eq!(first, draw(&mut cx));
}

#[test]
fn inputs_that_share_a_storage_see_each_others_writes() {
    let base = input();
    let row = base.with_layout(base.dtype(), &[3], &[1], 3);
    let text = "
  a : f32[2,3] = input x
  b : f32[3] offset 3 = input row
  c : f32[2,3] = mul_ a, 10
  d : f32[3] = add b, 1
  return d
";
    let mut cx = Context::with_threads(1);
    let outputs = evaluate(&mut cx, &graph(text), &[base, row]).unwrap().commit();
    assert_eq!(outputs[0].to_vec::<f32>().unwrap(), [41.0, 51.0, 61.0]);
}

#[test]
fn a_wrong_number_of_inputs_is_an_error() {
    let mut cx = Context::with_threads(1);
    let error = evaluate(&mut cx, &graph(WRITES), &[]).err().unwrap();
    assert_eq!(error.to_string(), "the graph takes 1 inputs but 0 were given");
}
