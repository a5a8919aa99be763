//! Frames of the symbolic interpreter.

use crate::{
    natives::Native,
    value::{Keyword, ObjId, Value},
};
use std::rc::Rc;
use taipan_frontend::code::CodeInfo;

/// A running function. Slots and stack are shared with the snapshot taken before the current instruction.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Its code.
    pub info: Rc<CodeInfo>,
    /// Index of the instruction being run; behind it once a handler is done.
    pub pc: usize,
    /// Localsplus: `None` is unbound; cells are cell objects.
    pub slots: Rc<Vec<Option<Value>>>,
    /// The value stack: `None` is NULL.
    pub stack: Rc<Vec<Option<Value>>>,
    /// The namespace of globals.
    pub globals: Value,
    /// The namespace behind it.
    pub builtins: Value,
    /// The exception that `sys.exc_info()` shows.
    pub handled: Option<Value>,
    /// What the caller does with the result.
    pub then: Then,
    /// The generator whose frame this is.
    pub generator: Option<ObjId>,
}

/// What becomes of the value a callee returns.
#[derive(Clone, Debug)]
pub enum Then {
    /// The frame is the entry's outermost: the region returns it.
    Exit,
    /// It is pushed.
    Push,
    /// It is pushed with a NULL above it, as a method is loaded.
    PushPair,
    /// It is pushed; where the callee raises `AttributeError`, this value is.
    PushOr(Value),
    /// `True` is pushed; where the callee raises `AttributeError`, `False` is.
    HasAttribute,
    /// It is what `__new__` made: where it is an instance of the class, `__init__` is called with these arguments.
    New {
        /// The class that was called.
        class: Value,
        /// Its arguments.
        args: Vec<Value>,
        /// Its keyword arguments.
        keywords: Vec<Keyword>,
    },
    /// It must be `None`; this new object is pushed.
    Init(Value),
    /// It is dropped: the callee was a write.
    Discard,
    /// Its truth, negated where the flag says so, is pushed.
    Truth(bool),
    /// It is the next item of the iterator on top of the stack.
    Next,
    /// It is the next item of what a `yield from` passes on.
    Delegate,
    /// Its items, this many, are pushed.
    Unpack(usize),
    /// It is the next item of a generator that is unpacked.
    UnpackItem(Box<Unpacking>),
    /// It is one more item of what a built-in function collects from a generator.
    Collect(Box<Collecting>),
    /// It is the answer of a binary operator's method, and `NotImplemented` goes on to the next attempt.
    Operator(Box<crate::operators::Attempt>),
}

/// A generator of which not all items that are wanted have been seen yet.
#[derive(Clone, Debug)]
pub struct Unpacking {
    /// The generator.
    pub generator: ObjId,
    /// The items so far.
    pub items: Vec<Value>,
    /// How many it must have.
    pub count: usize,
}

/// A built-in function that has not seen all items of a generator yet.
#[derive(Clone, Debug)]
pub struct Collecting {
    /// The generator.
    pub generator: ObjId,
    /// The items so far.
    pub items: Vec<Value>,
    /// The function that is called with a list of the items once there are no more.
    pub function: Native,
    /// Its other arguments, behind the list.
    pub rest: Vec<Value>,
    /// Its keyword arguments.
    pub keywords: Vec<Keyword>,
}

/// The frames as they were before the current instruction of the innermost one ran.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Slots of the frame.
    pub slots: Rc<Vec<Option<Value>>>,
    /// Stack of the frame.
    pub stack: Rc<Vec<Option<Value>>>,
    /// Its handled exception.
    pub handled: Option<Value>,
    /// The instruction.
    pub pc: usize,
}

impl Frame {
    /// The state to come back to if the current instruction can't be traced.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { slots: self.slots.clone(), stack: self.stack.clone(), handled: self.handled.clone(), pc: self.pc }
    }

    /// Goes back to a snapshot.
    pub fn restore(&mut self, snapshot: Snapshot) {
        self.slots = snapshot.slots;
        self.stack = snapshot.stack;
        self.handled = snapshot.handled;
        self.pc = snapshot.pc;
    }

    /// The line of the instruction at `pc`.
    pub fn line(&self) -> u32 {
        line_of(&self.info, self.pc)
    }
}

/// The script line of an instruction; 0 where it has none.
pub fn line_of(info: &CodeInfo, pc: usize) -> u32 {
    info.program.instructions.get(pc).and_then(|i| i.location).map_or(0, |l| l.0.line.get() as u32)
}
