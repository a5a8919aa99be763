//! The driver: runs the symbolic interpreter from an entry to an exit.

use crate::{
    frame::{Frame, Then},
    recipe::{ExitFrame, Recipe, RecipeBuilder, Reg},
    recorder::{Mark, Recorder, Traced, Unwind},
    step::Flow,
    stop::{self, Stop},
    value::{GeneratorValue, Kind, Value},
};
use std::rc::Rc;
use taipan_frontend::{
    code::{CodeInfo, Opcode},
    inspect::{Object, Vm},
    torch::Ambient,
};
use taipan_guards::{Guard, SourceId, SourceTable, source::Source};
use taipan_ir::graph::Graph;

/// One frame of an entry.
pub struct EntryFrame<'a> {
    /// Its code.
    pub info: Rc<CodeInfo>,
    /// Its next instruction, or the running one if it is not the innermost.
    pub pc: usize,
    /// Localsplus; cells are cell objects.
    pub slots: &'a [Option<Object>],
    /// Stack, the operands of a running call gone.
    pub stack: &'a [Option<Object>],
    /// Its globals.
    pub globals: Object,
    /// The namespace behind them.
    pub builtins: Object,
    /// The exception it is handling.
    pub handled: Option<Object>,
    /// The new object its callee is filling.
    pub post: Option<Object>,
}

/// How far a trace may go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Instructions.
    pub instructions: usize,
    /// Nodes of the graph.
    pub nodes: usize,
    /// Stop before the instruction with this number, as if it could not be traced: for tests.
    pub stop_at: Option<usize>,
}

/// Where a trace stopped, for reports.
#[derive(Clone, Debug)]
pub struct Place {
    /// The code.
    pub info: Rc<CodeInfo>,
    /// The instruction.
    pub pc: usize,
}

/// How a region ends.
#[derive(Debug)]
pub enum Exit {
    /// The outermost frame returns this.
    Return {
        /// How to make the state real.
        recipe: Recipe,
        /// The returned value.
        value: Reg,
    },
    /// The chain goes on elsewhere, at an instruction that can't be traced.
    Break {
        /// How to make the state real.
        recipe: Recipe,
        /// The frames to resume, outermost first.
        frames: Vec<ExitFrame>,
        /// Why.
        stop: Stop,
        /// Where.
        place: Place,
    },
    /// Nothing can be traced from the entry on.
    Stay {
        /// Why.
        stop: Stop,
        /// Where.
        place: Place,
    },
}

/// A finished trace.
#[derive(Debug)]
pub struct Trace {
    /// The graph; its outputs are the recipe's.
    pub graph: Graph,
    /// Sources of the graph's inputs.
    pub inputs: Vec<SourceId>,
    /// Where values are.
    pub sources: SourceTable,
    /// What was assumed.
    pub guards: Vec<Guard>,
    /// How the region ends.
    pub exit: Exit,
    /// What `reveal` saw: line and text.
    pub revealed: Vec<(u32, String)>,
    /// Instructions traced.
    pub instructions: usize,
}

/// What became of a trace.
#[derive(Debug)]
pub enum Outcome {
    /// A version.
    Traced(Box<Trace>),
    /// The call is to run plainly.
    Refused(Stop, Option<Place>),
}

/// The frames and marks at an instruction that raised an exception which was caught: where to go back to if what came of it
/// can't be made real.
struct RaisePoint {
    frames: Vec<Frame>,
    snapshots: Vec<(crate::frame::Snapshot, Mark)>,
    mark: Mark,
}

