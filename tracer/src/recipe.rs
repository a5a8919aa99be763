//! Recipes: how the state of a traced program becomes real objects again.
//!
//! A recipe is data, run in three steps none of which can raise or call Python: objects are read and made, new containers are
//! filled, and changes to real objects are written. The order is the order of the lists.

use crate::{
    recorder::{Recorder, Traced, stop},
    stop,
    value::{DictKey, IteratorValue, Kind, ObjId, TupleClass, Value, ViewKind},
};
use std::{collections::HashMap, rc::Rc};
use taipan_frontend::{
    code::CodeInfo,
    inspect::{self, BuiltinType, Const, Name, Object},
    torch::Ambient,
};
use taipan_guards::SourceId;
use taipan_ir::Val;

/// A made object, by its place in [`Recipe::makes`].
pub type Reg = u32;

/// How to make one object.
#[derive(Clone, Debug)]
pub enum Make {
    /// The value the guards captured, by its place in [`Recipe::sources`].
    Source(u32),
    /// A constant.
    Const(Const),
    /// A tensor of the graph, by its place in [`Recipe::outputs`].
    Output(u32),
    /// An object that lives as long as the VM, or is held by a code object.
    Known(Object),
    /// A tuple or one of its classes.
    Tuple(Vec<Reg>, TupleClass),
    /// An empty list.
    List,
    /// An empty dict.
    Dict,
    /// A set; the flag says frozen.
    Set(Vec<Reg>, bool),
    /// A slice.
    Slice([Reg; 3]),
    /// A range.
    Range([i64; 3]),
    /// An empty cell.
    Cell,
    /// A function.
    Function {
        /// Its code object.
        code: Object,
        /// Its globals.
        globals: Reg,
        /// `__defaults__`.
        defaults: Option<Reg>,
        /// `__kwdefaults__`.
        keyword_defaults: Option<Reg>,
        /// `__closure__`.
        closure: Option<Reg>,
    },
    /// A bound method.
    Method(Reg, Reg),
    /// An attribute of a made object that is a native method: `[].append`.
    NativeMethod(Reg, Name),
    /// Contents of a container that is needed before everything is made; the register holds nothing.
    Fill(Fill),
    /// An instance of a class, as `object.__new__` makes it.
    Instance(Reg),
    /// The namespace of a made object.
    Namespace(Reg),
    /// A view of a dict.
    View(Reg, ViewKind),
    /// An iterator over a made object, that many steps on.
    Iterator {
        /// The object.
        over: Reg,
        /// Items already taken.
        steps: usize,
    },
    /// `enumerate(iterator, count)`.
    Enumerate(Reg, i64),
    /// `zip(*iterators)`.
    Zip(Vec<Reg>),
}

/// What goes into a new container.
#[derive(Clone, Debug)]
pub enum Fill {
    /// Items of a list.
    List(Reg, Vec<Reg>),
    /// Items of a dict or namespace.
    Dict(Reg, Vec<(Reg, Reg)>),
    /// Contents of a cell.
    Cell(Reg, Reg),
}

/// A change to a real object.
#[derive(Clone, Debug)]
pub enum Effect {
    /// All items of a list.
    List(Reg, Vec<Reg>),
    /// One key of a dict; `None` deletes it. `anew`: it is deleted first, so that it goes to the end.
    Dict {
        /// The dict.
        dict: Reg,
        /// The key.
        key: Reg,
        /// The value.
        value: Option<Reg>,
        /// Whether the key is deleted first.
        anew: bool,
    },
    /// Contents of a cell.
    Cell(Reg, Option<Reg>),
    /// A call that a cached function has answered from what it holds: what it is looked up by.
    CacheHit(Reg, Object),
}

/// A frame to be resumed.
#[derive(Clone, Debug)]
pub struct ExitFrame {
    /// Its code.
    pub info: Rc<CodeInfo>,
    /// Its next instruction, or the running one if `in_call`.
    pub pc: usize,
    /// Whether its callee is the next frame.
    pub in_call: bool,
    /// The new object its callee is filling.
    pub post: Option<Reg>,
    /// Localsplus.
    pub slots: Vec<Option<Reg>>,
    /// Stack.
    pub stack: Vec<Option<Reg>>,
    /// Its globals.
    pub globals: Reg,
    /// The exception it is handling.
    pub handled: Option<Reg>,
}

