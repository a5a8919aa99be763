//! Sample calls: the language op blocks write them in, and the tensors it stands for.
//!
//! A sample is an argument list in the text form of graphs, except that a tensor is written by its facts:
//!
//! ```text
//! f32[2,3]      elements by the formula below
//! f32[2,3]+     the same made positive: between 0.1 and 1.9
//! i64[4]%5      whole numbers 0 to 4 (indices)
//! f32[4]^       ascending
//! f32[2,3].t    of that size transposed: the result has sizes [3,2] and strides [1,3]
//! ```
//! Tensors of one sample are numbered from 0 in the order they stand. Element `k` of tensor number `n` comes from
//! `r = (k * 7919 + n * 104729 + 12345) mod 2003`:
//!
//! - floats: `(r - 1001) / 500`, so between about -2 and 2; with `+`: `0.1 + r / 1112.8`; with `^`: `-2 + 0.7 * k`;
//! - integers: `r mod 11 - 5`, for `u8` `r mod 11`; with `+`: `r mod 11 + 1`; with `%m`: `r mod m`; with `^`: `k`;
//! - `bool`: `r mod 2 == 1`.
//!
//! Golden numbers for samples are files of one JSON object a line: `{"op": "add.Tensor", "sample": "f32[2,3], 2", "outputs": [{"dtype":
//! "f32", "sizes": [2, 3], "strides": [3, 1], "values": [...]}]}`, or `"error": ["RuntimeError", "text"]` in place of `outputs`.
//! Values are numbers, or the strings `nan`, `inf`, `-inf`.

use crate::{Tensor, tensor::plain_number, with_plain};
use taipan_ir::{Arg, DType, Number, Val, op::Entry, text};

/// Reads a sample of an op into one argument per parameter.
///
/// # Errors
/// Where the text is no argument list of that op.
pub fn arguments(entry: &Entry, sample: &str) -> Result<Vec<Arg<Tensor>>, String> {
    let mut tensors = vec![];
    let text = replace_tensors(sample, &mut tensors)?;
    let args = text::parse_args(&entry.schema.params, &text)?;
    Ok(args.iter().map(|a| a.map(|v: &Val| tensors[v.0 as usize].clone())).collect())
}

/// The sample with each tensor replaced by the name of a value.
fn replace_tensors(sample: &str, tensors: &mut Vec<Tensor>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = sample;
    while !rest.is_empty() {
        let starts_word = out.chars().last().is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_' && c != '\'');
        if starts_word && let Some((tensor, length)) = tensor_at(rest, tensors.len()) {
            out.push_str(&Val(tensors.len() as u32).to_string());
            tensors.push(tensor);
            rest = &rest[length..];
            continue;
        }
        let c = rest.chars().next().ok_or("empty")?;
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    Ok(out)
}

/// A tensor at the start of the text, and how long its text is.
fn tensor_at(text: &str, number: usize) -> Option<(Tensor, usize)> {
    let open = text.find('[')?;
    let dtype = DType::parse(&text[..open])?;
    let close = open + text[open..].find(']')?;
    let inner = &text[open + 1..close];
    let sizes: Vec<i64> = match inner {
        "" => vec![],
        _ => inner.split(',').map(|n| n.trim().parse().ok()).collect::<Option<_>>()?,
    };
    let mut end = close + 1;
    let (mut kind, mut modulus) = (' ', 0);
    let tail = &text[end..];
    if let Some(k) = tail.chars().next().filter(|c| matches!(c, '+' | '^')) {
        kind = k;
        end += 1;
    } else if let Some(digits) = tail.strip_prefix('%') {
        kind = '%';
        let count = digits.chars().take_while(char::is_ascii_digit).count();
        modulus = digits[..count].parse().ok()?;
        end += 1 + count;
    }
    let tensor = filled(dtype, &sizes, number, kind, modulus);
    if text[end..].starts_with(".t") {
        let order: Vec<usize> = (0..sizes.len()).rev().collect();
        return Some((tensor.permuted(&order), end + 2));
    }
    Some((tensor, end))
}

fn filled(dtype: DType, sizes: &[i64], number: usize, kind: char, modulus: i64) -> Tensor {
    let element = |k: usize| {
        let r = ((k * 7919 + number * 104_729 + 12_345) % 2003) as i64;
        match (dtype, kind) {
            (DType::Bool, _) => Number::Bool(r % 2 == 1),
            (d, '+') if d.is_float() => Number::Float(0.1 + r as f64 / 1112.8),
            (d, '^') if d.is_float() => Number::Float(-2.0 + 0.7 * k as f64),
            (d, _) if d.is_float() => Number::Float((r - 1001) as f64 / 500.0),
            (_, '%') => Number::Int(r % modulus.max(1)),
            (_, '+') => Number::Int(r % 11 + 1),
            (_, '^') => Number::Int(k as i64),
            (DType::U8, _) => Number::Int(r % 11),
            _ => Number::Int(r % 11 - 5),
        }
    };
    with_plain!(dtype, T => Tensor::build(dtype, sizes, |out: &mut [T]| {
        out.iter_mut().enumerate().for_each(|(k, o)| *o = plain_number(dtype, element(k)));
    }))
}
