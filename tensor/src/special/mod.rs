//! The routines that bodies call by name, on `f64`.

mod bessel;
mod gamma;
mod normal;
pub mod slope;

use taipan_ir::body::Function;

/// The routine's value; `y` is ignored where it takes one argument.
pub fn call(function: Function, x: f64, y: f64) -> f64 {
    match function {
        Function::Exp2 => libm::exp2(x),
        Function::Expm1 => libm::expm1(x),
        Function::Log2 => libm::log2(x),
        Function::Log10 => libm::log10(x),
        Function::Log1p => libm::log1p(x),
        Function::Sin => libm::sin(x),
        Function::Cos => libm::cos(x),
        Function::Tan => libm::tan(x),
        Function::Asin => libm::asin(x),
        Function::Acos => libm::acos(x),
        Function::Atan => libm::atan(x),
        Function::Sinh => libm::sinh(x),
        Function::Cosh => libm::cosh(x),
        Function::Tanh => libm::tanh(x),
        Function::Asinh => libm::asinh(x),
        Function::Acosh if x < 1.0 => f64::NAN,
        Function::Acosh => libm::acosh(x),
        Function::Atanh => libm::atanh(x),
        Function::Erf => libm::erf(x),
        Function::Erfc => libm::erfc(x),
        Function::ErfInv => normal::erfinv(x),
        Function::Lgamma => libm::lgamma(x),
        Function::Digamma => gamma::digamma(x),
        Function::Pow => libm::pow(x, y),
        Function::Atan2 => libm::atan2(x, y),
        Function::Hypot => libm::hypot(x, y),
        Function::BesselI0 => bessel::i0(x),
        Function::BesselI0e => bessel::i0e(x),
        Function::BesselI1 => bessel::i1(x),
        Function::BesselI1e => bessel::i1e(x),
        // The four are waves, which have no limit.
        Function::BesselJ0 | Function::BesselJ1 | Function::BesselY0 | Function::BesselY1 if x.is_infinite() => f64::NAN,
        Function::BesselJ0 => libm::j0(x),
        Function::BesselJ1 => libm::j1(x),
        Function::BesselK0 => bessel::k(0, x, false),
        Function::BesselK0e => bessel::k(0, x, true),
        Function::BesselK1 => bessel::k(1, x, false),
        Function::BesselK1e => bessel::k(1, x, true),
        Function::BesselY0 => libm::y0(x),
        Function::BesselY1 => libm::y1(x),
        Function::GammaP => gamma::lower(x, y),
        Function::GammaQ => gamma::upper(x, y),
        Function::Erfcx => normal::erfcx(x),
        Function::LogNdtr => normal::log_ndtr(x),
        Function::Ndtri => normal::ndtri(x),
        Function::Zeta => gamma::zeta(x, y),
        Function::Trigamma => gamma::trigamma(x),
    }
}
