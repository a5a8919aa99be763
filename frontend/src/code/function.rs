//! A function object from outside: its parts, and the binding of a call's arguments to its slots, without running it.

use super::Name;
use rustpython_vm::{
    AsObject, Py, PyObject, PyObjectRef, PyRef, PyResult, VirtualMachine,
    builtins::{PyCode, PyDictRef, PyFunction, PyTuple, PyTupleRef},
    bytecode::CodeFlags,
    function::FuncArgs,
};

/// The localsplus of a frame: `None` is an unbound slot.
pub type Slots = Vec<Option<PyObjectRef>>;

/// The parts of a function, read without side effects.
#[derive(Clone)]
pub struct FunctionView {
    /// What it runs.
    pub code: PyRef<PyCode>,
    /// Its module's namespace.
    pub globals: PyDictRef,
    /// Where names missing in `globals` are looked up; a dict unless a script replaced it.
    pub builtins: PyObjectRef,
    /// Cells of the free variables, in their order.
    pub closure: Vec<PyObjectRef>,
    /// Values of the last positional parameters.
    pub defaults: Option<PyTupleRef>,
    /// Values of keyword-only parameters.
    pub keyword_defaults: Option<PyDictRef>,
    /// A number no other state of any function has: changes with `__code__`, `__defaults__`, `__kwdefaults__`.
    pub version: u32,
}

impl FunctionView {
    /// Reads `function`. The attributes are data descriptors of an immutable type, so no user code runs.
    pub fn new(function: &Py<PyFunction>, vm: &VirtualMachine) -> PyResult<Self> {
        let attribute = |name: &'static str| function.as_object().get_attr(vm.ctx.intern_str(name), vm);
        let optional = |name| attribute(name).map(|value| (!vm.is_none(&value)).then_some(value));
        let closure = match optional("__closure__")? {
            Some(cells) => cells.try_downcast::<PyTuple>(vm)?.as_slice().to_vec(),
            None => Vec::new(),
        };
        Ok(Self {
            code: code_of(function, vm)?,
            globals: attribute("__globals__")?.try_downcast(vm)?,
            builtins: attribute("__builtins__")?,
            closure,
            defaults: optional("__defaults__")?.map(|value| value.try_downcast(vm)).transpose()?,
            keyword_defaults: optional("__kwdefaults__")?.map(|value| value.try_downcast(vm)).transpose()?,
            version: function.get_version_for_current_state(),
        })
    }

    /// The slots of the frame that a call with `args` would start with, free variables filled in, cells of its own not
    /// yet made. `None`: the call is ill-formed, and running it gives the right `TypeError`.
    pub fn bind(&self, args: &FuncArgs, vm: &VirtualMachine) -> PyResult<Option<Slots>> {
        let code = &self.code.code;
        let positional = code.arg_count as usize;
        let named = positional + code.kwonlyarg_count as usize;
        let given = args.args.len();
        let mut slots: Slots = vec![None; code.localspluskinds.len()];
        for (slot, value) in slots.iter_mut().zip(&args.args[..given.min(positional)]) {
            *slot = Some(value.clone());
        }
        let mut next = named;
        if code.flags.contains(CodeFlags::VARARGS) {
            let rest = args.args.get(positional..).unwrap_or_default();
            slots[next] = Some(vm.ctx.new_tuple(rest.to_vec()).into());
            next += 1;
        } else if given > positional {
            return Ok(None);
        }
        let keywords = code.flags.contains(CodeFlags::VARKEYWORDS).then(|| vm.ctx.new_dict());
        if let Some(dict) = &keywords {
            slots[next] = Some(dict.clone().into());
        }
        let by_keyword = &code.varnames[code.posonlyarg_count as usize..named];
        for (key, value) in args.kwargs.iter() {
            let parameter = key.as_str().ok().and_then(|key| by_keyword.iter().position(|name| name.as_str() == key));
            match (parameter, &keywords) {
                (Some(index), _) => {
                    let slot = &mut slots[code.posonlyarg_count as usize + index];
                    if slot.is_some() {
                        return Ok(None);
                    }
                    *slot = Some(value.clone());
                }
                (None, Some(dict)) => dict.set_item(key, value.clone(), vm)?,
                (None, None) => return Ok(None),
            }
        }
        if !self.fill_defaults(&mut slots, vm)? {
            return Ok(None);
        }
        let free = slots.len() - code.freevars.len();
        for (slot, cell) in slots[free..].iter_mut().zip(&self.closure) {
            *slot = Some(cell.clone());
        }
        Ok(Some(slots))
    }

    /// `false` if a parameter stays without a value.
    fn fill_defaults(&self, slots: &mut Slots, vm: &VirtualMachine) -> PyResult<bool> {
        let code = &self.code.code;
        let positional = code.arg_count as usize;
        let defaults = self.defaults.as_ref().map_or(&[][..], |d| d.as_slice());
        for (index, slot) in slots[..positional].iter_mut().enumerate() {
            if slot.is_none() {
                let Some(value) = (index + defaults.len()).checked_sub(positional).and_then(|i| defaults.get(i)) else {
                    return Ok(false);
                };
                *slot = Some(value.clone());
            }
        }
        let named = positional + code.kwonlyarg_count as usize;
        for (slot, name) in slots[positional..named].iter_mut().zip(&code.varnames[positional..named]) {
            if slot.is_none() {
                let Some(value) = self.keyword_default(name, vm)? else {
                    return Ok(false);
                };
                *slot = Some(value);
            }
        }
        Ok(true)
    }

    fn keyword_default(&self, name: &Name, vm: &VirtualMachine) -> PyResult<Option<PyObjectRef>> {
        match &self.keyword_defaults {
            Some(defaults) => defaults.get_item_opt(*name, vm),
            None => Ok(None),
        }
    }
}

/// The code of a function.
pub(crate) fn code_of(function: &Py<PyFunction>, vm: &VirtualMachine) -> PyResult<PyRef<PyCode>> {
    let code = crate::inspect::native_attribute(function.as_object(), "__code__", vm);
    code.ok_or_else(|| vm.new_type_error("a function without code"))?.try_downcast(vm)
}

/// The code object that `function` runs now.
pub(crate) fn code_of_function(function: &Py<PyFunction>, vm: &VirtualMachine) -> Option<PyObjectRef> {
    code_of(function, vm).ok().map(Into::into)
}

/// A new cell.
pub fn make_cell(contents: Option<PyObjectRef>, vm: &VirtualMachine) -> PyResult {
    let cell = vm.ctx.types.cell_type.as_object();
    match contents {
        Some(value) => cell.call((value,), vm),
        None => cell.call((), vm),
    }
}

/// Writes a cell; `None` empties it.
pub fn set_cell(cell: &PyObject, contents: Option<PyObjectRef>, vm: &VirtualMachine) -> PyResult<()> {
    let name = vm.ctx.intern_str("cell_contents");
    match contents {
        Some(value) => cell.set_attr(name, value, vm),
        None => cell.del_attr(name, vm),
    }
}

/// What a cell holds; `None` if it is empty.
pub fn cell_contents(cell: &PyObject, vm: &VirtualMachine) -> Option<PyObjectRef> {
    cell.get_attr(vm.ctx.intern_str("cell_contents"), vm).ok()
}
