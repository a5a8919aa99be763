//! Constants, locals, globals, cells and functions: where values are found by name.

use crate::{
    natives::own_builtin,
    recorder::{Recorder, Traced, Unwind, stop},
    step::Flow,
    stop::{self, Stop},
    value::{FunctionValue, Kind, ObjId, SetClass, Value},
};
use std::rc::Rc;
use taipan_frontend::{
    code::CodeInfo,
    inspect::{self, BuiltinType, Const, Name, Object},
};

impl Recorder<'_> {
    pub(crate) fn load_const(&mut self, index: usize) -> Traced<Flow> {
        let Some(object) = self.frame().info.meta.constants.get(index).cloned() else { return stop(&stop::OPCODE, "LOAD_CONST") };
        let value = self.constant_object(&object);
        self.push(value)
    }

    /// The value of a constant of a code object: an object that can't change, so nothing is assumed.
    pub(crate) fn constant_object(&mut self, object: &Object) -> Value {
        if let Some(c) = inspect::constant(object, self.vm) {
            return Value::Const(c);
        }
        match BuiltinType::of(object, self.vm) {
            BuiltinType::Tuple => {
                let items: Vec<Value> =
                    inspect::tuple_items(object).unwrap_or_default().to_vec().iter().map(|o| self.constant_object(o)).collect();
                self.tuple(items)
            }
            BuiltinType::Slice => {
                let parts = inspect::slice_parts(object, self.vm).map(|p| p.map(|o| self.constant_object(&o)));
                match parts {
                    Some(parts) => self.make(Kind::Slice(Rc::new(parts))),
                    None => self.known(object.clone()),
                }
            }
            BuiltinType::FrozenSet => {
                let items: Vec<Value> = inspect::set_items(object).unwrap_or_default().iter().map(|o| self.constant_object(o)).collect();
                self.make_set(&items, SetClass::FrozenSet).unwrap_or_else(|_| self.known(object.clone()))
            }
            // Code objects, complex numbers: kept by the code object that the entry holds.
            _ => self.known(object.clone()),
        }
    }

    pub(crate) fn load_common_constant(&mut self, index: usize) -> Traced<Flow> {
        let name = ["AssertionError", "NotImplementedError", "tuple", "all", "any", "list", "set"].get(index);
        let object = name.and_then(|n| own_builtin(n, self.vm));
        let Some(object) = object else { return stop(&stop::OPCODE, "LOAD_COMMON_CONSTANT") };
        let value = self.known(object);
        self.push(value)
    }

    pub(crate) fn load_fast(&mut self, index: usize) -> Traced<Flow> {
        match self.frame().slots.get(index).cloned().flatten() {
            Some(value) => self.push(value),
            None => {
                let name = self.slot_name(index);
                self.raise("UnboundLocalError", &format!("local variable '{name}' referenced before assignment"))
            }
        }
    }

    pub(crate) fn load_fast_and_clear(&mut self, index: usize) -> Traced<Flow> {
        let frame = self.frame_mut();
        let value = Rc::make_mut(&mut frame.slots)[index].take();
        Rc::make_mut(&mut frame.stack).push(value);
        Ok(Flow::Next)
    }

    pub(crate) fn store_fast(&mut self, index: usize) -> Traced<Flow> {
        let value = self.pop_maybe();
        Rc::make_mut(&mut self.frame_mut().slots)[index] = value;
        Ok(Flow::Next)
    }

    pub(crate) fn delete_fast(&mut self, index: usize) -> Traced<Flow> {
        if self.frame().slots[index].is_none() {
            let name = self.slot_name(index);
            return self.raise("UnboundLocalError", &format!("local variable '{name}' referenced before assignment"));
        }
        Rc::make_mut(&mut self.frame_mut().slots)[index] = None;
        Ok(Flow::Next)
    }

    fn slot_name(&self, index: usize) -> String {
        self.frame().info.slots.get(index).map_or_else(|| "?".to_owned(), |n| n.to_string())
    }

    pub(crate) fn code_name(&self, index: usize) -> Traced<Name> {
        match self.frame().info.meta.names.get(index) {
            Some(name) => Ok(name),
            None => stop(&stop::OPCODE, "a name index out of range"),
        }
    }

    pub(crate) fn load_global(&mut self, arg: usize) -> Traced<Flow> {
        let name = self.code_name(arg >> 1)?;
        let value = self.global(name)?;
        self.push(value)?;
        if arg & 1 == 1 {
            Rc::make_mut(&mut self.frame_mut().stack).push(None);
        }
        Ok(Flow::Next)
    }

    /// A name looked up in the globals, then in the builtins.
    pub(crate) fn global(&mut self, name: Name) -> Traced<Value> {
        for namespace in [self.frame().globals.clone(), self.frame().builtins.clone()] {
            let id = self.dict_id(&namespace)?;
            if let Some(value) = self.dict_get_name(id, name)? {
                return Ok(value);
            }
        }
        self.raise("NameError", &format!("name '{name}' is not defined"))
    }

    /// The dict of the heap that a namespace is.
    pub(crate) fn dict_id(&mut self, value: &Value) -> Traced<ObjId> {
        match self.kind_of(value)? {
            Some((id, Kind::Dict(_) | Kind::RealDict(_))) => Ok(id),
            Some((id, Kind::Real)) => match self.builtin_type(value)? {
                BuiltinType::Module => match self.namespace(id) {
                    Some(namespace) => Ok(namespace),
                    None => stop(&stop::ATTRIBUTE, "a module without namespace"),
                },
                _ => stop(&stop::OPCODE, "globals that are no dict"),
            },
            _ => stop(&stop::OPCODE, "globals that are no dict"),
        }
    }

    pub(crate) fn store_global(&mut self, index: usize) -> Traced<Flow> {
        let name = self.code_name(index)?;
        let value = self.pop()?;
        let globals = self.frame().globals.clone();
        let id = self.dict_id(&globals)?;
        self.dict_set_name(id, name, Some(value))?;
        Ok(Flow::Next)
    }

    pub(crate) fn delete_global(&mut self, index: usize) -> Traced<Flow> {
        let name = self.code_name(index)?;
        let globals = self.frame().globals.clone();
        let id = self.dict_id(&globals)?;
        if self.dict_get_name(id, name)?.is_none() {
            return self.raise("NameError", &format!("name '{name}' is not defined"));
        }
        self.dict_set_name(id, name, None)?;
        Ok(Flow::Next)
    }

    /// The cell in a slot.
    fn cell_at(&mut self, index: usize) -> Traced<(ObjId, Option<Value>)> {
        let Some(value) = self.frame().slots.get(index).cloned().flatten() else { return stop(&stop::OPCODE, "no cell in its slot") };
        match self.kind_of(&value)? {
            Some((id, Kind::Cell(contents))) => Ok((id, contents)),
            _ => stop(&stop::OPCODE, "no cell in its slot"),
        }
    }

    pub(crate) fn load_deref(&mut self, index: usize) -> Traced<Flow> {
        match self.cell_at(index)?.1 {
            Some(value) => self.push(value),
            None => {
                let name = self.slot_name(index);
                let free = self.frame().info.meta.free_variables.iter().any(|n| n.as_str() == name);
                if free {
                    self.raise("NameError", &format!("free variable '{name}' referenced before assignment in enclosing scope"))
                } else {
                    self.raise("UnboundLocalError", &format!("local variable '{name}' referenced before assignment"))
                }
            }
        }
    }

    pub(crate) fn store_deref(&mut self, index: usize) -> Traced<Flow> {
        let value = self.pop()?;
        let (id, _) = self.cell_at(index)?;
        self.write(id, Kind::Cell(Some(value)));
        Ok(Flow::Next)
    }

    pub(crate) fn delete_deref(&mut self, index: usize) -> Traced<Flow> {
        match self.cell_at(index)? {
            (id, Some(_)) => {
                self.write(id, Kind::Cell(None));
                Ok(Flow::Next)
            }
            _ => stop(&stop::RAISES, "an empty cell is deleted"),
        }
    }

    pub(crate) fn make_cell(&mut self, index: usize) -> Traced<Flow> {
        let value = self.frame().slots[index].clone();
        let cell = self.make(Kind::Cell(value));
        Rc::make_mut(&mut self.frame_mut().slots)[index] = Some(cell);
        Ok(Flow::Next)
    }

    pub(crate) fn make_function(&mut self) -> Traced<Flow> {
        let code = self.pop()?;
        let handle = self.handle(&code);
        let object = handle.map(|h| self.assume.opaque(&h));
        let info = object.as_ref().and_then(|o| CodeInfo::of_object(o, self.vm));
        let (Some(code), Some(info)) = (object, info) else {
            return Err(Unwind::Break(Stop::new(&stop::OPCODE, "MAKE_FUNCTION of an unusual code object")));
        };
        let function = FunctionValue {
            code,
            info,
            globals: self.frame().globals.clone(),
            builtins: self.frame().builtins.clone(),
            defaults: None,
            keyword_defaults: None,
            closure: None,
            annotations: None,
        };
        let value = self.make(Kind::Function(Rc::new(function)));
        self.push(value)
    }

    pub(crate) fn set_function_attribute(&mut self, flag: u32) -> Traced<Flow> {
        let function = self.pop()?;
        let attribute = self.pop()?;
        let Some((id, Kind::Function(f))) = self.kind_of(&function)? else { return stop(&stop::OPCODE, "SET_FUNCTION_ATTRIBUTE") };
        let mut f = (*f).clone();
        match flag {
            1 => f.defaults = Some(attribute),
            2 => f.keyword_defaults = Some(attribute),
            8 => f.closure = Some(attribute),
            // Annotations are only looked at by introspection, which a rebuilt function would answer wrongly.
            _ => f.annotations = Some(attribute),
        }
        self.learn(id, Kind::Function(Rc::new(f)));
        self.push(function)
    }

    pub(crate) fn import_name(&mut self, index: usize) -> Traced<Flow> {
        let name = self.code_name(index)?;
        let from_list = self.pop()?;
        let level = self.pop()?;
        if self.integer(&level)? != Some(0) {
            return stop(&stop::IMPORT, name.as_str());
        }
        // A module that is loaded already is only looked up; loading one runs its code.
        let Some(modules) = inspect::loaded_modules(self.vm) else { return stop(&stop::IMPORT, name.as_str()) };
        let modules = self.known(modules);
        let modules = self.dict_id(&modules)?;
        let whole = match self.dict_get_name(modules, name)? {
            Some(module) if !self.is_none(&module)? => module,
            _ => return stop(&stop::IMPORT, name.as_str()),
        };
        let (top, dotted) = name.as_str().split_once('.').map_or((name.as_str(), false), |(top, _)| (top, true));
        if !dotted || !self.is_none(&from_list)? {
            return self.push(whole);
        }
        let top = self.name(top);
        match self.dict_get_name(modules, top)? {
            Some(package) => self.push(package),
            None => stop(&stop::IMPORT, name.as_str()),
        }
    }

    pub(crate) fn import_from(&mut self, index: usize) -> Traced<Flow> {
        let name = self.code_name(index)?;
        let module = self.peek(0)?;
        match self.get_attribute(&module, name)? {
            crate::step::Done::Value(value) => self.push(value),
            crate::step::Done::Entered => stop(&stop::IMPORT, name.as_str()),
        }
    }

    /// Whether a value is the constant `c`.
    pub(crate) fn is_const(&mut self, value: &Value, c: &Const) -> Traced<bool> {
        Ok(self.constant(value)?.as_ref() == Some(c))
    }
}
