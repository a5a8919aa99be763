//! Tests of the crate from outside: graphs, properties of ops, files.

mod evaluate;
mod properties;
mod rules;
mod safetensors;
mod writes;
