//! Guard kinds: what was assumed, how it is checked, and how it reads. Each is written once, as a function of the kind.

use crate::source::{Key, SourceId, SourceTable};
use std::rc::Rc;
use taipan_frontend::{
    inspect::{self, Const, Object, Pin, Vm},
    torch::TensorView,
};
use taipan_ir::{DType, Device};

/// An assumption about the value at a source.
#[derive(Clone, Debug)]
pub struct Guard {
    /// Where the value is.
    pub at: SourceId,
    /// What was assumed.
    pub check: Check,
    /// Line of the script that needed it; 0 where there is none.
    pub line: u32,
}

/// An expected object, and what messages call it, also when it is gone.
#[derive(Clone, Debug)]
pub struct Expected {
    pin: Pin,
    shown: Rc<str>,
}

impl Expected {
    /// Expects an object.
    pub fn new(object: &Object, vm: &Vm) -> Self {
        Self { pin: Pin::new(object, vm), shown: inspect::describe(object, vm).into() }
    }

    /// Expects a class, shown by its name.
    pub fn class(class: &Object, vm: &Vm) -> Self {
        Self { pin: Pin::new(class, vm), shown: inspect::class_name(class).into() }
    }

    /// The object, held without keeping it alive.
    pub fn pin(&self) -> &Pin {
        &self.pin
    }
}

/// A guard kind with what it expects.
#[derive(Clone, Debug)]
pub enum Check {
    /// The exact class.
    Type(Expected),
    /// The very object.
    Is(Expected),
    /// An exact constant of the same type and bits.
    Equals(Const),
    /// Nothing is there.
    Absent,
    /// Something is there.
    Present,
    /// Number of items.
    Len(usize),
    /// The keys of a dict, in order.
    Keys(Vec<Key>),
    /// A Python function with this code object.
    Code(Expected),
    /// A tensor of this kind.
    Tensor(TensorCheck),
    /// The same object as at an earlier source.
    SameAs(SourceId),
    /// Not the object at any of these sources.
    NotAmong(Vec<SourceId>),
}

/// What is assumed of a tensor. The offset is not part of it: graphs compute with the one they get.
#[derive(Clone, Debug)]
pub struct TensorCheck {
    /// The exact Python class.
    pub class: Expected,
    /// Element type.
    pub dtype: DType,
    /// Device.
    pub device: Device,
    /// Sizes.
    pub sizes: Vec<i64>,
    /// Strides in elements.
    pub strides: Vec<i64>,
    /// Whether it asks for gradients.
    pub requires_grad: bool,
    /// Whether it wasn't computed from tensors that ask for gradients.
    pub is_leaf: bool,
}

/// The kind of a failed guard, as recompile reports name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum FailureKind {
    Type,
    Identity,
    Value,
    Absent,
    Length,
    Keys,
    Code,
    Dtype,
    Device,
    Size,
    Stride,
    Grad,
    Rank,
    Alias,
    Ambient,
}

impl FailureKind {
    /// The word in brackets of a report.
    pub fn word(self) -> &'static str {
        match self {
            FailureKind::Type => "type",
            FailureKind::Identity => "identity",
            FailureKind::Value => "value",
            FailureKind::Absent => "absent",
            FailureKind::Length => "length",
            FailureKind::Keys => "keys",
            FailureKind::Code => "code",
            FailureKind::Dtype => "dtype",
            FailureKind::Device => "device",
            FailureKind::Size => "size",
            FailureKind::Stride => "stride",
            FailureKind::Grad => "requires-grad",
            FailureKind::Rank => "rank",
            FailureKind::Alias => "alias",
            FailureKind::Ambient => "ambient",
        }
    }
}

/// A guard that does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Which kind.
    pub kind: FailureKind,
    /// `x.size(0) was 4, is 6`.
    pub text: String,
    /// Line of the script that needed the guard.
    pub line: u32,
}

