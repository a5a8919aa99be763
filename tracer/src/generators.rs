//! Generators made while tracing: their frames are put away at a `yield` and pushed again when the next item is asked for.

use crate::{
    frame::{Collecting, Frame, Then},
    natives::Native,
    recorder::{Recorder, Traced, stop},
    step::{Done, Flow},
    stop,
    value::{GeneratorValue, Keyword, Kind, ObjId, Value},
};
use std::rc::Rc;
use taipan_frontend::code::Instruction;

/// More items than this are not collected by a built-in function.
const LONGEST: usize = 1 << 14;

impl Recorder<'_> {
    /// The generator that calling a generator function makes: nothing of its body has run.
    pub(crate) fn make_generator(&mut self, mut frame: Frame) -> Traced<Done> {
        if !matches!(frame.then, Then::Push) {
            return stop(&stop::GENERATOR, frame.info.meta.qualified_name.as_str());
        }
        // The body begins behind RESUME as if it had been sent None; what it sends back goes where the next request says.
        let id = self.make_id(Kind::Generator(Rc::new(GeneratorValue::Finished)));
        frame.generator = Some(id);
        self.learn(id, Kind::Generator(Rc::new(GeneratorValue::Suspended(Box::new(frame)))));
        Ok(Done::Value(Value::Object(id)))
    }

    /// Goes on with a generator, whose next item goes where `then` says. `None`: it has no more.
    pub(crate) fn resume_generator(&mut self, id: ObjId, sent: Value, then: Then) -> Traced<Option<()>> {
        let Kind::Generator(state) = self.kind(id).clone() else { return stop(&stop::GENERATOR, "not a generator") };
        match (*state).clone() {
            GeneratorValue::Finished => Ok(None),
            GeneratorValue::Running => stop(&stop::RAISES, "generator already executing"),
            GeneratorValue::Suspended(mut frame) => {
                let started = frame.pc != frame.info.start;
                if started {
                    Rc::make_mut(&mut frame.stack).push(Some(sent));
                }
                frame.then = then;
                self.write(id, Kind::Generator(Rc::new(GeneratorValue::Running)));
                self.push_frame(*frame);
                Ok(Some(()))
            }
        }
    }

    pub(crate) fn yield_value(&mut self) -> Traced<Flow> {
        let value = self.pop()?;
        if self.frame().generator.is_none() || self.frames.len() < 2 {
            return stop(&stop::GENERATOR, "a yield of a generator that exists already");
        }
        let Some(mut frame) = self.frames.pop() else { return stop(&stop::GENERATOR, "no frame") };
        self.snapshots.truncate(self.frames.len());
        let then = std::mem::replace(&mut frame.then, Then::Push);
        frame.pc += 1;
        if let Some(id) = frame.generator {
            self.write(id, Kind::Generator(Rc::new(GeneratorValue::Suspended(Box::new(frame)))));
        }
        // The caller's instruction goes on where it asked; the driver advances the caller's place.
        Ok(Flow::Yield(then, value))
    }

    /// A generator returned: who asked for the next item learns that there is none.
    pub(crate) fn generator_finished(&mut self, then: Then, value: Value) -> Traced<Flow> {
        match then {
            Then::Next => {
                let frame = self.frame();
                match frame.info.program.instructions.get(frame.pc).cloned() {
                    Some(instruction) => self.exhausted(&instruction),
                    None => stop(&stop::GENERATOR, "a loop without instruction"),
                }
            }
            Then::Collect(collecting) => {
                let done = self.collected(*collecting)?;
                self.push_done(done)
            }
            Then::UnpackItem(unpacking) => self.unpacked(*unpacking),
            Then::Delegate => self.delegate_finished(value),
            Then::PushOr(default) => self.push(default),
            _ => self.raise("StopIteration", ""),
        }
    }

    /// SEND: `yield from` asks the inner iterator, and the loop ends with its result.
    pub(crate) fn send(&mut self, instruction: &Instruction) -> Traced<Flow> {
        let sent = self.pop()?;
        let inner = self.peek(0)?;
        let inner = self.resolve(&inner)?;
        let Some(id) = inner.id() else { return stop(&stop::GENERATOR, "yield from a constant") };
        match self.kind(id).clone() {
            Kind::Generator(_) => match self.resume_generator(id, sent, Then::Delegate)? {
                Some(()) => Ok(Flow::Entered),
                None => self.sent_none(instruction),
            },
            Kind::Iterator(_) => match self.advance(id)? {
                Some(value) => self.push(value),
                None => self.sent_none(instruction),
            },
            _ => stop(&stop::GENERATOR, "yield from an iterator that exists already"),
        }
    }

    fn sent_none(&mut self, instruction: &Instruction) -> Traced<Flow> {
        self.push(Value::NONE)?;
        match instruction.target {
            Some(target) => Ok(Flow::Jump(target)),
            None => stop(&stop::GENERATOR, "SEND without target"),
        }
    }

    /// The generator behind a `yield from` returned `value`: the loop ends with it.
    fn delegate_finished(&mut self, value: Value) -> Traced<Flow> {
        self.push(value)?;
        let frame = self.frame();
        match frame.info.program.instructions.get(frame.pc).and_then(|i| i.target) {
            Some(target) => Ok(Flow::Jump(target)),
            None => stop(&stop::GENERATOR, "SEND without target"),
        }
    }

    pub(crate) fn end_send(&mut self) -> Traced<Flow> {
        // [receiver, value] -> [value]
        let value = self.pop()?;
        self.pop_maybe();
        self.push(value)
    }

    /// Calls a built-in function with a list of a generator's items in place of its first argument.
    pub(crate) fn collect(&mut self, generator: ObjId, function: Native, rest: Vec<Value>, keywords: Vec<Keyword>) -> Traced<Done> {
        self.collect_more(Collecting { generator, items: vec![], function, rest, keywords })
    }

    /// Asks for one more item.
    pub(crate) fn collect_more(&mut self, collecting: Collecting) -> Traced<Done> {
        if collecting.items.len() > LONGEST {
            return stop(&stop::BUDGET, "a long generator");
        }
        let generator = collecting.generator;
        match self.resume_generator(generator, Value::NONE, Then::Collect(Box::new(collecting.clone())))? {
            Some(()) => Ok(Done::Entered),
            None => self.collected(collecting),
        }
    }

    fn collected(&mut self, collecting: Collecting) -> Traced<Done> {
        let list = self.list(collecting.items);
        let mut args = vec![list];
        args.extend(collecting.rest);
        self.call_native(collecting.function, args, collecting.keywords, Then::Push)
    }
}
