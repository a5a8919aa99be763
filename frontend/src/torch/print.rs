//! How tensors print: PyTorch's rules for widths, precision, scientific form and summaries.
//!
//! Works on plain numbers, so it knows neither Python nor kernels.

use std::fmt::Write;
use taipan_ir::{DType, number::float_text};

/// What `torch.set_printoptions` sets.
#[derive(Clone, Debug, PartialEq)]
pub struct PrintOptions {
    /// Digits after the point.
    pub precision: usize,
    /// More elements than this are summarised.
    pub threshold: usize,
    /// Elements shown at each end of a summarised dim.
    pub edge_items: usize,
    /// Characters per line.
    pub line_width: usize,
    /// Scientific form always or never; `None` decides by the values.
    pub scientific: Option<bool>,
}

impl Default for PrintOptions {
    fn default() -> Self {
        Self { precision: 4, threshold: 1000, edge_items: 3, line_width: 80, scientific: None }
    }
}

/// A tensor's elements in row-major order, by kind.
#[derive(Clone, Debug)]
pub enum Elements {
    /// `bool`.
    Bools(Vec<bool>),
    /// Any integer type.
    Ints(Vec<i64>),
    /// Any floating-point type.
    Floats(Vec<f64>),
    /// Any complex type: real and imaginary parts.
    Complexes(Vec<(f64, f64)>),
}

/// What to print.
pub struct Printed<'a> {
    /// Element type.
    pub dtype: DType,
    /// Sizes.
    pub sizes: &'a [i64],
    /// The elements, or those of the summary's corners.
    pub elements: &'a Elements,
    /// The default dtype in force, which isn't mentioned.
    pub default_dtype: DType,
    /// `tensor(`, or the name of the subclass.
    pub prefix: &'a str,
    /// Device, where it isn't the CPU.
    pub device: Option<String>,
    /// `requires_grad=True` or `grad_fn=<…>`.
    pub gradient: Option<String>,
}

/// The whole of `repr(tensor)`.
pub fn tensor_text(printed: &Printed<'_>, options: &PrintOptions) -> String {
    let count: i64 = printed.sizes.iter().product();
    let indent = printed.prefix.chars().count();
    let mut suffixes = Vec::new();
    if let Some(device) = &printed.device {
        suffixes.push(format!("device='{device}'"));
    }
    let dtype = || format!("dtype=torch.{}", printed.dtype.torch_name());
    let body = if count == 0 {
        if printed.sizes.len() != 1 {
            suffixes.push(format!("size={}", tuple_text(printed.sizes)));
        }
        if printed.dtype != printed.default_dtype {
            suffixes.push(dtype());
        }
        "[]".to_owned()
    } else {
        let complex = printed.dtype == printed.default_dtype.complex();
        if printed.dtype != printed.default_dtype && !complex && !matches!(printed.dtype, DType::I64 | DType::Bool) {
            suffixes.push(dtype());
        }
        body_text(printed, options, indent, count as usize > options.threshold)
    };
    suffixes.extend(printed.gradient.clone());
    with_suffixes(format!("{}{body}", printed.prefix), &suffixes, indent, options.line_width)
}