impl Check {
    /// Whether the check holds for a value alone. [`Check::SameAs`] and [`Check::NotAmong`] need other values and are not asked here.
    #[inline]
    pub fn holds(&self, value: Option<&Object>, vm: &Vm) -> bool {
        let Some(value) = value else { return matches!(self, Check::Absent) };
        match self {
            Check::Type(class) => class.pin.is_class_of(value),
            Check::Is(object) => object.pin.is(value),
            Check::Equals(expected) => inspect::equals_const(value, expected, vm),
            Check::Absent => false,
            Check::Present => true,
            Check::Len(n) => inspect::length(value, vm) == Some(*n),
            Check::Keys(keys) => keys_are(value, keys, vm),
            Check::Code(code) => inspect::function_code_is(value, &code.pin, vm),
            Check::Tensor(t) => t.holds(value),
            Check::SameAs(_) | Check::NotAmong(_) => true,
        }
    }

    /// What the guard expects, as `explain` shows it behind the source.
    pub fn text(&self, sources: &SourceTable) -> String {
        match self {
            Check::Type(class) => format!("type <class {}>", class.shown),
            Check::Is(object) => format!("is {}", object.shown),
            Check::Equals(c) => format!("is {c}"),
            Check::Absent => "absent".to_owned(),
            Check::Present => "present".to_owned(),
            Check::Len(n) => format!("length {n}"),
            Check::Keys(keys) => {
                let keys: Vec<String> = keys.iter().map(Key::text).collect();
                format!("keys [{}]", keys.join(", "))
            }
            Check::Code(code) => format!("function {}", code.shown),
            Check::Tensor(t) => t.text(),
            Check::SameAs(other) => format!("same as {}", sources.text(*other)),
            Check::NotAmong(all) => {
                let all: Vec<String> = all.iter().map(|s| sources.text(*s)).collect();
                format!("distinct from {}", all.join(", "))
            }
        }
    }

    /// Why the check fails for a value.
    pub fn explain(&self, at: &str, value: Option<&Object>, vm: &Vm) -> (FailureKind, String) {
        let shown = value.map_or_else(|| "absent".to_owned(), |v| inspect::describe(v, vm));
        let class = |v: &Object| inspect::class_name(&inspect::class_of(v));
        match (self, value) {
            (Check::Absent, _) => (FailureKind::Absent, format!("{at} was absent, is {shown}")),
            (_, None) => (FailureKind::Absent, format!("{at} is absent now")),
            (Check::Type(c), Some(v)) => (FailureKind::Type, format!("type of {at} was {}, is {}", c.shown, class(v))),
            (Check::Is(o), Some(_)) => {
                let was = &*o.shown;
                let other = if was == shown { format!("{at} is another {was}") } else { format!("{at} was {was}, is {shown}") };
                (FailureKind::Identity, other)
            }
            (Check::Equals(c), Some(_)) => (FailureKind::Value, format!("{at} was {c}, is {shown}")),
            (Check::Present, Some(_)) => (FailureKind::Absent, format!("{at} was present")),
            (Check::Len(n), Some(v)) => {
                let now = inspect::length(v, vm).map_or_else(|| "unknown".to_owned(), |n| n.to_string());
                (FailureKind::Length, format!("len({at}) was {n}, is {now}"))
            }
            (Check::Keys(_), Some(_)) => (FailureKind::Keys, format!("the keys of {at} changed")),
            (Check::Code(_), Some(_)) => (FailureKind::Code, format!("{at} is a function with another code")),
            (Check::Tensor(t), Some(v)) => t.explain(at, v),
            (Check::SameAs(_), Some(_)) => (FailureKind::Alias, format!("{at} is not the same object any more")),
            (Check::NotAmong(_), Some(_)) => (FailureKind::Alias, format!("{at} is now the same object as another input")),
        }
    }
}

