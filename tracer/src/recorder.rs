//! The recorder: the graph, the assumptions and the heap of one trace, with one journal that takes changes back.

use crate::{
    frame::{Frame, Snapshot},
    stop::{self, Stop},
    value::{ExceptionValue, Item, Items, Kind, ObjId, Overlay, TensorValue, TupleClass, Value},
};
use smallvec::SmallVec;
use std::{collections::HashMap, rc::Rc};
use taipan_frontend::{
    inspect::{self, BuiltinType, Const, Name, Object, Vm},
    torch::{Ambient, OpCallable, torch_type},
};
use taipan_guards::{Assumptions, Handle, SourceId, source::Source};
use taipan_ir::{
    Dim, Dims, Facts, OpError, OpRef, Registry, Shape, Val,
    dims::{DimOp, NumberDims, Rel},
    emit::FactsEmitter,
    graph::{Graph, GraphMark},
    op::{Arg, Emitter, Meaning},
};
use taipan_tensor::registry;

/// Why a handler has no result: an exception of the program, or a stop of the trace.
#[derive(Debug)]
pub enum Unwind {
    /// A traced exception.
    Raise(Value),
    /// The instruction can't be traced.
    Break(Stop),
}

/// The result of a traced step.
pub type Traced<T> = Result<T, Unwind>;

/// Shorthand for a stop.
pub fn stop<T>(reason: &'static stop::Reason, detail: impl Into<String>) -> Traced<T> {
    Err(Unwind::Break(Stop::new(reason, detail)))
}

/// The recorder of one trace.
pub struct Recorder<'vm> {
    /// The VM.
    pub vm: &'vm Vm,
    /// The ops.
    pub registry: &'static Registry,
    /// The graph so far.
    pub graph: Graph,
    /// What was assumed so far.
    pub assume: Assumptions<'vm>,
    /// The frames, outermost first.
    pub frames: Vec<Frame>,
    /// For each frame, its state before its current instruction.
    pub snapshots: Vec<(Snapshot, Mark)>,
    /// Ambient state as the traced program has set it.
    pub ambient: Ambient,
    /// The real tensors behind the graph's inputs.
    pub inputs: Vec<ObjId>,
    /// Lines printed by `reveal`, for reports.
    pub revealed: Vec<(u32, String)>,
    /// Calls that caches have answered, in order: the cached function, and what the call is looked up by.
    pub cache_hits: Vec<(ObjId, Object)>,
    /// Items of containers that were kept in the journal, taken back or not: what a trace costs besides its instructions.
    pub copied: usize,
    heap: Vec<Item>,
    journal: Vec<(ObjId, Item)>,
    by_address: HashMap<usize, ObjId>,
}

/// The state of a trace at some time, to go back to.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    graph: GraphMark,
    assumptions: taipan_guards::assume::AssumptionMark,
    heap: usize,
    journal: usize,
    ambient: Ambient,
    revealed: usize,
    cache_hits: usize,
}

impl<'vm> Recorder<'vm> {
    /// An empty trace.
    pub fn new(vm: &'vm Vm, ambient: Ambient) -> Self {
        Recorder {
            vm,
            registry: registry(),
            graph: Graph::default(),
            assume: Assumptions::new(vm),
            frames: vec![],
            snapshots: vec![],
            ambient,
            inputs: vec![],
            revealed: vec![],
            cache_hits: vec![],
            copied: 0,
            heap: vec![],
            journal: vec![],
            by_address: HashMap::new(),
        }
    }

    /// Where the trace stands.
    pub fn mark(&self) -> Mark {
        Mark {
            graph: self.graph.mark(),
            assumptions: self.assume.mark(),
            heap: self.heap.len(),
            journal: self.journal.len(),
            ambient: self.ambient,
            revealed: self.revealed.len(),
            cache_hits: self.cache_hits.len(),
        }
    }

    /// Whether the trace, just having gone back, stands at `mark` or behind it.
    pub fn is_behind(&self, mark: Mark) -> bool {
        self.heap.len() >= mark.heap && self.journal.len() >= mark.journal
    }

