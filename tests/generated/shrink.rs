//! Makes a failing program smaller, one statement or returned name at a time, as long as it still fails.

use crate::program::{Program, Statement};

/// Smaller programs that are tried before the smallest so far has to do.
const MOST_TRIES: usize = 600;

/// The smallest program found for which `fails` still holds.
pub fn smallest(mut program: Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut tries = 0;
    loop {
        let before = tries;
        let mut shrunk = false;
        let mut at = 0;
        while let Some(smaller) = smaller(&program, at) {
            tries += 1;
            if tries > MOST_TRIES {
                return program;
            }
            if fails(&smaller) {
                program = smaller;
                shrunk = true;
            } else {
                at += 1;
            }
        }
        if !shrunk || tries == before {
            return program;
        }
    }
}

/// The program with its change number `at`: for each statement to leave it out, or to put one of its blocks in its place; for each
/// returned name to leave it out.
fn smaller(program: &Program, at: usize) -> Option<Program> {
    let mut smaller = program.clone();
    let mut left = at;
    if change(&mut smaller.body, &mut left) {
        return Some(smaller);
    }
    (left < smaller.returned.len()).then(|| {
        smaller.returned.remove(left);
        smaller
    })
}

/// Makes the change that is `left` changes away; counts those passed where there are fewer.
fn change(block: &mut Vec<Statement>, left: &mut usize) -> bool {
    for index in 0..block.len() {
        if *left == 0 {
            block.remove(index);
            return true;
        }
        *left -= 1;
        for arm in 0..block[index].arms.len() {
            let Some(inner) = &mut block[index].arms[arm].block else { continue };
            if *left == 0 {
                let inner = std::mem::take(inner);
                block.splice(index..=index, inner);
                return true;
            }
            *left -= 1;
            if change(inner, left) {
                return true;
            }
        }
    }
    false
}