/// Traces from an entry. Runs no user code and changes nothing.
pub fn trace(entry: &[EntryFrame<'_>], ambient: Ambient, limits: Limits, vm: &Vm) -> Outcome {
    let mut recorder = Recorder::new(vm, ambient);
    if let Err(stop) = push_entry(&mut recorder, entry) {
        return Outcome::Refused(stop, None);
    }
    let mut driver = Driver { recorder, limits, ambient, instructions: 0, raises: vec![], depth: entry.len() };
    let exit = driver.run();
    match exit {
        Ok(exit) => {
            let instructions = driver.instructions;
            let mut recorder = driver.recorder;
            if let Exit::Return { recipe, .. } | Exit::Break { recipe, .. } = &exit {
                recorder.graph.set_outputs(recipe.outputs.clone());
                if !recipe.recorded {
                    recorder.graph.clear_no_grad();
                }
            }
            let inputs =
                recorder.inputs.iter().filter_map(|id| recorder.item(*id).handle.as_ref().map(taipan_guards::Handle::source)).collect();
            let (sources, guards) = recorder.assume.finish();
            Outcome::Traced(Box::new(Trace {
                graph: recorder.graph,
                inputs,
                sources,
                guards,
                exit,
                revealed: recorder.revealed,
                instructions,
            }))
        }
        Err((stop, place)) => Outcome::Refused(stop, place),
    }
}

fn push_entry(recorder: &mut Recorder<'_>, entry: &[EntryFrame<'_>]) -> Result<(), Stop> {
    for (i, frame) in entry.iter().enumerate() {
        let number = i as u16;
        let globals = recorder.root(Source::Globals { frame: number }, frame.globals.clone());
        let builtins = recorder.root(Source::Builtins { frame: number }, frame.builtins.clone());
        let mut slots = vec![];
        for (index, slot) in frame.slots.iter().enumerate() {
            let name = frame.info.slots[index];
            slots.push(slot.as_ref().map(|o| recorder.root(Source::Slot { frame: number, index: index as u16, name }, o.clone())));
        }
        let mut stack = vec![];
        for (depth, object) in frame.stack.iter().enumerate() {
            stack.push(object.as_ref().map(|o| recorder.root(Source::Stack { frame: number, depth: depth as u16 }, o.clone())));
        }
        let handled = frame.handled.as_ref().map(|o| recorder.root(Source::Handled { frame: number }, o.clone()));
        let then = match i.checked_sub(1).map(|caller| &entry[caller]) {
            None => Then::Exit,
            Some(caller) => match (&caller.post, caller.info.program.instructions.get(caller.pc).map(|x| x.op)) {
                (Some(post), _) => Then::Init(recorder.root(Source::Post { frame: number - 1 }, post.clone())),
                (None, Some(Opcode::ForIter)) => Then::Next,
                (None, Some(_)) => Then::Push,
                (None, None) => return Err(Stop::new(&stop::OPCODE, "a caller without instruction")),
            },
        };
        let frame = Frame {
            info: frame.info.clone(),
            pc: frame.pc,
            slots: Rc::new(slots),
            stack: Rc::new(stack),
            globals,
            builtins,
            handled,
            then,
            generator: None,
        };
        recorder.push_frame(frame);
    }
    Ok(())
}

/// So many items copied for a change to a container cost as much as an instruction: a loop that fills a list must not take the
/// square of its length in memory.
const COPIES: usize = 32;

struct Driver<'vm> {
    recorder: Recorder<'vm>,
    limits: Limits,
    ambient: Ambient,
    instructions: usize,
    raises: Vec<RaisePoint>,
    /// Frames of the entry.
    depth: usize,
}

type Ended = Result<Exit, (Stop, Option<Place>)>;

