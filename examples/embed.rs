//! A Rust program around a PyTorch script: loads the GPT, compiles it, and reads its logits back.
//!
//! ```sh
//! cargo run --release --example embed
//! ```

fn main() -> Result<(), taipan::Error> {
    let engine = taipan::Engine::builder().stdout(std::io::sink()).build()?;
    let script = engine.load("fixtures/programs/gpt.py")?;
    let model = script.get("model")?.compile()?;

    let letters: String = script.get("LETTERS")?.call_method("lower", ())?;
    let prompt = "the quick brown fox jumps over a";
    let tokens: Vec<i64> = prompt.chars().filter_map(|letter| letters.find(letter)).map(|index| index as i64).collect();
    let tokens = taipan::tensor(&tokens, &[1, tokens.len() as i64])?;

    let (logits, _loss): (taipan::Tensor, taipan::Value) = model.call((tokens,))?;
    let last: Vec<f32> = logits.to_vec::<f32>()?.split_off(logits.numel() - letters.len());
    let best = last.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(index, _)| index);
    println!("{:?}: {prompt:?} goes on with {:?}", logits.sizes(), letters.chars().nth(best).unwrap_or(' '));
    Ok(())
}