    /// Goes back to `mark`.
    pub fn undo(&mut self, mark: Mark) {
        for (id, item) in self.journal.drain(mark.journal..).rev() {
            self.heap[id.0 as usize] = item;
        }
        self.heap.truncate(mark.heap);
        self.by_address.retain(|_, id| (id.0 as usize) < mark.heap);
        self.graph.undo(mark.graph);
        self.assume.undo(mark.assumptions);
        self.inputs.truncate(self.graph.inputs().len());
        self.ambient = mark.ambient;
        self.revealed.truncate(mark.revealed);
        self.cache_hits.truncate(mark.cache_hits);
    }

    /// Goes back to `mark`, but keeps what was assumed: it led to the decision to stop there.
    pub fn undo_keeping_assumptions(&mut self, mark: Mark) {
        let assumptions = self.assume.mark();
        self.undo(Mark { assumptions, ..mark });
    }

    /// Whether a real object was changed.
    pub fn has_changes(&self) -> bool {
        !self.cache_hits.is_empty() || self.heap.iter().any(|item| item.changed && item.handle.is_some())
    }

    /// The innermost frame.
    pub fn frame(&self) -> &Frame {
        // The driver runs handlers only while there is a frame.
        self.frames.last().expect("a handler runs inside a frame")
    }