/// How to make the state real.
#[derive(Clone, Default, Debug)]
pub struct Recipe {
    /// Values the guards have to capture.
    pub sources: Vec<SourceId>,
    /// Values of the graph that are needed.
    pub outputs: Vec<Val>,
    /// Whether one of them requires grad, so that the graph runs on the tape.
    pub recorded: bool,
    /// Objects to make, in order.
    pub makes: Vec<Make>,
    /// What goes into new containers.
    pub fills: Vec<Fill>,
    /// What is written to real objects.
    pub effects: Vec<Effect>,
    /// Ambient state to set, where the program changed it.
    pub ambient: Option<Ambient>,
}

/// Builds a recipe from the heap.
pub struct RecipeBuilder<'r, 'vm> {
    recorder: &'r mut Recorder<'vm>,
    recipe: Recipe,
    made: HashMap<ObjId, Reg>,
    pending: Vec<ObjId>,
    /// Containers whose contents are being made for an iterator.
    settling: Vec<ObjId>,
}

impl<'r, 'vm> RecipeBuilder<'r, 'vm> {
    /// An empty recipe over a recorder's heap.
    pub fn new(recorder: &'r mut Recorder<'vm>) -> Self {
        RecipeBuilder { recorder, recipe: Recipe::default(), made: HashMap::new(), pending: vec![], settling: vec![] }
    }

    /// The register of a value.
    pub fn value(&mut self, value: &Value) -> Traced<Reg> {
        match value {
            Value::Const(c) => Ok(self.make(Make::Const(c.clone()))),
            Value::Object(id) => self.object(*id),
        }
    }

    /// Fills containers, adds effects, and gives the recipe.
    pub fn finish(mut self, ambient: Option<Ambient>) -> Traced<Recipe> {
        let changed: Vec<ObjId> = self.recorder.objects().filter(|(_, i)| i.changed && i.handle.is_some()).map(|(id, _)| id).collect();
        for id in &changed {
            self.effect(*id)?;
        }
        for (cache, probe) in self.recorder.cache_hits.clone() {
            let cache = self.object(cache)?;
            self.recipe.effects.push(Effect::CacheHit(cache, probe));
        }
        while let Some(id) = self.pending.pop() {
            self.fill(id)?;
        }
        self.distinct(&changed);
        self.recipe.ambient = ambient;
        Ok(self.recipe)
    }

    fn make(&mut self, make: Make) -> Reg {
        self.recipe.makes.push(make);
        self.recipe.makes.len() as Reg - 1
    }

    fn all(&mut self, values: &[Value]) -> Traced<Vec<Reg>> {
        values.iter().map(|v| self.value(v)).collect()
    }

    fn maybe(&mut self, value: &Option<Value>) -> Traced<Option<Reg>> {
        value.as_ref().map(|v| self.value(v)).transpose()
    }

    fn object(&mut self, id: ObjId) -> Traced<Reg> {
        if let Some(reg) = self.made.get(&id) {
            return Ok(*reg);
        }
        if let Some(handle) = self.recorder.item(id).handle.clone() {
            let known = matches!(self.recorder.assume.sources().get(handle.source()), taipan_guards::Source::Known(_));
            let make = if known {
                Make::Known(self.recorder.assume.opaque(&handle))
            } else {
                self.recipe.sources.push(handle.source());
                Make::Source(self.recipe.sources.len() as u32 - 1)
            };
            return Ok(self.remember(id, make));
        }
        let kind = self.recorder.kind(id).clone();
        let make = match kind {
            Kind::Constant(c) => Make::Const(c),
            Kind::Tensor(t) => {
                let value = self.recorder.graph_value(id)?;
                self.recipe.outputs.push(value);
                self.recipe.recorded |= t.requires_grad;
                Make::Output(self.recipe.outputs.len() as u32 - 1)
            }
            Kind::Tuple(items, class) => Make::Tuple(self.all(&items)?, class),
            Kind::Set(items, class) => {
                let items: Vec<Value> = items.values().map(|(k, _)| k.clone()).collect();
                Make::Set(self.all(&items)?, class == crate::value::SetClass::FrozenSet)
            }
            Kind::Slice(parts) => Make::Slice([self.value(&parts[0])?, self.value(&parts[1])?, self.value(&parts[2])?]),
            Kind::Range(parts) => Make::Range(parts),
            Kind::Method { function, receiver } => Make::Method(self.value(&function)?, self.value(&receiver)?),
            Kind::Op { name, receiver } => {
                let owner = self.value(&receiver)?;
                Make::NativeMethod(owner, self.recorder.name(name))
            }
            Kind::Native {
                native: crate::natives::Native::Method(_, name) | crate::natives::Native::TensorMethod(name),
                receiver: Some(receiver),
            } => Make::NativeMethod(self.value(&receiver)?, name),
            Kind::View(dict, kind) => Make::View(self.object(dict)?, kind),
            Kind::Iterator(iterator) => self.iterator(&iterator)?,
            Kind::List(_) => return Ok(self.container(id, Make::List)),
            Kind::Dict(_) => return self.dict(id),
            Kind::Cell(_) => return Ok(self.container(id, Make::Cell)),
            Kind::Instance { class } => {
                let class = self.recorder.wrap(class);
                let class = self.value(&class)?;
                return Ok(self.container(id, Make::Instance(class)));
            }
            Kind::Function(f) => return self.function(id, &f),
            Kind::Real | Kind::RealDict(_) | Kind::Native { .. } | Kind::Exception(_) | Kind::Generator(_) | Kind::Super { .. } => {
                return stop(&stop::REBUILD, format!("{kind:?}").split([' ', '(']).next().unwrap_or("").to_owned());
            }
        };
        Ok(self.remember(id, make))
    }

