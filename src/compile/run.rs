//! The trampoline: run a version, run the one instruction it broke at, look for the next version, until the call is over.

use super::{
    backend::Callable,
    jit::{Decision, Jit},
    owner::Owner,
    rebuild::Made,
    version::{ChainRoots, Version, Work},
};
use crate::report::Event;
use std::rc::Rc;
use taipan_frontend::{
    bridge::{self, FrameState, Stepped},
    hook::Region,
    inspect::{self, CallResult, Object, Vm},
    torch::{Ambient, TensorView, with_context},
    vm::{compute, pause},
};
use taipan_tensor::tape::Var;
use taipan_tracer::Exit;

/// What running a version came to.
enum Ran {
    /// The outermost frame returns this.
    Returned(Object),
    /// The chain stands before an instruction that runs plainly.
    Broke(Vec<FrameState>),
    /// The region failed and did nothing.
    Failed,
}

impl Jit {
    /// Runs a chain to its end.
    pub(super) fn trampoline(&self, owner: &Rc<Owner>, mut chain: Vec<FrameState>, vm: &Vm) -> CallResult {
        loop {
            match self.decide(owner, &chain, vm)? {
                Decision::Run(version, captured) => match self.run_version(&version, &captured, &chain, vm)? {
                    Ran::Returned(value) => return Ok(value),
                    Ran::Broke(next) => {
                        // The frames' values live on in `next`; the old chain must not keep them alive during the instruction.
                        drop(captured);
                        chain = next;
                    }
                    Ran::Failed => return bridge::finish(chain, vm),
                },
                Decision::Step => {}
                Decision::Plain => return bridge::finish(chain, vm),
                Decision::AllPlain => {
                    let _plain = Region::plain(vm);
                    return bridge::finish(chain, vm);
                }
            }
            match bridge::step(chain, vm)? {
                Stepped::Returned(value) => return Ok(value),
                Stepped::Parked(next) => chain = next,
            }
        }
    }

    /// The first version whose guards hold, with the values they captured.
    pub(super) fn find(&self, versions: &[Rc<Version>], chain: &[FrameState], vm: &Vm) -> Option<(Rc<Version>, Vec<Option<Object>>)> {
        let ambient = Ambient::now(vm);
        let roots = ChainRoots { chain, vm };
        let mut captured = vec![];
        let found = versions.iter().find(|v| v.ambient == ambient && v.program.check(&roots, vm, &mut captured))?;
        Some((found.clone(), captured))
    }

    fn run_version(&self, version: &Version, captured: &[Option<Object>], chain: &[FrameState], vm: &Vm) -> CallResult<Ran> {
        version.runs.set(version.runs.get() + 1);
        let Some(recipe) = version.recipe() else { return Ok(Ran::Broke(chain.to_vec())) };
        let (inputs, rest) = captured.split_at(version.graph.inputs().len().min(captured.len()));
        let outputs: Vec<Var> = match &version.work {
            None => vec![],
            Some(Work::Plan(plan)) => {
                let Some(vars) = vars_of(inputs) else { return Ok(Ran::Failed) };
                let failure = self.next_failure();
                let ran = with_context(vm, |cx| {
                    let mut run = || plan.run_vars(cx, &vars, recipe.recorded, failure);
                    // What is recorded may let go of hooks, which are Python objects.
                    if recipe.recorded { run() } else { compute(run) }
                });
                match ran {
                    Some(Ok(ran)) => ran.commit(),
                    // The region has changed nothing: the plain run from the same entry raises what is to be raised.
                    Some(Err(_)) | None => return Ok(Ran::Failed),
                }
            }
            Some(Work::Python(callable)) => match run_python(callable, inputs, recipe.recorded, vm)? {
                Some(outputs) => outputs,
                None => return Ok(Ran::Failed),
            },
        };
        let Some(made) = Made::new(recipe, inputs, rest, &outputs, vm) else { return Err(inspect::memory_error(vm)) };
        let ran = match &version.exit {
            Exit::Return { value, .. } => Ran::Returned(made.get(*value)),
            Exit::Break { frames, .. } => match made.frames(frames) {
                Some(frames) => Ran::Broke(frames),
                None => return Err(inspect::system_error("a frame could not be rebuilt", vm)),
            },
            Exit::Stay { .. } => Ran::Broke(chain.to_vec()),
        };
        made.commit(recipe, vm);
        Ok(ran)
    }

    /// Tells the observer, which is code of the host program.
    pub(super) fn tell(&self, event: Event) {
        pause(|| (self.observer)(&event));
    }
}

fn vars_of(objects: &[Option<Object>]) -> Option<Vec<Var>> {
    objects.iter().map(|o| o.as_ref().and_then(TensorView::of).map(|t| t.var())).collect()
}

fn run_python(callable: &Callable, inputs: &[Option<Object>], recorded: bool, vm: &Vm) -> CallResult<Option<Vec<Var>>> {
    let inputs: Option<Vec<Object>> = inputs.iter().cloned().collect();
    match inputs {
        Some(inputs) => {
            let _plain = Region::plain(vm);
            // The graph says which of its ops stay off the tape.
            let mode = Ambient::now(vm);
            mode.with_grad(recorded).set(vm);
            let ran = callable.run(&inputs, vm);
            mode.set(vm);
            ran.map(Some)
        }
        None => Ok(None),
    }
}
