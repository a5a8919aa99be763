//! Every op, one family a file. This folder is the only place that knows ops by name.

pub mod args;
pub mod call;
pub mod define;
pub mod gradient;
pub mod refusal;
pub mod rules;

pub mod activation;
pub mod antialias;
pub mod arithmetic;
pub mod attention;
pub mod bag;
pub mod batch;
pub mod bits;
pub mod columns;
pub mod compare;
pub mod complex;
pub mod convolution;
pub mod copy;
pub mod create;
pub mod einsum;
pub mod factor;
pub mod foreach;
pub mod fourier;
pub mod functional;
pub mod index;
pub mod join;
pub mod linear;
pub mod loss;
pub mod matmul;
pub mod norm;
pub mod normalize;
pub mod place;
pub mod pool;
pub mod quantile;
pub mod random;
pub mod random_fill;
pub mod random_gamma;
pub mod random_mask;
pub mod random_sample;
pub mod reduce;
pub mod resize;
pub mod sampling;
pub mod scan;
pub mod scatter;
pub mod search;
pub mod select;
pub mod sort;
pub mod special;
pub mod statistics;
pub mod strided;
pub mod synonyms;
pub mod unary;
pub mod view;

use taipan_ir::Op;

/// The op blocks, by family.
pub static TABLES: &[&[Op]] = &[
    arithmetic::OPS,
    unary::OPS,
    compare::OPS,
    bits::OPS,
    activation::OPS,
    view::OPS,
    copy::OPS,
    copy::CONVERSIONS,
    create::OPS,
    reduce::OPS,
    matmul::OPS,
    join::OPS,
    index::OPS,
    scatter::OPS,
    search::OPS,
    normalize::OPS,
    loss::OPS,
    attention::OPS,
    functional::ACTIVATIONS,
    functional::OPS,
    random::OPS,
    random_fill::OPS,
    random_mask::OPS,
    random_gamma::OPS,
    random_sample::OPS,
    convolution::OPS,
    columns::OPS,
    pool::FUNCTIONAL,
    pool::OPS,
    sort::OPS,
    scan::OPS,
    antialias::OPS,
    resize::OPS,
    einsum::OPS,
    synonyms::OPS,
    select::OPS,
    special::OPS,
    special::METHODS,
    statistics::OPS,
    quantile::OPS,
    place::OPS,
    factor::OPS,
    linear::OPS,
    norm::OPS,
    batch::OPS,
    bag::OPS,
    sampling::OPS,
    foreach::ARITHMETIC,
    foreach::FUNCTIONS,
    foreach::OPS,
    strided::OPS,
    complex::OPS,
    fourier::OPS,
];