fn keys_are(dict: &Object, keys: &[Key], vm: &Vm) -> bool {
    inspect::length(dict, vm) == Some(keys.len())
        && inspect::dict_keys_fit(dict, |number, key| keys.get(number).is_some_and(|expected| expected.is(key, vm)))
}

impl TensorCheck {
    /// The check that a tensor passes now.
    pub fn of(object: &Object, vm: &Vm) -> Option<TensorCheck> {
        let view = TensorView::of(object)?;
        Some(TensorCheck {
            class: Expected::class(&inspect::class_of(object), vm),
            dtype: view.dtype(),
            device: view.device(),
            sizes: view.sizes().to_vec(),
            strides: view.strides().to_vec(),
            requires_grad: view.requires_grad(),
            is_leaf: view.is_leaf(),
        })
    }

    fn holds(&self, value: &Object) -> bool {
        self.class.pin.is_class_of(value)
            && TensorView::of(value).is_some_and(|t| {
                t.dtype() == self.dtype
                    && t.sizes() == &self.sizes[..]
                    && t.strides() == &self.strides[..]
                    && t.requires_grad() == self.requires_grad
                    && t.is_leaf() == self.is_leaf
                    && t.device() == self.device
            })
    }

    fn text(&self) -> String {
        let sizes: Vec<String> = self.sizes.iter().map(i64::to_string).collect();
        let mut text = format!("tensor {}[{}]", self.dtype, sizes.join(","));
        if self.strides == contiguous_strides(&self.sizes) {
            text.push_str(" contiguous");
        } else {
            let strides: Vec<String> = self.strides.iter().map(i64::to_string).collect();
            text.push_str(&format!(" strides [{}]", strides.join(",")));
        }
        text.push_str(&format!(" {} {}", self.device, if self.requires_grad { "grad" } else { "no-grad" }));
        if &*self.class.shown != "Tensor" {
            text.push_str(&format!(" {}", self.class.shown));
        }
        text
    }

    fn explain(&self, at: &str, value: &Object) -> (FailureKind, String) {
        let class = inspect::class_name(&inspect::class_of(value));
        let Some(t) = TensorView::of(value) else {
            return (FailureKind::Type, format!("type of {at} was {}, is {class}", self.class.shown));
        };
        if !self.class.pin.is_class_of(value) {
            return (FailureKind::Type, format!("type of {at} was {}, is {class}", self.class.shown));
        }
        if t.dtype() != self.dtype {
            let (was, is) = (self.dtype.torch_name(), t.dtype().torch_name());
            return (FailureKind::Dtype, format!("{at}.dtype was {was}, is {is}"));
        }
        if t.device() != self.device {
            return (FailureKind::Device, format!("{at}.device was {}, is {}", self.device, t.device()));
        }
        if t.sizes().len() != self.sizes.len() {
            return (FailureKind::Rank, format!("{at}.dim() was {}, is {}", self.sizes.len(), t.sizes().len()));
        }
        if let Some(i) = (0..self.sizes.len()).find(|i| t.sizes()[*i] != self.sizes[*i]) {
            return (FailureKind::Size, format!("{at}.size({i}) was {}, is {}", self.sizes[i], t.sizes()[i]));
        }
        if let Some(i) = (0..self.strides.len()).find(|i| t.strides()[*i] != self.strides[*i]) {
            return (FailureKind::Stride, format!("{at}.stride({i}) was {}, is {}", self.strides[i], t.strides()[i]));
        }
        let word = |b: bool| if b { "True" } else { "False" };
        if t.is_leaf() != self.is_leaf {
            return (FailureKind::Grad, format!("{at}.is_leaf was {}, is {}", word(self.is_leaf), word(t.is_leaf())));
        }
        (FailureKind::Grad, format!("{at}.requires_grad was {}, is {}", word(self.requires_grad), word(t.requires_grad())))
    }
}

fn contiguous_strides(sizes: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; sizes.len()];
    for i in (1..sizes.len()).rev() {
        strides[i - 1] = strides[i] * sizes[i].max(1);
    }
    strides
}
