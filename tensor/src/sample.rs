//! Sample calls: the argument lists that stand in op blocks, as operands with real tensors.
//!
//! `fixtures/ops/make.py` describes the language and has the same formula for the elements.

use crate::{Context, Tensor, run, storage::Bytes};
use std::panic::{AssertUnwindSafe, catch_unwind};
use taipan_ir::{
    DType, Dim, MemoryFormat, Number,
    bind::{CallForm, Operand, bind},
    op::Entry,
};

/// The arguments of one call: positional ones, and named ones.
pub struct Call<'a> {
    /// In order.
    pub args: Vec<Operand<Tensor>>,
    /// By name.
    pub named: Vec<(&'a str, Operand<Tensor>)>,
}

/// The element types with which an op runs: those for which one of its samples does when its main tensors are of that type. Empty for
/// an op without samples.
pub fn dtypes(entry: &'static Entry) -> Vec<DType> {
    let mut cx = Context::with_threads(1);
    DType::ALL
        .into_iter()
        .filter(|dtype| entry.op.0.samples.iter().any(|sample| runs(&mut cx, entry, &with_dtype(sample, *dtype))))
        .collect()
}

fn runs(cx: &mut Context, entry: &'static Entry, text: &str) -> bool {
    let Ok(call) = parse(text) else { return false };
    match bind(entry.schema.base, CallForm::Function, std::iter::once(entry), &call.args, &call.named) {
        // A kernel that can't stand the type at all doesn't run with it either.
        Ok(bound) => catch_unwind(AssertUnwindSafe(|| run(cx, bound.op, &bound.args).is_ok())).unwrap_or(false),
        Err(_) => false,
    }
}

/// The sample with its tensors of the first one's type made of another type.
fn with_dtype(sample: &str, dtype: DType) -> String {
    let own =
        split(sample).into_iter().find_map(|part| part.trim_start_matches('[').split_once('[').and_then(|(name, _)| DType::parse(name)));
    match own {
        Some(own) => sample.replace(&format!("{own}["), &format!("{dtype}[")),
        None => sample.to_owned(),
    }
}

/// Reads an argument list; the error says which part can't be read.
pub fn parse(text: &str) -> Result<Call<'_>, String> {
    let mut tensors = 0;
    let mut call = Call { args: vec![], named: vec![] };
    for part in split(text) {
        match part.split_once('=') {
            Some((name, value)) if name.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                call.named.push((name, operand(value, &mut tensors)?))
            }
            _ => call.args.push(operand(part, &mut tensors)?),
        }
    }
    Ok(call)
}

/// The parts of a list, at commas outside brackets and quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut quoted, mut start) = (vec![], 0, false, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '\'' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

fn operand(text: &str, tensors: &mut i64) -> Result<Operand<Tensor>, String> {
    if let Some(inside) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        return Ok(Operand::List(split(inside).into_iter().map(|part| operand(part, tensors)).collect::<Result<_, _>>()?, false));
    }
    if let Some(word) = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')) {
        return Ok(Operand::Str(word.into()));
    }
    if let Some(dtype) = DType::parse(text) {
        return Ok(Operand::DType(dtype));
    }
    Ok(match text {
        "True" => Operand::Bool(true),
        "False" => Operand::Bool(false),
        "None" => Operand::None,
        "contiguous_format" => Operand::MemoryFormat(MemoryFormat::Contiguous),
        "channels_last" => Operand::MemoryFormat(MemoryFormat::ChannelsLast),
        "preserve_format" => Operand::MemoryFormat(MemoryFormat::Preserve),
        _ => match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(n), _) => Operand::Int(Dim::Is(n)),
            (_, Ok(x)) => Operand::Float(x),
            _ => {
                *tensors += 1;
                Operand::Tensor(tensor(text, *tensors - 1).ok_or_else(|| format!("`{text}` is no argument"))?)
            }
        },
    })
}

/// `f32<1.5 nan>`, a vector of these numbers; or `f32[2,3]`, transposed with `.t`, positive with `+`, integers below 4 with `%4`; the `position`-th tensor of its call.
fn tensor(text: &str, position: i64) -> Option<Tensor> {
    if let Some((dtype, numbers)) = text.strip_suffix('>').and_then(|text| text.split_once('<')) {
        let numbers: Vec<Number> = numbers.split(' ').map(|x| x.parse().ok().map(Number::Float)).collect::<Option<_>>()?;
        return Some(from_numbers(DType::parse(dtype)?, &[numbers.len() as i64], &numbers));
    }
    let (dtype, rest) = text.split_once('[')?;
    let (sizes, mut suffix) = rest.split_once(']')?;
    let dtype = DType::parse(dtype)?;
    let sizes: Vec<i64> = split(sizes).into_iter().map(|size| size.parse().ok()).collect::<Option<_>>()?;
    let transposed = suffix.strip_prefix(".t").inspect(|rest| suffix = rest).is_some();
    let positive = suffix.strip_prefix('+').inspect(|rest| suffix = rest).is_some();
    let modulus: i64 = suffix.strip_prefix('%').map_or(Some(0), |n| n.parse().ok())?;
    let count: i64 = sizes.iter().product();
    let numbers: Vec<Number> = (0..count).map(|i| element(dtype, i, position, positive, modulus)).collect();
    let built = from_numbers(dtype, &sizes, &numbers);
    let rank = sizes.len();
    let order: Vec<usize> = (0..rank).map(|d| if transposed && d + 2 >= rank { 2 * rank - 3 - d } else { d }).collect();
    Some(if transposed { built.permuted(&order) } else { built })
}

fn element(dtype: DType, i: i64, position: i64, positive: bool, modulus: i64) -> Number {
    let mixed = (i * i * 31 + i * 7919 + (position + 1) * 104_729) % 10_007;
    match dtype {
        DType::Bool => Number::Bool(mixed % 2 == 1),
        _ if dtype.is_complex() => {
            let part = |shift: i64| element(dtype.real(), i + shift, position, positive, modulus).as_f64();
            Number::Complex(part(0), part(5000))
        }
        _ if dtype.is_float() && positive => Number::Float((mixed + 1) as f64 / 5003.5),
        _ if dtype.is_float() => Number::Float(mixed as f64 / 2501.75 - 2.0),
        _ if modulus > 0 => Number::Int(mixed % modulus),
        _ if positive => Number::Int(mixed % 5 + 1),
        DType::U8 => Number::Int(mixed % 7),
        _ => Number::Int(mixed % 7 - 3),
    }
}

/// A row-major tensor of these numbers.
fn from_numbers(dtype: DType, sizes: &[i64], numbers: &[Number]) -> Tensor {
    let mut bytes = vec![];
    for number in numbers {
        let one = Tensor::full(dtype, &[], *number);
        bytes.extend_from_slice(&one.storage().read().elements::<u8>()[..dtype.size()]);
    }
    let mut all = Bytes::zeroed(bytes.len());
    all.elements_mut::<u8>().copy_from_slice(&bytes);
    Tensor::from_bytes(dtype, sizes, all)
}
