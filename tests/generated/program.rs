//! A generated program as a tree of statements: grown from a grammar by a seed, and written out as Python.

use crate::grammar::{Form, Grammar, Sort};
use std::collections::HashMap;

/// How deep expressions nest before only their simplest forms are taken.
const DEEPEST_EXPRESSION: u32 = 3;
/// How deep blocks nest.
const DEEPEST_BLOCK: u32 = 2;

/// A program: one function, `program`.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its header and what it starts with.
    pub prelude: &'static str,
    /// Its body.
    pub body: Vec<Statement>,
    /// What it returns.
    pub returned: Vec<String>,
}

/// A statement: one line for each arm, with a block below where it has one.
#[derive(Clone, Debug)]
pub struct Statement {
    /// `if a:`, `else:` and the like; the only one of a simple statement.
    pub arms: Vec<Arm>,
}

/// A line and its block.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The line.
    pub head: String,
    /// The statements below; `None` for a simple statement.
    pub block: Option<Vec<Statement>>,
}

impl Program {
    /// The program that a seed makes.
    pub fn new(grammar: &Grammar, seed: u64) -> Program {
        let mut writer = Writer { grammar, random: Random(seed), names: HashMap::new(), made: 0, nesting: 0, defined: vec![] };
        for (sort, names) in grammar.arguments {
            writer.names.insert(*sort, names.iter().map(|name| (*name).to_owned()).collect());
        }
        let (least, most) = grammar.statements;
        let count = least + writer.random.below(most - least);
        let body = writer.block(count);
        let mut returned: Vec<String> = writer.names.values().flatten().cloned().collect();
        returned.sort();
        Program { prelude: grammar.prelude, body, returned }
    }

    /// The program as Python.
    pub fn text(&self) -> String {
        let mut text = self.prelude.to_owned();
        write_block(&self.body, 1, &mut text);
        text.push_str(&format!("    return [{}]\n", self.returned.join(", ")));
        text
    }
}

fn write_block(block: &[Statement], depth: usize, text: &mut String) {
    for arm in block.iter().flat_map(|statement| &statement.arms) {
        let indent = "    ".repeat(depth);
        for line in arm.head.lines() {
            text.push_str(&format!("{indent}{line}\n"));
        }
        if let Some(block) = &arm.block {
            if block.is_empty() {
                text.push_str(&format!("{indent}    pass\n"));
            }
            write_block(block, depth + 1, text);
        }
    }
}

/// Numbers that look random and are the same on every machine: SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

struct Writer<'g> {
    grammar: &'g Grammar,
    random: Random,
    names: HashMap<Sort, Vec<String>>,
    made: u32,
    nesting: u32,
    /// Names that the statement at hand gives values to; they exist behind it.
    defined: Vec<(Sort, String)>,
}

impl Writer<'_> {
    fn block(&mut self, count: usize) -> Vec<Statement> {
        (0..count).map(|_| self.statement()).collect()
    }

    fn statement(&mut self) -> Statement {
        let forms = self.grammar.forms;
        let simple: Vec<&Form> = forms.iter().filter(|form| !form.has_block()).collect();
        let form = match self.nesting < DEEPEST_BLOCK {
            true => &forms[self.random.below(forms.len())],
            false => simple[self.random.below(simple.len())],
        };
        let arms = form.heads.iter().map(|head| self.arm(head, form.has_block())).collect();
        Statement { arms }
    }

    fn arm(&mut self, head: &str, has_block: bool) -> Arm {
        let head = self.fill(head, 0);
        let defined = std::mem::take(&mut self.defined);
        let before = has_block.then(|| self.names.clone());
        for (sort, name) in defined {
            self.names.entry(sort).or_default().push(name);
        }
        let Some(before) = before else { return Arm { head, block: None } };
        self.nesting += 1;
        let count = 1 + self.random.below(3);
        let block = self.block(count);
        self.nesting -= 1;
        // What a block defines may not exist behind it.
        self.names = before;
        Arm { head, block: Some(block) }
    }

    /// A form with its places filled: `{int}` an expression, `{INT}` a name there is, `{=int}` a new one. Braces of Python's own are
    /// doubled.
    fn fill(&mut self, form: &str, depth: u32) -> String {
        let mut text = String::new();
        let mut rest = form;
        while let Some(at) = rest.find(['{', '}']) {
            text.push_str(&rest[..at]);
            rest = &rest[at..];
            if rest.starts_with("{{") || rest.starts_with("}}") {
                text.push_str(&rest[..1]);
                rest = &rest[2..];
                continue;
            }
            let (place, behind) = rest[1..].split_once('}').expect("a place ends");
            text.push_str(&self.place(place, depth));
            rest = behind;
        }
        text + rest
    }

    fn place(&mut self, place: &str, depth: u32) -> String {
        if let Some(sort) = place.strip_prefix('=').map(Sort::named) {
            self.made += 1;
            let name = format!("{}{}", sort.letter(), self.made);
            self.defined.push((sort, name.clone()));
            return name;
        }
        if place.starts_with(|c: char| c.is_ascii_uppercase()) {
            let names = &self.names[&Sort::named(&place.to_lowercase())];
            return names[self.random.below(names.len())].clone();
        }
        let known = self.grammar.expressions.iter().find(|(name, _, _)| *name == place);
        let (_, simplest, forms) = known.expect("a place of the grammar");
        let count = if depth < DEEPEST_EXPRESSION { forms.len() } else { *simplest };
        let form = forms[self.random.below(count)];
        self.fill(form, depth + 1)
    }
}
