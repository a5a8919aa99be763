//! Element types, their categories and PyTorch's type promotion.

use std::fmt;

/// The element type of a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum DType {
    Bool,
    U8,
    I8,
    I16,
    I32,
    I64,
    F16,
    BF16,
    F32,
    F64,
    /// Two `f32`: the real part and the imaginary part.
    C64,
    /// Two `f64`: the real part and the imaginary part.
    C128,
}

/// The promotion category of a [`DType`]; a higher category wins regardless of width.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Category {
    /// `bool`.
    Bool,
    /// Signed and unsigned integers.
    Integer,
    /// Binary floating point.
    Float,
    /// Pairs of floats.
    Complex,
}

/// How a new tensor's strides are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MemoryFormat {
    /// Row-major.
    Contiguous,
    /// NHWC strides for a 4-d tensor.
    ChannelsLast,
    /// NDHWC strides for a 5-d tensor.
    ChannelsLast3d,
    /// Keep the strides of the input where they are dense.
    Preserve,
}

impl DType {
    /// Every dtype, in declaration order.
    pub const ALL: [DType; 12] = [
        DType::Bool,
        DType::U8,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::C64,
        DType::C128,
    ];

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            DType::Bool | DType::U8 | DType::I8 => 1,
            DType::I16 | DType::F16 | DType::BF16 => 2,
            DType::I32 | DType::F32 => 4,
            DType::I64 | DType::F64 | DType::C64 => 8,
            DType::C128 => 16,
        }
    }

    /// The promotion category.
    pub const fn category(self) -> Category {
        match self {
            DType::Bool => Category::Bool,
            DType::U8 | DType::I8 | DType::I16 | DType::I32 | DType::I64 => Category::Integer,
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 => Category::Float,
            DType::C64 | DType::C128 => Category::Complex,
        }
    }

    /// Whether this is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self.category(), Category::Float)
    }

    /// Whether tensors of this type may require grad: floats and complex numbers.
    pub const fn has_gradients(self) -> bool {
        self.is_float() || self.is_complex()
    }

    /// Whether this is a complex type.
    pub const fn is_complex(self) -> bool {
        matches!(self.category(), Category::Complex)
    }

    /// The type of the parts of a complex type; of other types, the type itself.
    pub const fn real(self) -> DType {
        match self {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            other => other,
        }
    }

    /// The complex type whose parts hold this floating-point type: `C128` for `F64`, otherwise `C64`, since there is no complex half type.
    pub const fn complex(self) -> DType {
        match self {
            DType::F64 | DType::C128 => DType::C128,
            _ => DType::C64,
        }
    }

    /// Whether this is `f16` or `bf16`, which compute in `f32` and round once.
    pub const fn is_half(self) -> bool {
        matches!(self, DType::F16 | DType::BF16)
    }

    /// A number rounded to the nearest one of this half type, by way of `f32` as PyTorch converts numbers; of other types, the number itself.
    pub fn round(self, number: f64) -> f64 {
        match self {
            DType::F16 => half::f16::from_f32(number as f32).to_f64(),
            DType::BF16 => half::bf16::from_f32(number as f32).to_f64(),
            _ => number,
        }
    }

    /// PyTorch's attribute name: `float32` for [`DType::F32`].
    pub const fn torch_name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::U8 => "uint8",
            DType::I8 => "int8",
            DType::I16 => "int16",
            DType::I32 => "int32",
            DType::I64 => "int64",
            DType::F16 => "float16",
            DType::BF16 => "bfloat16",
            DType::F32 => "float32",
            DType::F64 => "float64",
            DType::C64 => "complex64",
            DType::C128 => "complex128",
        }
    }

    /// The name PyTorch's error texts use: `Float` for [`DType::F32`], `Long` for [`DType::I64`].
    pub const fn scalar_name(self) -> &'static str {
        match self {
            DType::Bool => "Bool",
            DType::U8 => "Byte",
            DType::I8 => "Char",
            DType::I16 => "Short",
            DType::I32 => "Int",
            DType::I64 => "Long",
            DType::F16 => "Half",
            DType::BF16 => "BFloat16",
            DType::F32 => "Float",
            DType::F64 => "Double",
            DType::C64 => "ComplexFloat",
            DType::C128 => "ComplexDouble",
        }
    }

    /// The name of the type in C++, which some of PyTorch's error texts use.
    pub const fn native_name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::U8 => "uint8_t",
            DType::I8 => "int8_t",
            DType::I16 => "int16_t",
            DType::I32 => "int",
            DType::I64 => "int64_t",
            DType::F16 => "c10::Half",
            DType::BF16 => "c10::BFloat16",
            DType::F32 => "float",
            DType::F64 => "double",
            DType::C64 => "c10::complex<float>",
            DType::C128 => "c10::complex<double>",
        }
    }

    /// The dtype whose [`fmt::Display`] form is `text`.
    pub fn parse(text: &str) -> Option<DType> {
        DType::ALL.into_iter().find(|d| d.short() == text)
    }

    const fn short(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::U8 => "u8",
            DType::I8 => "i8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::F32 => "f32",
            DType::F64 => "f64",
            DType::C64 => "c64",
            DType::C128 => "c128",
        }
    }

    /// The common type of two element types (`torch.promote_types`).
    pub fn promote(self, other: DType) -> DType {
        use DType::*;
        if self == other {
            return self;
        }
        let (low, high) = if self.category() <= other.category() { (self, other) } else { (other, self) };
        if low.category() < high.category() {
            // A complex type is as wide as the floats it meets.
            return if high.is_complex() && low.is_float() { high.promote(low.complex()) } else { high };
        }
        match (low, high) {
            (F16, BF16) | (BF16, F16) => F32,
            (U8, I8) | (I8, U8) => I16,
            // Within a category the wider wins; u8 fits into every wider signed type.
            (a, b) => {
                if a.size() >= b.size() {
                    a
                } else {
                    b
                }
            }
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.short())
    }
}

#[cfg(test)]
mod tests {
    use super::DType::*;

    #[test]
    fn promotion_is_commutative_and_has_bool_as_unit() {
        for a in super::DType::ALL {
            assert_eq!(a.promote(Bool), a);
            for b in super::DType::ALL {
                assert_eq!(a.promote(b), b.promote(a), "{a} {b}");
            }
        }
        assert_eq!(F16.promote(BF16), F32);
        assert_eq!(U8.promote(I8), I16);
        assert_eq!(I64.promote(F16), F16);
        assert_eq!([C64.promote(F64), C64.promote(F16), C64.promote(I64), C64.promote(C128)], [C128, C64, C64, C128]);
    }
}