    fn remember(&mut self, id: ObjId, make: Make) -> Reg {
        let reg = self.make(make);
        self.made.insert(id, reg);
        reg
    }

    /// An object whose contents are filled in later, since they may lead back to it.
    fn container(&mut self, id: ObjId, make: Make) -> Reg {
        self.pending.push(id);
        self.remember(id, make)
    }

    /// A dict of its own, or the namespace of an object that is made first.
    fn dict(&mut self, id: ObjId) -> Traced<Reg> {
        let owner = self.recorder.objects().find(|(_, item)| item.namespace == Some(id)).map(|(owner, _)| owner);
        match owner {
            Some(owner) => {
                let owner = self.object(owner)?;
                // The owner's fill writes the contents.
                Ok(self.remember(id, Make::Namespace(owner)))
            }
            None => Ok(self.container(id, Make::Dict)),
        }
    }

    fn function(&mut self, id: ObjId, f: &crate::value::FunctionValue) -> Traced<Reg> {
        if f.annotations.is_some() {
            return stop(&stop::REBUILD, "a function with annotations");
        }
        if f.closure.is_none() && inspect::has_free_variables(&f.code) {
            return stop(&stop::REBUILD, "a function before it has its closure");
        }
        let globals = self.value(&f.globals)?;
        let defaults = self.maybe(&f.defaults)?;
        let keyword_defaults = self.maybe(&f.keyword_defaults)?;
        let closure = self.maybe(&f.closure)?;
        let make = Make::Function { code: f.code.clone(), globals, defaults, keyword_defaults, closure };
        Ok(self.container(id, make))
    }

    fn iterator(&mut self, iterator: &IteratorValue) -> Traced<Make> {
        Ok(match iterator {
            IteratorValue::List { list, next: Some(next) } => Make::Iterator { over: self.settled(*list)?, steps: *next },
            IteratorValue::List { next: None, .. } => return stop(&stop::REBUILD, "an exhausted list iterator"),
            IteratorValue::Items { items, next, class, over } => match (over, class) {
                (Some(Value::Object(over)), _) => Make::Iterator { over: self.settled(*over)?, steps: *next },
                (Some(over), _) => Make::Iterator { over: self.value(over)?, steps: *next },
                (None, BuiltinType::TupleIterator) => {
                    let items = self.all(items)?;
                    let over = self.make(Make::Tuple(items, TupleClass::Tuple));
                    Make::Iterator { over, steps: *next }
                }
                _ => return stop(&stop::REBUILD, "an iterator"),
            },
            IteratorValue::Range { next, stop, step } => {
                let over = self.make(Make::Range([*next, *stop, *step]));
                Make::Iterator { over, steps: 0 }
            }
            IteratorValue::Dict { dict, kind, next, .. } => {
                let dict = self.settled(*dict)?;
                let over = self.make(Make::View(dict, *kind));
                Make::Iterator { over, steps: *next }
            }
            IteratorValue::Enumerate { inner, count } => Make::Enumerate(self.object(*inner)?, *count),
            IteratorValue::Zip { inner, strict: false } => {
                let inner: Traced<Vec<Reg>> = inner.iter().map(|i| self.object(*i)).collect();
                Make::Zip(inner?)
            }
            IteratorValue::Zip { strict: true, .. } => return stop(&stop::REBUILD, "a strict zip"),
        })
    }

