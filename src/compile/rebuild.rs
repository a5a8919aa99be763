//! Carrying out a recipe: objects are made, containers filled, and changes written, in this order. Nothing here runs Python.

use taipan_frontend::{
    bridge::FrameState,
    inspect::{self, Object, Vm},
    torch::{make_tensor, torch_type},
    vm::LruCache,
};
use taipan_tensor::tape::Var;
use taipan_tracer::{
    Effect, ExitFrame, Fill, Make, Recipe, Reg,
    value::{TupleClass, ViewKind},
};

/// The objects a recipe made, by register.
pub struct Made(Vec<Object>);

impl Made {
    /// Makes every object of a recipe. `inputs` are the tensors its graph ran on, `captured` the values of its sources, `outputs` those of its
    /// graph. `None`: a native
    /// constructor failed, for want of memory.
    pub fn new(recipe: &Recipe, inputs: &[Option<Object>], captured: &[Option<Object>], outputs: &[Var], vm: &Vm) -> Option<Made> {
        let mut made = Made(Vec::with_capacity(recipe.makes.len()));
        for make in &recipe.makes {
            let object = made.make(make, inputs, captured, outputs, vm)?;
            made.0.push(object);
        }
        for fill in &recipe.fills {
            made.fill(fill, vm);
        }
        Some(made)
    }

    /// The object in a register.
    pub fn get(&self, reg: Reg) -> Object {
        self.0[reg as usize].clone()
    }

    fn all(&self, regs: &[Reg]) -> Vec<Object> {
        regs.iter().map(|r| self.get(*r)).collect()
    }

    fn or_none(&self, reg: Option<Reg>, vm: &Vm) -> Object {
        reg.map_or_else(|| inspect::make_const(&inspect::Const::None, vm), |r| self.get(r))
    }

    fn make(&self, make: &Make, inputs: &[Option<Object>], captured: &[Option<Object>], outputs: &[Var], vm: &Vm) -> Option<Object> {
        Some(match make {
            Make::Source(index) => captured.get(*index as usize)?.clone()?,
            Make::Const(c) => inspect::make_const(c, vm),
            Make::Fill(fill) => {
                self.fill(fill, vm);
                inspect::make_const(&inspect::Const::None, vm)
            }
            Make::Output(index) => make_tensor(outputs.get(*index as usize)?.clone(), inputs.iter().flatten(), vm)?,
            Make::Known(object) => object.clone(),
            Make::Tuple(items, TupleClass::Tuple) => inspect::make_tuple(self.all(items), vm),
            Make::Tuple(items, TupleClass::Size) => torch_type::make_size(self.all(items), vm)?,
            Make::Tuple(items, TupleClass::Named(base)) => torch_type::named_result(base, self.all(items), vm)?,
            Make::List => inspect::make_list(vec![], vm),
            Make::Dict => inspect::make_dict(vm),
            Make::Set(items, frozen) => inspect::make_set(self.all(items), *frozen, vm),
            Make::Slice(parts) => inspect::make_slice(parts.map(|r| self.get(r)), vm),
            Make::Range(parts) => inspect::make_range(*parts, vm)?,
            Make::Cell => inspect::make_cell(None, vm)?,
            Make::Function { code, globals, defaults, keyword_defaults, closure } => inspect::make_function(
                inspect::FunctionParts {
                    code: code.clone(),
                    globals: self.get(*globals),
                    defaults: self.or_none(*defaults, vm),
                    keyword_defaults: self.or_none(*keyword_defaults, vm),
                    closure: self.or_none(*closure, vm),
                },
                vm,
            )?,
            Make::Method(function, receiver) => inspect::make_method(self.get(*function), self.get(*receiver), vm),
            Make::NativeMethod(owner, name) => inspect::native_attribute(&self.get(*owner), name.as_str(), vm)?,
            Make::Instance(class) => inspect::make_instance(&self.get(*class), vm)?,
            Make::Namespace(owner) => inspect::instance_dict(&self.get(*owner))?,
            Make::View(dict, kind) => inspect::make_dict_view(&self.get(*dict), view_name(*kind), vm)?,
            Make::Iterator { over, steps } => inspect::make_iterator(&self.get(*over), *steps, vm)?,
            Make::Enumerate(inner, count) => inspect::make_enumerate(self.get(*inner), *count, vm)?,
            Make::Zip(inner) => inspect::make_zip(self.all(inner), vm)?,
        })
    }

    fn fill(&self, fill: &Fill, vm: &Vm) {
        match fill {
            Fill::List(list, items) => inspect::list_replace(&self.get(*list), self.all(items)),
            Fill::Dict(dict, items) => {
                let dict = self.get(*dict);
                for (key, value) in items {
                    inspect::dict_set(&dict, &self.get(*key), Some(self.get(*value)), vm);
                }
            }
            Fill::Cell(cell, value) => inspect::set_cell(&self.get(*cell), Some(self.get(*value)), vm),
        }
    }

    /// Writes a recipe's changes to real objects.
    pub fn commit(&self, recipe: &Recipe, vm: &Vm) {
        for effect in &recipe.effects {
            match effect {
                Effect::List(list, items) => inspect::list_replace(&self.get(*list), self.all(items)),
                Effect::Dict { dict, key, value, anew } => {
                    let (dict, key) = (self.get(*dict), self.get(*key));
                    if *anew {
                        inspect::dict_set(&dict, &key, None, vm);
                    }
                    inspect::dict_set(&dict, &key, value.map(|v| self.get(v)), vm);
                }
                Effect::CacheHit(cache, probe) => {
                    if let Some(cache) = LruCache::of(&self.get(*cache)) {
                        cache.note_hit(probe, vm);
                    }
                }
                Effect::Cell(cell, contents) => inspect::set_cell(&self.get(*cell), contents.map(|c| self.get(c)), vm),
            }
        }
        if let Some(ambient) = recipe.ambient {
            ambient.set(vm);
        }
    }

    /// The frames to resume.
    pub fn frames(&self, frames: &[ExitFrame]) -> Option<Vec<FrameState>> {
        let one = |f: &ExitFrame| {
            let regs = |regs: &[Option<Reg>]| regs.iter().map(|r| r.map(|r| self.get(r))).collect();
            let handled = match f.handled {
                Some(reg) => Some(self.get(reg).downcast().ok()?),
                None => None,
            };
            Some(FrameState {
                info: f.info.clone(),
                globals: self.get(f.globals).downcast().ok()?,
                pc: f.pc,
                slots: regs(&f.slots),
                stack: regs(&f.stack),
                handled,
                in_call: f.in_call,
                post: f.post.map(|r| self.get(r)),
            })
        };
        frames.iter().map(one).collect()
    }
}

fn view_name(kind: ViewKind) -> &'static str {
    match kind {
        ViewKind::Keys => "keys",
        ViewKind::Values => "values",
        ViewKind::Items => "items",
    }
}