    /// The innermost frame, to be changed.
    pub fn frame_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a handler runs inside a frame")
    }

    /// An item of the heap.
    pub fn item(&self, id: ObjId) -> &Item {
        &self.heap[id.0 as usize]
    }

    /// What is known of an object.
    pub fn kind(&self, id: ObjId) -> &Kind {
        &self.item(id).kind
    }

    /// All objects.
    pub fn objects(&self) -> impl Iterator<Item = (ObjId, &Item)> {
        self.heap.iter().enumerate().map(|(i, item)| (ObjId(i as u32), item))
    }

    /// Changes an item; the journal keeps the old one.
    pub fn change(&mut self, id: ObjId, change: impl FnOnce(&mut Item)) {
        let old = self.heap[id.0 as usize].clone();
        self.copied += match &old.kind {
            Kind::List(items) => items.len(),
            Kind::Dict(items) | Kind::Set(items, _) => items.len(),
            Kind::RealDict(overlay) => overlay.len(),
            _ => 0,
        };
        self.journal.push((id, old));
        change(&mut self.heap[id.0 as usize]);
    }

    /// Replaces what is known of an object, without its state having changed.
    pub fn learn(&mut self, id: ObjId, kind: Kind) {
        self.change(id, |item| item.kind = kind);
    }

    /// Replaces an object's state.
    pub fn write(&mut self, id: ObjId, kind: Kind) {
        self.change(id, |item| {
            item.kind = kind;
            item.changed = true;
        });
    }

    /// A new object.
    pub fn make(&mut self, kind: Kind) -> Value {
        Value::Object(self.make_id(kind))
    }

    /// A new object, by id.
    pub fn make_id(&mut self, kind: Kind) -> ObjId {
        self.heap.push(Item { kind, handle: None, changed: false, namespace: None });
        ObjId(self.heap.len() as u32 - 1)
    }

    /// A new tuple.
    pub fn tuple(&mut self, items: impl Into<Rc<[Value]>>) -> Value {
        self.make(Kind::Tuple(items.into(), TupleClass::Tuple))
    }

    /// A new list.
    pub fn list(&mut self, items: Vec<Value>) -> Value {
        self.make(Kind::List(Rc::new(items)))
    }

    /// The value of a real object. An object reached before is the same value, and assumed to be.
    pub fn wrap(&mut self, handle: Handle) -> Value {
        let address = handle.address();
        if let Some(id) = self.by_address.get(&address).copied() {
            let first = self.item(id).handle.as_ref().map(Handle::source);
            if let Some(first) = first
                && first != handle.source()
            {
                self.assume.same_as(&handle, first);
            }
            return Value::Object(id);
        }
        // Constants have no identity in a trace, so equal ones are not tied together.
        let is_constant = inspect::constant(&self.assume.opaque(&handle), self.vm).is_some();
        self.heap.push(Item { kind: Kind::Real, handle: Some(handle), changed: false, namespace: None });
        let id = ObjId(self.heap.len() as u32 - 1);
        if !is_constant {
            self.by_address.insert(address, id);
        }
        Value::Object(id)
    }

    /// The value of a root of the entry.
    pub fn root(&mut self, source: Source, object: Object) -> Value {
        let handle = self.assume.root(source, object);
        self.wrap(handle)
    }

    /// The value of an object that lives as long as the VM.
    pub fn known(&mut self, object: Object) -> Value {
        let handle = self.assume.known(object);
        self.wrap(handle)
    }

    /// The handle of one of the VM's own classes.
    pub fn known_class(&mut self, class: BuiltinType) -> Handle {
        let object = class.object(self.vm).unwrap_or_else(|| self.vm_object_type());
        self.assume.known(object)
    }

    fn vm_object_type(&self) -> Object {
        inspect::class_of(&inspect::class_of(&inspect::make_const(&Const::None, self.vm)))
    }

    /// The value with its kind found out: constants become constants, containers and tensors show what they hold.
    pub fn resolve(&mut self, value: &Value) -> Traced<Value> {
        let Value::Object(id) = value else { return Ok(value.clone()) };
        match self.kind(*id) {
            Kind::Constant(c) => return Ok(Value::Const(c.clone())),
            Kind::Real => {}
            _ => return Ok(value.clone()),
        }
        let Some(handle) = self.item(*id).handle.clone() else { return Ok(value.clone()) };
        let kind = self.assume.builtin_type(&handle);
        match kind {
            BuiltinType::None
            | BuiltinType::Bool
            | BuiltinType::Int
            | BuiltinType::Float
            | BuiltinType::Str
            | BuiltinType::Bytes
            | BuiltinType::Ellipsis
            | BuiltinType::NotImplemented => {
                if let Some(c) = self.assume.constant(&handle) {
                    self.learn(*id, Kind::Constant(c.clone()));
                    return Ok(Value::Const(c));
                }
            }
            BuiltinType::Tuple => self.resolve_items(*id, &handle, |items| Kind::Tuple(items.into(), TupleClass::Tuple)),
            BuiltinType::List => self.resolve_items(*id, &handle, |items| Kind::List(Rc::new(items))),
            BuiltinType::Dict => self.learn(*id, Kind::RealDict(Rc::new(Overlay::new()))),
            BuiltinType::Slice => self.resolve_parts(*id, &handle, ["start", "stop", "step"])?,
            BuiltinType::Range => {
                let parts = ["start", "stop", "step"].map(|n| self.assume.native(&handle, n).and_then(|h| self.assume.constant(&h)));
                if let [Some(Const::Int(start)), Some(Const::Int(stop)), Some(Const::Int(step))] = parts {
                    self.learn(*id, Kind::Range([start, stop, step]));
                }
            }
            BuiltinType::Cell => {
                let contents = self.assume.cell(&handle).map(|h| self.wrap(h));
                self.learn(*id, Kind::Cell(contents));
            }
            BuiltinType::BoundMethod => {
                let function = self.assume.native(&handle, "__func__").map(|h| self.wrap(h));
                let receiver = self.assume.native(&handle, "__self__").map(|h| self.wrap(h));
                if let (Some(function), Some(receiver)) = (function, receiver) {
                    self.learn(*id, Kind::Method { function, receiver });
                }
            }
            BuiltinType::Other => self.resolve_other(*id, &handle)?,
            _ => {}
        }
        Ok(value.clone())
    }

    fn resolve_other(&mut self, id: ObjId, handle: &Handle) -> Traced<()> {
        let class = self.assume.class(handle);
        let class = self.assume.opaque(&class);
        if torch_type::is_size(&class, self.vm) {
            self.resolve_items(id, handle, |items| Kind::Tuple(items.into(), TupleClass::Size));
        } else if torch_type::is_watched_dict(&class, self.vm) {
            self.learn(id, Kind::RealDict(Rc::new(Overlay::new())));
        } else if torch_type::is_plain_tensor(&class, self.vm) {
            let Some((check, mut facts)) = self.assume.tensor(handle) else { return Ok(()) };
            // Graphs compute with the offset they get, so it is no fact.
            facts.offset = Dim::Is(0);
            let tensor = TensorValue { value: None, facts: Rc::new(facts), requires_grad: check.requires_grad, is_leaf: check.is_leaf };
            self.learn(id, Kind::Tensor(tensor));
        } else if torch_type::is_tensor(&class, self.vm) {
            return stop(&stop::SUBCLASS, inspect::class_name(&class));
        }
        Ok(())
    }

    fn resolve_items(&mut self, id: ObjId, handle: &Handle, kind: impl FnOnce(Vec<Value>) -> Kind) {
        if let Some(items) = self.assume.items(handle) {
            let items = items.into_iter().map(|h| self.wrap(h)).collect();
            self.learn(id, kind(items));
        }
    }

    fn resolve_parts(&mut self, id: ObjId, handle: &Handle, names: [&'static str; 3]) -> Traced<()> {
        let mut parts = [Value::NONE, Value::NONE, Value::NONE];
        for (part, name) in parts.iter_mut().zip(names) {
            if let Some(h) = self.assume.native(handle, name) {
                *part = self.wrap(h);
            }
        }
        self.learn(id, Kind::Slice(Rc::new(parts)));
        Ok(())
    }

    /// The constant a value is, if it is one.
    pub fn constant(&mut self, value: &Value) -> Traced<Option<Const>> {
        Ok(match self.resolve(value)? {
            Value::Const(c) => Some(c),
            Value::Object(_) => None,
        })
    }

    /// The `str` a value is.
    pub fn text(&mut self, value: &Value) -> Traced<Option<Rc<str>>> {
        Ok(match self.constant(value)? {
            Some(Const::Str(s)) => Some(s),
            _ => None,
        })
    }

    /// The `int` a value is; a `bool` counts.
    pub fn integer(&mut self, value: &Value) -> Traced<Option<i64>> {
        Ok(match self.constant(value)? {
            Some(Const::Int(i)) => Some(i),
            Some(Const::Bool(b)) => Some(i64::from(b)),
            _ => None,
        })
    }

    /// The kind of a resolved value, where it is an object.
    pub fn kind_of(&mut self, value: &Value) -> Traced<Option<(ObjId, Kind)>> {
        Ok(match self.resolve(value)? {
            Value::Object(id) => Some((id, self.kind(id).clone())),
            Value::Const(_) => None,
        })
    }

    /// The traced tensor a value is.
    pub fn tensor(&mut self, value: &Value) -> Traced<Option<TensorValue>> {
        Ok(match self.kind_of(value)? {
            Some((_, Kind::Tensor(t))) => Some(t),
            _ => None,
        })
    }

    /// The class of a value.
    pub fn class(&mut self, value: &Value) -> Traced<Handle> {
        let value = self.resolve(value)?;
        let id = match &value {
            Value::Const(c) => return Ok(self.known_class(const_class(c))),
            Value::Object(id) => *id,
        };
        if let Some(handle) = self.item(id).handle.clone() {
            return Ok(self.assume.class(&handle));
        }
        let builtin = match self.kind(id).clone() {
            Kind::Real | Kind::Constant(_) => return stop(&stop::REBUILD, "a value that isn't known"),
            Kind::Tensor(_) => return Ok(self.assume.known(torch_type::tensor(self.vm))),
            Kind::Tuple(_, TupleClass::Size) => return Ok(self.assume.known(torch_type::size(self.vm))),
            Kind::Tuple(_, TupleClass::Named(base)) => return Ok(self.assume.known(torch_type::result_class(base, self.vm))),
            Kind::Tuple(_, TupleClass::Tuple) => BuiltinType::Tuple,
            Kind::List(_) => BuiltinType::List,
            Kind::Dict(_) | Kind::RealDict(_) => BuiltinType::Dict,
            Kind::Set(_, crate::value::SetClass::Set) => BuiltinType::Set,
            Kind::Set(_, crate::value::SetClass::FrozenSet) => BuiltinType::FrozenSet,
            Kind::Slice(_) => BuiltinType::Slice,
            Kind::Range(_) => BuiltinType::Range,
            Kind::Cell(_) => BuiltinType::Cell,
            Kind::Function(_) => BuiltinType::Function,
            Kind::Method { .. } | Kind::Op { .. } => BuiltinType::BoundMethod,
            Kind::Native { .. } => BuiltinType::BuiltinMethod,
            Kind::Instance { class } => return Ok(class),
            Kind::Exception(e) => return Ok(e.class.clone()),
            Kind::Iterator(i) => iterator_class(&i),
            Kind::Generator(_) => BuiltinType::Generator,
            Kind::View(_, crate::value::ViewKind::Keys) => BuiltinType::DictKeys,
            Kind::View(_, crate::value::ViewKind::Values) => BuiltinType::DictValues,
            Kind::View(_, crate::value::ViewKind::Items) => BuiltinType::DictItems,
            Kind::Super { .. } => BuiltinType::Super,
        };
        Ok(self.known_class(builtin))
    }

    /// Which of the VM's own types a value has exactly.
    pub fn builtin_type(&mut self, value: &Value) -> Traced<BuiltinType> {
        let value = self.resolve(value)?;
        match &value {
            Value::Const(c) => Ok(const_class(c)),
            Value::Object(id) => match self.item(*id).handle.clone() {
                Some(handle) => Ok(self.assume.builtin_type(&handle)),
                None => {
                    let class = self.class(&value)?;
                    Ok(BuiltinType::of_type(&self.assume.opaque(&class), self.vm))
                }
            },
        }
    }

    /// The handle of a real object.
    pub fn handle(&self, value: &Value) -> Option<Handle> {
        self.item(value.id()?).handle.clone()
    }

    /// The name of a value's class, for messages. Assumes the class.
    pub fn class_name(&mut self, value: &Value) -> String {
        match self.class(value) {
            Ok(class) => inspect::class_name(&self.assume.opaque(&class)),
            Err(_) => "object".to_owned(),
        }
    }

    /// The op behind a torch function.
    pub fn op_callable(&mut self, handle: &Handle) -> Option<OpCallable> {
        self.assume.op(handle)
    }

    /// An exception of one of the VM's own classes.
    pub fn raise<T>(&mut self, class: &str, message: &str) -> Traced<T> {
        let args: Rc<[Value]> = if message.is_empty() { Rc::new([]) } else { Rc::new([Value::str(message)]) };
        self.raise_with(class, args)
    }

    /// The same with any arguments.
    pub fn raise_with<T>(&mut self, class: &str, args: Rc<[Value]>) -> Traced<T> {
        let Some(object) = inspect::builtin_exception(class, self.vm) else { return stop(&stop::RAISES, class) };
        let class = self.assume.known(object);
        let exception = self.make(Kind::Exception(Rc::new(ExceptionValue { class, args, cause: None })));
        Err(Unwind::Raise(exception))
    }

    /// The value of a tensor in the graph; a real tensor becomes an input on first use.
    pub fn graph_value(&mut self, id: ObjId) -> Traced<Val> {
        let Kind::Tensor(tensor) = self.kind(id).clone() else { return stop(&stop::OPERATOR, "not a tensor") };
        if let Some(value) = tensor.value {
            return Ok(value);
        }
        let name = match self.item(id).handle.as_ref().map(Handle::source) {
            Some(source) => self.input_name(source),
            None => "t".to_owned(),
        };
        let value = self.graph.input(&name, (*tensor.facts).clone());
        self.inputs.push(id);
        self.learn(id, Kind::Tensor(TensorValue { value: Some(value), ..tensor }));
        Ok(value)
    }

    /// `self.fc.weight` → `fc_weight`: a word for readers.
    fn input_name(&self, source: SourceId) -> String {
        let text = self.assume.sources().short_text(source);
        let text = text.replace("._parameters['", ".").replace("._modules['", ".").replace("._buffers['", ".").replace("']", "");
        let text = text.strip_prefix("self.").unwrap_or(&text);
        let mut name: String = text.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect();
        while name.contains("__") {
            name = name.replace("__", "_");
        }
        let name = name.trim_matches('_').to_owned();
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) { format!("t{name}") } else { name }
    }

    /// Puts an op into the graph. A result that is an argument unchanged is that argument's object.
    pub fn emit(&mut self, op: OpRef, args: &[Arg<ObjId>]) -> Traced<SmallVec<[Value; 2]>> {
        let mut failed = None;
        let vals: Vec<Arg<Val>> = args
            .iter()
            .map(|a| {
                a.map(|id| {
                    self.graph_value(*id).unwrap_or_else(|e| {
                        failed = Some(e);
                        Val(u32::MAX)
                    })
                })
            })
            .collect();
        if let Some(e) = failed {
            return Err(e);
        }
        let requiring = self.requiring_grad(&vals, args);
        let grad_enabled = self.ambient.grad_enabled();
        let Results { facts, requires_grad, same, written } = self.results_of(op, &vals, if grad_enabled { &requiring } else { &[] })?;
        let unchanged = all_same(&same, &vals, args);
        if let Some(ids) = &unchanged
            && written.is_empty()
        {
            return Ok(ids.iter().copied().map(Value::Object).collect());
        }
        let no_grad = !requiring.is_empty() && !grad_enabled;
        let tracked = grad_enabled && !requiring.is_empty() && op.0.gradient.differentiable();
        let line = self.frames.last().map_or(0, Frame::line);
        if let Meaning::Mutate { writes, .. } = op.0.meaning {
            let Some(Arg::Tensor(target)) = args.get(writes) else { return stop(&stop::OPERATOR, op.name()) };
            let target_value = vals.get(writes).and_then(|arg| if let Arg::Tensor(value) = arg { Some(*value) } else { None });
            if let Kind::Tensor(t) = self.kind(*target)
                && (t.requires_grad || tracked)
                && t.facts.dtype.has_gradients()
                && grad_enabled
            {
                if !target_value.is_some_and(|value| self.owns_memory(value)) {
                    return stop(&stop::GRADIENT, format!("{} on a tensor that requires grad", op.name()));
                }
                let written = TensorValue { requires_grad: true, is_leaf: false, ..t.clone() };
                self.learn(*target, Kind::Tensor(written));
            }
            self.graph.push(op, vals, facts, line);
            if no_grad {
                self.graph.mark_no_grad();
            }
            return Ok(SmallVec::from_elem(Value::Object(*target), 1));
        }
        if self.ambient.grad_enabled() {
            for value in &written {
                if let Some(id) = object_of(*value, &vals, args)
                    && let Kind::Tensor(t) = self.kind(id)
                    && (t.requires_grad || tracked)
                {
                    return stop(&stop::GRADIENT, format!("{} writes into a tensor that requires grad", op.name()));
                }
            }
        }
        let results = self.graph.push(op, vals, facts.iter().cloned(), line);
        if no_grad {
            self.graph.mark_no_grad();
        }
        if let Some(ids) = unchanged {
            return Ok(ids.into_iter().map(Value::Object).collect());
        }
        let make = |((value, facts), requires_grad): ((&Val, Facts), bool), recorder: &mut Self| {
            recorder.make(Kind::Tensor(TensorValue { value: Some(*value), facts: Rc::new(facts), requires_grad, is_leaf: !requires_grad }))
        };
        Ok(results.iter().zip(facts).zip(requires_grad).map(|result| make(result, self)).collect())
    }

    /// The values among an op's arguments that require grad.
    fn requiring_grad(&self, vals: &[Arg<Val>], args: &[Arg<ObjId>]) -> Vec<Val> {
        let requires = |id: ObjId| matches!(self.kind(id), Kind::Tensor(t) if t.requires_grad && t.facts.dtype.has_gradients());
        pairs(vals, args).into_iter().filter(|(_, id)| requires(*id)).map(|(value, _)| value).collect()
    }

    /// Whether a value of the graph has memory that no other value looks at: made by an op that is no view, and no view of it made since.
    /// A write into it changes the history of nothing else.
    fn owns_memory(&self, value: Val) -> bool {
        let may_share = |meaning: Meaning| matches!(meaning, Meaning::View | Meaning::Composite(_) | Meaning::Mutate { .. });
        let nodes = self.graph.nodes();
        let Some(made) = nodes.iter().position(|node| node.results.contains(&value)) else { return false };
        let used_by_view = nodes[made + 1..].iter().any(|node| {
            let mut used = false;
            node.args.iter().for_each(|arg| arg.for_each(|own| used |= *own == value));
            used && matches!(node.op.0.meaning, Meaning::View | Meaning::Composite(_))
        });
        !may_share(nodes[made].op.0.meaning) && !used_by_view
    }

    /// What an op's results are: their facts, whether they require grad, and which are arguments unchanged.
    fn results_of(&mut self, op: OpRef, args: &[Arg<Val>], requiring: &[Val]) -> Traced<Results> {
        let mut dims = TracedDims::default();
        let mut emitter = FactsEmitter::new(self.registry, &mut dims, self.ambient.default_dtype());
        // Each argument has one value here, however often it is given.
        let mut given: Vec<(Val, Val)> = vec![];
        let inner: Vec<Arg<Val>> = args
            .iter()
            .map(|arg| {
                arg.map(|outer| {
                    if let Some((inner, _)) = given.iter().find(|(_, known)| known == outer) {
                        return *inner;
                    }
                    let inner = emitter.value(self.graph.facts(*outer).clone());
                    if requiring.contains(outer) {
                        emitter.require_grad(inner);
                    }
                    given.push((inner, *outer));
                    inner
                })
            })
            .collect();
        let outer = |value: &Val| given.iter().find(|(inner, _)| inner == value).map(|(_, outer)| *outer);
        let result = emitter.emit(op, &inner).map(|results| Results {
            facts: results.iter().map(|value| emitter.facts(*value).clone()).collect(),
            requires_grad: results.iter().map(|value| emitter.requires_grad(*value)).collect(),
            same: results.iter().map(outer).collect(),
            written: emitter.written().iter().filter_map(outer).collect(),
        });
        match result {
            Ok(_) if dims.unknown => stop(&stop::DATA_DEPENDENT, format!("the size of what {} gives", op.name())),
            Ok(found) => Ok(found),
            Err(OpError::DataDependent) => stop(&stop::DATA_DEPENDENT, op.name()),
            Err(OpError::Raised { text, .. }) => stop(&stop::OP_ERROR, format!("{}: {text}", op.name())),
        }
    }

    /// The namespace of an object, as a dict of the heap; `None` where the object has none.
    pub fn namespace(&mut self, id: ObjId) -> Option<ObjId> {
        if let Some(namespace) = self.item(id).namespace {
            return Some(namespace);
        }
        let namespace = match (self.item(id).handle.clone(), self.kind(id)) {
            (Some(handle), _) => {
                let dict = self.assume.instance_dict(&handle)?;
                let id = self.wrap(dict).id()?;
                if matches!(self.kind(id), Kind::Real) {
                    self.learn(id, Kind::RealDict(Rc::new(Overlay::new())));
                }
                id
            }
            (None, Kind::Instance { .. } | Kind::Exception(_) | Kind::Function(_)) => self.make_id(Kind::Dict(Rc::new(Items::new()))),
            _ => return None,
        };
        self.change(id, |item| item.namespace = Some(namespace));
        Some(namespace)
    }

    /// An interned name.
    pub fn name(&self, text: &str) -> Name {
        inspect::name(text, self.vm)
    }

    /// Sizes of a tensor as values.
    pub fn sizes(&mut self, sizes: &Shape) -> Value {
        let items: Vec<Value> = sizes.iter().map(|d| Value::int(d.known().unwrap_or(0))).collect();
        self.make(Kind::Tuple(items.into(), TupleClass::Size))
    }

    /// Sizes looked at as numbers.
    pub fn dims(&self) -> impl Dims {
        NumberDims
    }
}

