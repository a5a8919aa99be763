//! What is known about a code object, worked out once and forgotten when the code object dies.

use super::{CodeMeta, Name, Program, Shape, shapes::shapes};
use crate::{bridge::CodeBridges, thread};
use rustpython_vm::{
    AsObject, Py, PyObjectRef, PyRef, PyResult, VirtualMachine,
    builtins::{PyCode, PyWeak},
    bytecode::{CodeFlags, Opcode},
};
use std::{collections::HashMap, fmt, rc::Rc};

/// A code object, decoded. Two infos are of the same code object exactly if they are the same allocation
/// ([`Rc::ptr_eq`]). The code object itself is held weakly.
pub struct CodeInfo {
    /// The expanded program: the numbering of every `pc`.
    pub program: Program,
    /// Everything else the code object says.
    pub meta: CodeMeta,
    /// Names of the slots of a frame.
    pub slots: Vec<Name>,
    /// What may be NULL before each instruction; `None` where it is unreachable.
    pub shapes: Vec<Option<Shape>>,
    /// The first instruction behind RESUME, where a call starts.
    pub start: usize,
    /// The largest stack.
    pub stack_depth: usize,
    pub(crate) bridges: CodeBridges,
    code: PyRef<PyWeak>,
}

impl CodeInfo {
    /// The info of `code`, the same for everybody who asks while `code` lives. `None` for code that no compiler made or
    /// that isn't a function's: it can only be run plainly.
    pub fn of(code: &Py<PyCode>, vm: &VirtualMachine) -> PyResult<Option<Rc<Self>>> {
        let address = code.as_object().get_id();
        if let Some(known) = thread::with(|t| t.codes.borrow().find(address)) {
            return Ok(known);
        }
        let forget = vm.new_function("forget", |weak: PyObjectRef| {
            let entry = thread::with(|t| t.codes.borrow_mut().take(&weak));
            // Behind the borrow: constants die with it.
            drop(entry);
        });
        let weak = code.as_object().downgrade(Some(forget.into()), vm)?;
        let info = Self::decode(code, weak.clone(), vm).map(Rc::new);
        let entry = Entry { info: info.clone(), weak };
        thread::with(|t| t.codes.borrow_mut().by_address.insert(address, entry));
        Ok(info)
    }

    /// The info of an object that is a code object.
    pub fn of_object(object: &PyObjectRef, vm: &VirtualMachine) -> Option<Rc<Self>> {
        Self::of(object.downcast_ref::<PyCode>()?, vm).ok().flatten()
    }

    /// Whether calling it makes a coroutine or an asynchronous generator.
    pub fn is_coroutine(&self) -> bool {
        self.meta.flags.intersects(CodeFlags::COROUTINE | CodeFlags::ASYNC_GENERATOR)
    }

    /// Whether it has a `*args` parameter.
    pub fn has_varargs(&self) -> bool {
        self.meta.flags.contains(CodeFlags::VARARGS)
    }

    /// Whether it has a `**kwargs` parameter.
    pub fn has_varkeywords(&self) -> bool {
        self.meta.flags.contains(CodeFlags::VARKEYWORDS)
    }

    /// The code object, if it is still alive.
    pub fn code(&self) -> Option<PyRef<PyCode>> {
        self.code.upgrade()?.downcast().ok()
    }

    /// Whether calling it makes a generator or coroutine rather than running it.
    pub fn is_generator(&self) -> bool {
        self.meta.flags.intersects(CodeFlags::GENERATOR | CodeFlags::COROUTINE | CodeFlags::ASYNC_GENERATOR)
    }

    fn decode(code: &Py<PyCode>, weak: PyRef<PyWeak>, vm: &VirtualMachine) -> Option<Self> {
        if !code.code.flags.contains(CodeFlags::OPTIMIZED) {
            return None;
        }
        let program = Program::decode(code).ok()?.expand();
        let meta = CodeMeta::of(code);
        let resume = program.instructions.iter().position(|i| i.op == Opcode::Resume)?;
        let shapes = shapes(&program, &meta)?;
        let stack_depth = program.stack_depth() as usize;
        let slots = meta.slots();
        Some(Self {
            bridges: CodeBridges::new(&program, &meta, stack_depth, resume + 1, vm)?,
            start: resume + 1,
            program,
            meta,
            slots,
            shapes,
            stack_depth,
            code: weak,
        })
    }
}

impl fmt::Debug for CodeInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CodeInfo({})", self.meta.qualified_name.as_str())
    }
}

/// The infos of one thread, by address of the code object; an entry goes before its address can be used again.
#[derive(Default)]
pub(crate) struct CodeTable {
    by_address: HashMap<usize, Entry>,
}

struct Entry {
    info: Option<Rc<CodeInfo>>,
    weak: PyRef<PyWeak>,
}

impl CodeTable {
    fn find(&self, address: usize) -> Option<Option<Rc<CodeInfo>>> {
        self.by_address.get(&address).map(|entry| entry.info.clone())
    }

    fn take(&mut self, weak: &PyObjectRef) -> Option<Entry> {
        let address = self.by_address.iter().find_map(|(address, entry)| entry.weak.is(weak).then_some(*address))?;
        self.by_address.remove(&address)
    }
}