impl Driver<'_> {
    fn run(&mut self) -> Ended {
        loop {
            let r = &mut self.recorder;
            let frame = r.frame();
            let Some(instruction) = frame.info.program.instructions.get(frame.pc).cloned() else {
                return Err((Stop::new(&stop::OPCODE, "the end of the code"), None));
            };
            let line = frame.line();
            let snapshot = (frame.snapshot(), r.mark());
            if let Some(last) = r.snapshots.last_mut() {
                *last = snapshot;
            }
            if let Some(stop) = self.over_budget() {
                return self.leave(stop, true);
            }
            self.instructions += 1;
            let r = &mut self.recorder;
            r.assume.set_line(line);
            let stepped = match r.step(&instruction) {
                // The generator's frame is put away; its caller goes on with the value.
                Ok(Flow::Yield(then, value)) => r.returned(then, value),
                other => other,
            };
            let flow = match stepped {
                Ok(Flow::Return) => match self.leave_frame() {
                    Ok(Some(exit)) => return exit,
                    Ok(None) => continue,
                    Err(unwind) => Err(unwind),
                },
                other => other,
            };
            match flow {
                Ok(Flow::Next) => self.recorder.frame_mut().pc += 1,
                Ok(Flow::Jump(target)) => self.recorder.frame_mut().pc = target,
                Ok(Flow::Entered | Flow::Return | Flow::Yield(..)) => {}
                Err(Unwind::Raise(exception)) => {
                    if let Some(exit) = self.unwind(exception) {
                        return exit;
                    }
                }
                Err(Unwind::Break(stop)) => return self.leave(stop, true),
            }
        }
    }

    fn over_budget(&self) -> Option<Stop> {
        if self.limits.stop_at == Some(self.instructions) {
            return Some(Stop::new(&stop::BUDGET, "stopped by a test"));
        }
        let work = self.instructions + self.recorder.copied / COPIES;
        let over = work >= self.limits.instructions || self.recorder.graph.nodes().len() >= self.limits.nodes;
        over.then(|| Stop::new(&stop::BUDGET, format!("{} instructions", self.instructions)))
    }

    /// The innermost frame returns the value on top of its stack. `Some`: that ends the region.
    fn leave_frame(&mut self) -> Traced<Option<Ended>> {
        let r = &mut self.recorder;
        if r.frames.len() == 1 {
            let value = r.peek(0)?;
            return Ok(Some(self.finish(&value)));
        }
        let value = r.pop()?;
        let Some(frame) = r.frames.pop() else { return Ok(None) };
        r.snapshots.truncate(r.frames.len());
        if let Some(generator) = frame.generator {
            r.write(generator, Kind::Generator(Rc::new(GeneratorValue::Finished)));
            return match r.generator_finished(frame.then, value)? {
                Flow::Next => {
                    r.frame_mut().pc += 1;
                    Ok(None)
                }
                Flow::Jump(target) => {
                    r.frame_mut().pc = target;
                    Ok(None)
                }
                Flow::Entered | Flow::Return | Flow::Yield(..) => Ok(None),
            };
        }
        match r.returned(frame.then, value)? {
            Flow::Next => r.frame_mut().pc += 1,
            Flow::Jump(target) => r.frame_mut().pc = target,
            Flow::Entered | Flow::Return | Flow::Yield(..) => {}
        }
        Ok(None)
    }

    fn changed_ambient(&self) -> Option<Ambient> {
        (self.recorder.ambient != self.ambient).then_some(self.recorder.ambient)
    }

    fn finish(&mut self, value: &Value) -> Ended {
        let ambient = self.changed_ambient();
        let mut builder = RecipeBuilder::new(&mut self.recorder);
        let built = builder.value(value).and_then(|value| builder.finish(ambient).map(|recipe| (value, recipe)));
        match built {
            Ok((value, recipe)) => Ok(Exit::Return { recipe, value }),
            Err(unwind) => self.go_back(stop_of(unwind)),
        }
    }

    /// A traced exception: to its handler, or out of the region. `Some`: the region ends.
    fn unwind(&mut self, exception: Value) -> Option<Ended> {
        let point = self.raise_point();
        let mut caught_by_caller = None;
        loop {
            let r = &mut self.recorder;
            let frame = r.frame();
            if let Some(range) = frame.info.program.handler(frame.pc).cloned() {
                let frame = r.frame_mut();
                let stack = Rc::make_mut(&mut frame.stack);
                stack.truncate(range.depth as usize);
                if range.push_lasti {
                    stack.push(Some(Value::int(frame.pc as i64)));
                }
                stack.push(Some(exception));
                frame.pc = range.target;
                self.raises.push(point);
                return None;
            }
            if r.frames.len() == 1 {
                break;
            }
            let Some(left) = r.frames.pop() else { break };
            r.snapshots.truncate(r.frames.len());
            if let Some(generator) = left.generator {
                r.write(generator, Kind::Generator(Rc::new(GeneratorValue::Finished)));
            }
            match self.caught(&left.then, &exception) {
                Ok(true) => {
                    caught_by_caller = Some(());
                    break;
                }
                Ok(false) => {}
                Err(unwind) => {
                    self.restore(point);
                    return Some(self.leave(stop_of(unwind), true));
                }
            }
        }
        if caught_by_caller.is_some() {
            self.raises.push(point);
            return None;
        }
        let text = self.recorder.class_name(&exception);
        self.restore(point);
        Some(self.leave(Stop::new(&stop::RAISES, text), true))
    }

    /// Whether the protocol that called a frame takes an exception as its answer.
    fn caught(&mut self, then: &Then, exception: &Value) -> Traced<bool> {
        let r = &mut self.recorder;
        match then {
            Then::PushOr(default) if r.is_exception(exception, "AttributeError")? => {
                r.push(default.clone())?;
                r.frame_mut().pc += 1;
                Ok(true)
            }
            Then::HasAttribute if r.is_exception(exception, "AttributeError")? => {
                r.push(Value::bool(false))?;
                r.frame_mut().pc += 1;
                Ok(true)
            }
            Then::Next if r.is_exception(exception, "StopIteration")? => {
                let frame = r.frame();
                let Some(instruction) = frame.info.program.instructions.get(frame.pc).cloned() else { return Ok(false) };
                match r.exhausted(&instruction)? {
                    Flow::Jump(target) => r.frame_mut().pc = target,
                    _ => return Ok(false),
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn raise_point(&self) -> RaisePoint {
        let r = &self.recorder;
        let mut frames = r.frames.clone();
        let mut mark = r.mark();
        if let (Some(frame), Some((snapshot, at))) = (frames.last_mut(), r.snapshots.last()) {
            frame.restore(snapshot.clone());
            mark = *at;
        }
        RaisePoint { frames, snapshots: r.snapshots.clone(), mark }
    }

    fn restore(&mut self, point: RaisePoint) {
        self.recorder.frames = point.frames;
        self.recorder.snapshots = point.snapshots;
        self.recorder.undo(point.mark);
    }

    /// The state can't be made real: go back to the last caught exception, or give up.
    fn go_back(&mut self, why: Stop) -> Ended {
        match self.raises.pop() {
            Some(point) => {
                self.restore(point);
                self.leave(Stop::new(&stop::RAISES, ""), true)
            }
            None => Err((why, self.place())),
        }
    }

    fn place(&self) -> Option<Place> {
        self.recorder.frames.last().map(|f| Place { info: f.info.clone(), pc: f.pc })
    }

    /// Ends the region before the innermost frame's current instruction.
    fn leave(&mut self, stop: Stop, keep_assumptions: bool) -> Ended {
        let r = &mut self.recorder;
        let place = Place { info: r.frame().info.clone(), pc: r.snapshots.last().map_or(r.frame().pc, |(s, _)| s.pc) };
        // A caller that isn't at a resumable call runs that instruction plainly, callees and all.
        let mut cut = None;
        for i in 1..r.frames.len() {
            let caller = &r.frames[i - 1];
            let op = caller.info.program.instructions.get(caller.pc).map(|x| x.op);
            let resumable = match (&r.frames[i].then, op) {
                // A generator's frame is its own; its caller asks for the next item again.
                _ if r.frames[i].generator.is_some() => false,
                (Then::Push | Then::Init(_), Some(Opcode::Call | Opcode::CallKw)) | (Then::Push, Some(Opcode::CallFunctionEx)) => true,
                (Then::Next, Some(Opcode::ForIter)) => true,
                _ => false,
            };
            if !resumable {
                cut = Some(i);
                break;
            }
        }
        let cut_any = cut.is_some();
        if let Some(n) = cut {
            r.frames.truncate(n);
            r.snapshots.truncate(n);
        }
        if let Some((snapshot, mark)) = r.snapshots.last().cloned() {
            r.frame_mut().restore(snapshot);
            if keep_assumptions && !cut_any {
                r.undo_keeping_assumptions(mark)
            } else {
                r.undo(mark)
            }
            // What was raised behind this place is no part of the region any more.
            self.raises.retain(|point| r.is_behind(point.mark));
        }
        if r.frames.len() == self.depth
            && r.graph.nodes().is_empty()
            && self.instructions <= 1
            && !r.has_changes()
            && r.ambient == self.ambient
        {
            return Ok(Exit::Stay { stop, place });
        }
        let ambient = self.changed_ambient();
        match build_frames(&mut self.recorder, ambient) {
            Ok((recipe, frames)) => Ok(Exit::Break { recipe, frames, stop, place }),
            Err(unwind) => {
                let mut why = stop_of(unwind);
                why.detail = format!("{}; the break was for [{}] {}", why.detail, stop.reason.name, stop.detail);
                self.go_back(why)
            }
        }
    }
}

fn build_frames(recorder: &mut Recorder<'_>, ambient: Option<Ambient>) -> Traced<(Recipe, Vec<ExitFrame>)> {
    let frames = recorder.frames.clone();
    let mut builder = RecipeBuilder::new(recorder);
    let mut exits = vec![];
    for (i, frame) in frames.iter().enumerate() {
        let regs = |builder: &mut RecipeBuilder<'_, '_>, values: &[Option<Value>]| -> Traced<Vec<Option<Reg>>> {
            values.iter().map(|v| v.as_ref().map(|v| builder.value(v)).transpose()).collect()
        };
        let slots = regs(&mut builder, &frame.slots)?;
        let stack = regs(&mut builder, &frame.stack)?;
        let globals = builder.value(&frame.globals)?;
        let handled = frame.handled.as_ref().map(|v| builder.value(v)).transpose()?;
        let callee = frames.get(i + 1);
        let post = match callee.map(|c| &c.then) {
            Some(Then::Init(new)) => Some(builder.value(new)?),
            _ => None,
        };
        exits.push(ExitFrame { info: frame.info.clone(), pc: frame.pc, in_call: callee.is_some(), post, slots, stack, globals, handled });
    }
    Ok((builder.finish(ambient)?, exits))
}

fn stop_of(unwind: Unwind) -> Stop {
    match unwind {
        Unwind::Break(stop) => stop,
        Unwind::Raise(_) => Stop::new(&stop::RAISES, ""),
    }
}
