//! Prints the sample calls of all ops, one a line: name, schema and sample, separated by tabs. `fixtures/ops/make.py` reads it.

use taipan_ir::Meaning;

fn main() {
    for entry in taipan_tensor::registry().entries() {
        if matches!(entry.op.0.meaning, Meaning::Mutate { .. } | Meaning::Random { .. }) {
            continue;
        }
        for sample in entry.op.0.samples {
            println!("{}\t{}\t{}", entry.schema.name(), entry.schema.text, sample);
        }
    }
}
