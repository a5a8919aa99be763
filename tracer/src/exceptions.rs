//! Exceptions: raising, matching, handlers and `with`.

use crate::{
    frame::Then,
    recorder::{Recorder, Traced, Unwind, stop},
    step::{Done, Flow},
    stop,
    value::{Kind, Value},
};
use std::rc::Rc;
use taipan_frontend::inspect;
use taipan_guards::Handle;

impl Recorder<'_> {
    pub(crate) fn raise_varargs(&mut self, argc: u32) -> Traced<Flow> {
        match argc {
            0 => match self.frame().handled.clone() {
                Some(exception) => Err(Unwind::Raise(exception)),
                None => stop(&stop::RAISES, "a bare raise without exception"),
            },
            1 => {
                let value = self.pop()?;
                let exception = self.exception_of(&value)?;
                Err(Unwind::Raise(exception))
            }
            _ => {
                let cause = self.pop()?;
                let value = self.pop()?;
                let exception = self.exception_of(&value)?;
                let Some((id, Kind::Exception(e))) = self.kind_of(&exception)? else { return stop(&stop::RAISES, "raise from") };
                let mut e = (*e).clone();
                e.cause = Some(cause);
                self.write(id, Kind::Exception(Rc::new(e)));
                Err(Unwind::Raise(exception))
            }
        }
    }

    /// The exception that `raise value` raises: a class is called.
    fn exception_of(&mut self, value: &Value) -> Traced<Value> {
        match self.kind_of(value)? {
            Some((_, Kind::Exception(_))) => Ok(value.clone()),
            Some((_, Kind::Real)) if self.is_class_value(value)? => match self.call(value, vec![], vec![])? {
                Done::Value(exception) => Ok(exception),
                Done::Entered => {
                    self.frames.pop();
                    self.snapshots.truncate(self.frames.len());
                    stop(&stop::RAISES, "an exception class with a Python __init__")
                }
            },
            _ => stop(&stop::RAISES, self.class_name(value)),
        }
    }

    pub(crate) fn reraise(&mut self) -> Traced<Flow> {
        let exception = self.pop()?;
        Err(Unwind::Raise(exception))
    }

    pub(crate) fn push_exc_info(&mut self) -> Traced<Flow> {
        let exception = self.pop()?;
        let before = self.frame().handled.clone().unwrap_or(Value::NONE);
        self.frame_mut().handled = Some(exception.clone());
        self.push(before)?;
        self.push(exception)
    }

    pub(crate) fn pop_except(&mut self) -> Traced<Flow> {
        let before = self.pop()?;
        let none = self.is_none(&before)?;
        self.frame_mut().handled = if none { None } else { Some(before) };
        Ok(Flow::Next)
    }

    pub(crate) fn check_exc_match(&mut self) -> Traced<Flow> {
        let wanted = self.pop()?;
        let exception = self.peek(0)?;
        let matches = self.exception_matches(&exception, &wanted)?;
        self.push(Value::bool(matches))
    }

    fn exception_matches(&mut self, exception: &Value, wanted: &Value) -> Traced<bool> {
        if let Some((_, Kind::Tuple(classes, _))) = self.kind_of(wanted)? {
            for class in classes.iter() {
                if self.exception_matches(exception, class)? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        let class = self.class(exception)?;
        if !self.is_class_value(wanted)? {
            return stop(&stop::RAISES, "an except clause with something that is no class");
        }
        match self.handle(wanted) {
            Some(wanted) => Ok(self.assume.is_subclass(&class, &wanted)),
            None => stop(&stop::RAISES, "an except clause with a class made while tracing"),
        }
    }

    /// Whether a traced exception is of one of the VM's own classes.
    pub(crate) fn is_exception(&mut self, exception: &Value, class: &str) -> Traced<bool> {
        let Some(object) = inspect::builtin_exception(class, self.vm) else { return Ok(false) };
        let wanted: Handle = self.assume.known(object);
        let class = self.class(exception)?;
        Ok(self.assume.is_subclass(&class, &wanted))
    }

    pub(crate) fn with_except_start(&mut self) -> Traced<Flow> {
        // [exit, self or NULL, lasti, previous exception, exception]
        let exception = self.peek(0)?;
        let n = self.frame().stack.len();
        let Some(at) = n.checked_sub(5) else { return stop(&stop::OPCODE, "WITH_EXCEPT_START") };
        let (exit, receiver) = (self.frame().stack[at].clone(), self.frame().stack[at + 1].clone());
        let Some(exit) = exit else { return stop(&stop::OPCODE, "WITH_EXCEPT_START") };
        let class = self.class(&exception)?;
        let class = self.wrap(class);
        let mut args: Vec<Value> = receiver.into_iter().collect();
        // A traced exception has no traceback: an object of which nothing is known, so that code which looks at it isn't traced.
        let traceback = self.make(Kind::Real);
        args.extend([class, exception, traceback]);
        let done = self.call_then(&exit, args, vec![], Then::Push)?;
        self.push_done(done)
    }
}