    /// A container with its contents, for an iterator that is advanced over it.
    fn settled(&mut self, id: ObjId) -> Traced<Reg> {
        let item = self.recorder.item(id);
        if item.handle.is_some() && item.changed {
            return stop(&stop::REBUILD, "an iterator over a container that was changed");
        }
        if self.settling.contains(&id) {
            return stop(&stop::REBUILD, "an iterator in the container it goes over");
        }
        let real = item.handle.is_some();
        let reg = self.object(id)?;
        let container = match self.recorder.kind(id) {
            Kind::List(_) => true,
            Kind::Dict(_) if !real && self.recorder.objects().any(|(_, owner)| owner.namespace == Some(id)) => {
                return stop(&stop::REBUILD, "an iterator over the attributes of a new object");
            }
            Kind::Dict(_) => true,
            _ => false,
        };
        if container && !real {
            self.settling.push(id);
            let others = self.recipe.fills.len();
            self.fill(id)?;
            let fills = self.recipe.fills.split_off(others);
            self.recipe.makes.extend(fills.into_iter().map(Make::Fill));
            self.settling.pop();
        }
        Ok(reg)
    }

    fn fill(&mut self, id: ObjId) -> Traced<()> {
        let reg = self.made[&id];
        match self.recorder.kind(id).clone() {
            Kind::List(items) => {
                let items = self.all(&items)?;
                self.recipe.fills.push(Fill::List(reg, items));
            }
            Kind::Dict(items) => {
                let pairs = self.pairs(items.values().cloned().collect())?;
                self.recipe.fills.push(Fill::Dict(reg, pairs));
            }
            Kind::Cell(Some(value)) => {
                let value = self.value(&value)?;
                self.recipe.fills.push(Fill::Cell(reg, value));
            }
            Kind::Instance { .. } | Kind::Function(_) => {
                if let Some(namespace) = self.recorder.item(id).namespace
                    && let Kind::Dict(items) = self.recorder.kind(namespace).clone()
                    && !items.is_empty()
                {
                    let pairs = self.pairs(items.values().cloned().collect())?;
                    let namespace = self.made.get(&namespace).copied();
                    let dict = namespace.unwrap_or_else(|| self.make(Make::Namespace(reg)));
                    self.recipe.fills.push(Fill::Dict(dict, pairs));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn pairs(&mut self, items: Vec<(Value, Value)>) -> Traced<Vec<(Reg, Reg)>> {
        items.iter().map(|(k, v)| Ok((self.value(k)?, self.value(v)?))).collect()
    }

    fn effect(&mut self, id: ObjId) -> Traced<()> {
        let reg = self.object(id)?;
        match self.recorder.kind(id).clone() {
            Kind::List(items) => {
                let items = self.all(&items)?;
                self.recipe.effects.push(Effect::List(reg, items));
            }
            Kind::RealDict(overlay) => {
                for (dict_key, change) in overlay.iter() {
                    if matches!(dict_key, DictKey::Tuple(_)) {
                        return stop(&stop::MUTATION, "a real dict written by a tuple");
                    }
                    let key = self.value(&change.key)?;
                    let value = self.maybe(&change.value)?;
                    self.recipe.effects.push(Effect::Dict { dict: reg, key, value, anew: change.anew });
                }
            }
            Kind::Cell(contents) => {
                let contents = self.maybe(&contents)?;
                self.recipe.effects.push(Effect::Cell(reg, contents));
            }
            _ => return stop(&stop::MUTATION, "an object of a kind that can't be written back"),
        }
        Ok(())
    }

    /// A changed object must not be one that was reached by another way.
    fn distinct(&mut self, changed: &[ObjId]) {
        for id in changed {
            let group = std::mem::discriminant(self.recorder.kind(*id));
            let others: Vec<SourceId> = self
                .recorder
                .objects()
                .filter(|(other, item)| other != id && std::mem::discriminant(&item.kind) == group)
                .filter(|(other, _)| !changed.contains(other) || other < id)
                .filter_map(|(_, item)| item.handle.as_ref().map(taipan_guards::Handle::source))
                .collect();
            if let Some(handle) = self.recorder.item(*id).handle.clone() {
                self.recorder.assume.not_among(handle.source(), others);
            }
        }
    }
}
