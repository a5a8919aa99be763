//! What an engine owns and every op runs in: workers, generators, defaults, compiled bodies.

use crate::{Generators, Tensor, pointwise::ProgramKey, program::Program, write::Undo};
use rayon::prelude::*;
use std::{collections::HashMap, sync::Arc};
use taipan_ir::{Arg, DType, Facts, OpError};

/// The code of a kernel: the arguments, and the facts its rule gave for the results.
pub type KernelFn = fn(&mut Context, &[Arg<Tensor>], &[Facts]) -> Result<Vec<Tensor>, OpError>;

/// Work on fewer elements stays on the caller's thread.
pub const PARALLEL_FROM: usize = 32 * 1024;

/// Compiled bodies kept; beyond it they are dropped, since constants that change at every call make new ones.
const PROGRAMS_KEPT: usize = 4096;

/// Everything ops need beside their arguments. One engine has one; there are no globals behind it.
pub struct Context {
    /// The dtype of new tensors of floats (`torch.get_default_dtype()`).
    pub default_float: DType,
    /// Random streams.
    pub generators: Generators,
    programs: HashMap<ProgramKey, Arc<Program>>,
    workers: Workers,
    pub(crate) undo: Option<Undo>,
    /// Number of the next node of the tape.
    sequence: u64,
}

impl Context {
    /// A context with as many threads as the machine has processors.
    pub fn new() -> Context {
        Context::with_threads(std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// A context with a number of threads, the caller's included.
    pub fn with_threads(threads: usize) -> Context {
        Context {
            default_float: DType::F32,
            generators: Generators::default(),
            programs: HashMap::new(),
            workers: Workers { threads: threads.max(1), pool: Arc::default() },
            undo: None,
            sequence: 1,
        }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.workers.threads
    }

    /// Changes the number of threads. Results don't depend on it.
    pub fn set_threads(&mut self, threads: usize) {
        self.workers = Workers { threads: threads.max(1), pool: Arc::default() };
    }

    /// The workers.
    pub fn workers(&self) -> Workers {
        self.workers.clone()
    }

    /// The number of the node recorded last.
    pub fn last_sequence(&self) -> u64 {
        self.sequence
    }

    /// The number of a node recorded now: larger than those of all before it.
    pub fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    pub(crate) fn program(&mut self, key: ProgramKey, compile: impl FnOnce() -> Result<Program, OpError>) -> Result<Arc<Program>, OpError> {
        if let Some(program) = self.programs.get(&key) {
            return Ok(program.clone());
        }
        if self.programs.len() >= PROGRAMS_KEPT {
            self.programs.clear();
        }
        let program = Arc::new(compile()?);
        self.programs.insert(key, program.clone());
        Ok(program)
    }
}

impl Default for Context {
    fn default() -> Context {
        Context::new()
    }
}

/// Threads that share a piece of work with the caller. They start at the first piece that is large enough.
#[derive(Clone)]
pub struct Workers {
    threads: usize,
    pool: Arc<std::sync::OnceLock<Option<rayon::ThreadPool>>>,
}

impl Workers {
    /// The caller's thread alone.
    pub fn alone() -> Workers {
        Workers { threads: 1, pool: Arc::default() }
    }

    fn pool(&self) -> Option<&rayon::ThreadPool> {
        if self.threads <= 1 {
            return None;
        }
        let start = || rayon::ThreadPoolBuilder::new().num_threads(self.threads).build().ok();
        self.pool.get_or_init(start).as_ref()
    }

    /// How many there are, the caller included.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `work` where `rayon` finds these workers, telling it whether there are any.
    pub fn install<R: Send>(&self, large: bool, work: impl FnOnce(bool) -> R + Send) -> R {
        match self.pool().filter(|_| large) {
            Some(pool) => pool.install(|| work(true)),
            None => work(false),
        }
    }

    /// Calls `fill(number, chunk)` for each chunk of `out`, in parallel where `cost`, in elements, is large.
    pub fn chunks<T: Send>(&self, out: &mut [T], chunk: usize, cost: usize, fill: impl Fn(usize, &mut [T]) + Sync + Send) {
        let chunk = chunk.max(1);
        match self.pool().filter(|_| cost > PARALLEL_FROM && out.len() > chunk) {
            Some(pool) => pool.install(|| out.par_chunks_mut(chunk).enumerate().for_each(|(i, c)| fill(i, c))),
            None => out.chunks_mut(chunk).enumerate().for_each(|(i, c)| fill(i, c)),
        }
    }

    /// Calls `fill(first row, rows)` for groups of whole rows of length `row`, each row costing `work` elements.
    pub fn rows<T: Send>(&self, out: &mut [T], row: usize, work: usize, fill: impl Fn(usize, &mut [T]) + Sync + Send) {
        let row = row.max(1);
        let rows = out.len() / row;
        let each = (PARALLEL_FROM / work.max(1)).clamp(1, rows.max(1));
        self.chunks(out, each * row, rows.saturating_mul(work), |i, c| fill(i * each, c));
    }
}