/// Sizes while tracing: numbers, and a note of whether a rule needed one that only running the op tells.
#[derive(Default)]
struct TracedDims {
    unknown: bool,
}

impl Dims for TracedDims {
    fn calc(&mut self, op: DimOp, a: Dim, b: Dim) -> Dim {
        NumberDims.calc(op, a, b)
    }

    fn decide(&mut self, rel: Rel, a: Dim, b: Dim) -> Result<bool, OpError> {
        NumberDims.decide(rel, a, b)
    }

    fn fresh(&mut self, low: i64) -> Dim {
        self.unknown = true;
        NumberDims.fresh(low)
    }

    fn number(&mut self, a: Dim) -> Result<i64, OpError> {
        NumberDims.number(a)
    }
}

/// What an op gives.
struct Results {
    /// Facts of the results.
    facts: Vec<Facts>,
    /// Whether each requires grad.
    requires_grad: Vec<bool>,
    /// For each result the argument it is, unchanged.
    same: Vec<Option<Val>>,
    /// Arguments whose memory is written, those of [`Meaning::Mutate`] included.
    written: Vec<Val>,
}

/// The object behind an argument's value.
fn object_of(value: Val, vals: &[Arg<Val>], args: &[Arg<ObjId>]) -> Option<ObjId> {
    pairs(vals, args).into_iter().find(|(v, _)| *v == value).map(|(_, id)| id)
}

