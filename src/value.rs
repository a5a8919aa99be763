//! Values that cross between a Rust program and a script, and how Rust types become and come from them.

use crate::{Error, engine::Object};
use taipan_frontend::embed::{Arguments, Exchange};
use taipan_tensor::{Element, Tensor};

/// A value of a script: data, or a handle to an object that stays in its engine.
pub type Value = Exchange<Object>;

/// Arguments of a call. Tuples become arguments by position; [`named`](IntoArguments::named) adds one by name.
///
/// ```no_run
/// # use taipan::IntoArguments;
/// # fn example(model: taipan::Object, x: taipan::Tensor) -> Result<(), taipan::Error> {
/// let y: taipan::Tensor = model.call((x, 2).named("scale", 0.5))?;
/// # Ok(())
/// # }
/// ```
pub trait IntoArguments: Sized {
    /// The arguments.
    fn into_arguments(self) -> Arguments<Object>;

    /// These arguments and one more by name.
    fn named(self, name: &str, value: impl Into<Value>) -> Arguments<Object> {
        let mut arguments = self.into_arguments();
        arguments.named.push((name.to_owned(), value.into()));
        arguments
    }
}

/// A Rust type that some values can be read as.
pub trait FromValue: Sized {
    /// What it takes, for messages: `a float`.
    const TAKES: &'static str;

    /// Reads a value; `Err` hands it back.
    fn read(value: Value) -> Result<Self, Value>;
}

/// Reads `value` as a `T`.
pub(crate) fn read<T: FromValue>(value: Value) -> Result<T, Error> {
    T::read(value).map_err(|value| Error::Conversion { expected: T::TAKES, found: kind(&value) })
}

/// What a value is, in words.
fn kind(value: &Value) -> String {
    match value {
        Exchange::None => "None".to_owned(),
        Exchange::Bool(_) => "a bool".to_owned(),
        Exchange::Int(_) => "an int".to_owned(),
        Exchange::Float(_) => "a float".to_owned(),
        Exchange::Str(_) => "a str".to_owned(),
        Exchange::Tensor(tensor) => format!("a tensor of {} {:?}", tensor.dtype(), tensor.sizes()),
        Exchange::List(items) => format!("a list of {}", items.len()),
        Exchange::Tuple(items) => format!("a tuple of {}", items.len()),
        Exchange::Dict(items) => format!("a dict of {}", items.len()),
        Exchange::Object(_) => "an object".to_owned(),
    }
}

impl IntoArguments for Arguments<Object> {
    fn into_arguments(self) -> Arguments<Object> {
        self
    }
}

impl IntoArguments for Vec<Value> {
    fn into_arguments(self) -> Arguments<Object> {
        Arguments { positional: self, named: Vec::new() }
    }
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => {$(
        impl<$($name: Into<Value>),*> IntoArguments for ($($name,)*) {
            #[allow(non_snake_case)]
            fn into_arguments(self) -> Arguments<Object> {
                let ($($name,)*) = self;
                Arguments { positional: vec![$($name.into()),*], named: Vec::new() }
            }
        }

        tuples!(@results $($name)*);
    )*};
    (@results) => {};
    (@results $($name:ident)+) => {
        impl<$($name: FromValue),+> FromValue for ($($name,)+) {
            const TAKES: &'static str = "a tuple or list with fitting items";

            #[allow(non_snake_case)]
            fn read(value: Value) -> Result<Self, Value> {
                const LENGTH: usize = [$(stringify!($name)),+].len();
                match value {
                    Exchange::Tuple(items) | Exchange::List(items) if items.len() == LENGTH => {
                        let mut items = items.into_iter();
                        Ok(($($name::read(items.next().unwrap_or(Exchange::None))?,)+))
                    }
                    other => Err(other),
                }
            }
        }
    };
}

tuples! { () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) }

macro_rules! readings {
    ($($variant:ident($type:ty) $takes:literal;)*) => {$(
        impl FromValue for $type {
            const TAKES: &'static str = $takes;

            fn read(value: Value) -> Result<Self, Value> {
                if let Exchange::$variant(value) = value { Ok(value) } else { Err(value) }
            }
        }
    )*};
}

readings! {
    Bool(bool) "a bool";
    Int(i64) "an int of 64 bits";
    Str(String) "a str";
    Tensor(Tensor) "a tensor";
    Object(Object) "an object";
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Exchange::Object(object)
    }
}

impl FromValue for Value {
    const TAKES: &'static str = "a value";

    fn read(value: Value) -> Result<Self, Value> {
        Ok(value)
    }
}

impl FromValue for () {
    const TAKES: &'static str = "None";

    fn read(value: Value) -> Result<Self, Value> {
        if let Exchange::None = value { Ok(()) } else { Err(value) }
    }
}

impl FromValue for f64 {
    const TAKES: &'static str = "a number";

    fn read(value: Value) -> Result<Self, Value> {
        match value {
            Exchange::Float(value) => Ok(value),
            Exchange::Int(value) => Ok(value as f64),
            Exchange::Tensor(tensor) if tensor.numel() == 1 => match tensor.item() {
                Ok(number) => Ok(number.as_f64()),
                Err(_) => Err(Exchange::Tensor(tensor)),
            },
            other => Err(other),
        }
    }
}

impl<T: FromValue> FromValue for Option<T> {
    const TAKES: &'static str = T::TAKES;

    fn read(value: Value) -> Result<Self, Value> {
        if let Exchange::None = value { Ok(None) } else { T::read(value).map(Some) }
    }
}

impl<T: FromValue> FromValue for Vec<T> {
    const TAKES: &'static str = "a list or tuple with fitting items";

    fn read(value: Value) -> Result<Self, Value> {
        match value {
            Exchange::Tuple(items) | Exchange::List(items) => items.into_iter().map(T::read).collect(),
            other => Err(other),
        }
    }
}

/// A row-major tensor of these elements.
///
/// # Errors
/// The number of elements isn't that of the sizes.
pub fn tensor<T: Element>(elements: &[T], sizes: &[i64]) -> Result<Tensor, Error> {
    Tensor::from_slice(elements, sizes).map_err(Error::from)
}

#[cfg(feature = "ndarray")]
mod arrays {
    use super::*;
    use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn};

    /// A tensor with the elements and shape of an array.
    ///
    /// # Errors
    /// A size doesn't fit 64 bits.
    pub fn from_array<T, S, D>(array: &ArrayBase<S, D>) -> Result<Tensor, Error>
    where
        T: Element + Clone,
        S: Data<Elem = T>,
        D: Dimension,
    {
        let sizes: Vec<i64> = array.shape().iter().map(|size| *size as i64).collect();
        let elements: Vec<T> = array.iter().cloned().collect();
        tensor(&elements, &sizes)
    }

    /// An array with the elements and shape of a tensor.
    ///
    /// # Errors
    /// The tensor has elements of another type.
    pub fn to_array<T: Element>(tensor: &Tensor) -> Result<ArrayD<T>, Error> {
        let shape: Vec<usize> = tensor.sizes().iter().map(|size| *size as usize).collect();
        let elements = tensor.to_vec::<T>()?;
        ArrayD::from_shape_vec(IxDyn(&shape), elements).map_err(|error| Error::Internal(error.to_string()))
    }
}

#[cfg(feature = "ndarray")]
pub use arrays::{from_array, to_array};