/// `(2, 3)`, as Python writes a tuple.
pub fn tuple_text(sizes: &[i64]) -> String {
    match sizes {
        [one] => format!("({one},)"),
        sizes => format!("({})", sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

fn with_suffixes(mut text: String, suffixes: &[String], indent: usize, line_width: usize) -> String {
    let start = text.rfind('\n').map_or(0, |at| at + 1);
    // PyTorch counts two characters more than the line has.
    let mut line = text[start..].chars().count() + 2;
    for suffix in suffixes {
        if line + suffix.len() + 2 > line_width {
            let _ = write!(text, ",\n{:indent$}{suffix}", "");
            line = indent + suffix.len();
        } else {
            let _ = write!(text, ", {suffix}");
            line += suffix.len() + 2;
        }
    }
    text.push(')');
    text
}

fn body_text(printed: &Printed<'_>, options: &PrintOptions, indent: usize, summarize: bool) -> String {
    let shown: Vec<usize> = printed
        .sizes
        .iter()
        .map(|size| {
            let size = *size as usize;
            if summarize && size > 2 * options.edge_items { 2 * options.edge_items } else { size }
        })
        .collect();
    let complete: Vec<bool> = shown.iter().zip(printed.sizes).map(|(shown, size)| *shown == *size as usize).collect();
    let formatter = Formatter::new(printed.elements, options);
    let layout = Layout { shown: &shown, complete: &complete, formatter: &formatter, options, elements: printed.elements };
    layout.text(0, 0, indent)
}

/// The elements that a summary shows, as indices along one dim of this size.
pub fn shown_indices(size: usize, options: &PrintOptions) -> Vec<usize> {
    let edge = options.edge_items;
    if size > 2 * edge { (0..edge).chain(size - edge..size).collect() } else { (0..size).collect() }
}

/// The nested brackets of a tensor whose (possibly summarised) elements lie row-major.
struct Layout<'a> {
    shown: &'a [usize],
    complete: &'a [bool],
    formatter: &'a Formatter,
    options: &'a PrintOptions,
    elements: &'a Elements,
}

impl Layout<'_> {
    /// The text from `dim` inwards, of the elements from `first` on.
    fn text(&self, dim: usize, first: usize, indent: usize) -> String {
        let Some((&count, inner)) = self.shown[dim..].split_first() else {
            return self.formatter.text(self.elements, first);
        };
        let size: usize = inner.iter().product();
        let item = |index: usize| match inner.is_empty() {
            true => self.formatter.text(self.elements, first + index),
            false => self.text(dim + 1, first + index * size, indent + 1),
        };
        let mut items: Vec<String> = (0..count).map(item).collect();
        if !self.complete[dim] {
            items.insert(count / 2, if inner.is_empty() { " ...".to_owned() } else { "...".to_owned() });
        }
        let pad = " ".repeat(indent + 1);
        if inner.is_empty() {
            // The parts of a complex number, and its `j`.
            let width = self.formatter.width + self.formatter.imaginary.as_ref().map_or(0, |imaginary| imaginary.width + 1) + 2;
            let room = self.options.line_width.saturating_sub(indent);
            let per_line = (room / width).max(1);
            let lines: Vec<String> = items.chunks(per_line).map(|line| line.join(", ")).collect();
            return format!("[{}]", lines.join(&format!(",\n{pad}")));
        }
        let breaks = "\n".repeat(self.shown.len() - dim - 1);
        format!("[{}]", items.join(&format!(",{breaks}{pad}")))
    }
}

/// The common form of all elements.
struct Formatter {
    width: usize,
    style: Style,
    precision: usize,
    /// How imaginary parts print.
    imaginary: Option<Box<Formatter>>,
}

enum Style {
    /// Integers and bools.
    Plain,
    /// Floats that are all whole: `2.`.
    Whole,
    /// `0.5000`.
    Fixed,
    /// `5.0000e-01`.
    Scientific,
}

impl Formatter {
    fn new(elements: &Elements, options: &PrintOptions) -> Self {
        let precision = options.precision;
        if let Elements::Complexes(values) = elements {
            let (re, im) = values.iter().copied().unzip();
            let mut formatter = Formatter::new(&Elements::Floats(re), options);
            let imaginary = Formatter::new(&Elements::Floats(im), options);
            formatter.imaginary = Some(Box::new(imaginary));
            return formatter;
        }
        let Elements::Floats(values) = elements else {
            let count = match elements {
                Elements::Bools(values) => values.len(),
                Elements::Ints(values) => values.len(),
                Elements::Floats(values) => values.len(),
                Elements::Complexes(values) => values.len(),
            };
            let plain = Formatter { width: 0, style: Style::Plain, precision, imaginary: None };
            let width = (0..count).map(|index| plain.text(elements, index).len()).max().unwrap_or(1).max(1);
            return Formatter { width, ..plain };
        };
        let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite() && *value != 0.0).collect();
        let mut formatter = Formatter { width: 1, style: Style::Whole, precision, imaginary: None };
        if !finite.is_empty() {
            let (low, high) =
                finite.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value.abs()), high.max(value.abs())));
            let whole = finite.iter().all(|value| value.fract() == 0.0);
            let wide = high / low > 1000.0 || high > 1.0e8;
            let scientific = options.scientific.unwrap_or(wide || (!whole && low < 1.0e-4));
            formatter.style = match (scientific, whole) {
                (true, _) => Style::Scientific,
                (false, true) => Style::Whole,
                (false, false) => Style::Fixed,
            };
            // The point of a whole number counts.
            formatter.width = finite.iter().map(|value| formatter.float(*value).len()).max().unwrap_or(1).max(1);
        }
        formatter
    }

    fn float(&self, value: f64) -> String {
        if !value.is_finite() {
            return float_text(value);
        }
        match self.style {
            Style::Whole => format!("{value:.0}."),
            Style::Scientific => scientific(value, self.precision),
            Style::Plain | Style::Fixed => format!("{value:.*}", self.precision),
        }
    }

    /// The imaginary part isn't padded.
    fn complex(&self, (re, im): (f64, f64)) -> String {
        let (re, im) = (self.float(re), self.imaginary.as_ref().map_or_else(String::new, |imaginary| imaginary.float(im)));
        let sign = if im.starts_with('-') { "" } else { "+" };
        format!("{re:>width$}{sign}{im}j", width = self.width)
    }

    fn text(&self, elements: &Elements, index: usize) -> String {
        let text = match elements {
            Elements::Bools(values) => if values[index] { "True" } else { "False" }.to_owned(),
            Elements::Ints(values) => values[index].to_string(),
            Elements::Floats(values) => self.float(values[index]),
            Elements::Complexes(values) => return self.complex(values[index]),
        };
        format!("{text:>width$}", width = self.width)
    }
}

/// `%.{precision}e` of C: at least two digits of exponent, always a sign.
fn scientific(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{digits}e{sign}{exponent:0>2}")
}

/// `%g` of C: six significant digits, no trailing zeros.
pub(super) fn general(value: f64) -> String {
    let exponent = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        return trim(&format!("{value:.*}", (5 - exponent).max(0) as usize));
    }
    let text = scientific(value, 5);
    match text.split_once('e') {
        Some((digits, exponent)) => format!("{}e{exponent}", trim(digits)),
        None => text,
    }
}