fn pairs(vals: &[Arg<Val>], args: &[Arg<ObjId>]) -> Vec<(Val, ObjId)> {
    let mut pairs = vec![];
    for (vals, ids) in vals.iter().zip(args) {
        let (mut left, mut right) = (vec![], vec![]);
        vals.for_each(|v| left.push(*v));
        ids.for_each(|i| right.push(*i));
        pairs.extend(left.into_iter().zip(right));
    }
    pairs
}

/// The objects of the results where every result is an argument unchanged.
fn all_same(same: &[Option<Val>], vals: &[Arg<Val>], args: &[Arg<ObjId>]) -> Option<Vec<ObjId>> {
    if same.is_empty() {
        return None;
    }
    let pairs = pairs(vals, args);
    same.iter().map(|s| s.and_then(|v| pairs.iter().find(|(val, _)| *val == v).map(|(_, id)| *id))).collect()
}

/// The class of a constant.
pub fn const_class(value: &Const) -> BuiltinType {
    match value {
        Const::None => BuiltinType::None,
        Const::Bool(_) => BuiltinType::Bool,
        Const::Int(_) | Const::BigInt(_) => BuiltinType::Int,
        Const::Float(_) => BuiltinType::Float,
        Const::Str(_) => BuiltinType::Str,
        Const::Bytes(_) => BuiltinType::Bytes,
        Const::Ellipsis => BuiltinType::Ellipsis,
        Const::NotImplemented => BuiltinType::NotImplemented,
    }
}

fn iterator_class(iterator: &crate::value::IteratorValue) -> BuiltinType {
    use crate::value::{IteratorValue, ViewKind};
    match iterator {
        IteratorValue::List { .. } => BuiltinType::ListIterator,
        IteratorValue::Items { class, .. } => *class,
        IteratorValue::Range { .. } => BuiltinType::RangeIterator,
        IteratorValue::Dict { kind: ViewKind::Keys, .. } => BuiltinType::DictKeyIterator,
        IteratorValue::Dict { kind: ViewKind::Values, .. } => BuiltinType::DictValueIterator,
        IteratorValue::Dict { kind: ViewKind::Items, .. } => BuiltinType::DictItemIterator,
        IteratorValue::Enumerate { .. } => BuiltinType::Enumerate,
        IteratorValue::Zip { .. } => BuiltinType::Zip,
    }
}
