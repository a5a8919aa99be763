//! Tensors: calls of ops, operators, indexing, attributes, and the functions of `torch` that are no ops.

use crate::{
    natives::Native,
    recorder::{Recorder, Traced, stop},
    step::{Done, Flow},
    stop,
    value::{Keyword, Kind, ObjId, TupleClass, Value},
};
use smallvec::SmallVec;
use taipan_frontend::{
    inspect::{self, Const, Name},
    torch::{
        OpCallable,
        index_plan::{self, Index, Item, Step},
        torch_type,
    },
};
use taipan_guards::Handle;
use taipan_ir::{
    DType, Dim, Number, OpError,
    bind::{CallForm, Operand, bind},
    dims::NumberDims,
    op::{Entry, Forms},
};

/// Longest nested list that `torch.tensor` is traced for.
const LITERAL: usize = 64;

impl Recorder<'_> {
    /// Calls a torch function or an unbound method.
    pub(crate) fn call_torch(&mut self, op: &OpCallable, args: Vec<Value>, keywords: Vec<Keyword>) -> Traced<Done> {
        let form = if op.is_method { CallForm::Method } else { CallForm::Function };
        self.call_overloads(op.name(), op.entries(), form, args, keywords, op.is_factory())
    }

    /// Calls a method of a tensor, the receiver first.
    pub(crate) fn call_op_method(&mut self, name: &'static str, args: Vec<Value>, keywords: Vec<Keyword>) -> Traced<Done> {
        let entries: Vec<&Entry> = self.registry.overloads(name).filter(|e| e.op.0.forms.has(Forms::METHOD)).collect();
        self.call_overloads(name, &entries, CallForm::Method, args, keywords, false)
    }

    /// Calls an op by its base name, as operators and indexing do: forms of `torch.nn.functional` alone don't count.
    pub(crate) fn call_op_name(&mut self, name: &str, args: Vec<Value>, keywords: Vec<Keyword>) -> Traced<Done> {
        let Some(base) = self.registry.find(name).map(|e| e.schema.base) else {
            return stop(&stop::OPERATOR, format!("no op is called {name}"));
        };
        let entries: Vec<&Entry> = self.registry.overloads(base).filter(|e| e.op.0.forms != Forms::NN).collect();
        self.call_overloads(base, &entries, CallForm::Method, args, keywords, true)
    }

    fn call_overloads(
        &mut self,
        name: &'static str,
        entries: &[&Entry],
        form: CallForm,
        args: Vec<Value>,
        keywords: Vec<Keyword>,
        factory: bool,
    ) -> Traced<Done> {
        let positional = args.iter().map(|a| self.operand(a)).collect::<Traced<Vec<_>>>()?;
        let mut named = vec![];
        for (key, value) in &keywords {
            match key.as_str() {
                "requires_grad" if factory => {
                    if self.flag(Some(value.clone()), false)? {
                        return stop(&stop::GRADIENT, "requires_grad=True");
                    }
                }
                "pin_memory" | "layout" | "names" if factory => {}
                key => named.push((key, self.operand(value)?)),
            }
        }
        let bound = match bind(name, form, entries.iter().copied(), &positional, &named) {
            Ok(bound) => bound,
            Err(e) => return stop(&stop::OP_ERROR, e.to_string()),
        };
        if bound.out.is_some() {
            return stop(&stop::MUTATION, format!("{name} with out="));
        }
        let results = self.emit(bound.op, &bound.args)?;
        let Some(entry) = self.registry.entry(bound.op) else { return stop(&stop::OPERATOR, name) };
        self.pack(entry.schema.base, &entry.schema.returns, results).map(Done::Value)
    }

    /// Results as Python has them: one, a tuple of a list, or a tuple with names.
    fn pack(&mut self, base: &'static str, returns: &[taipan_ir::schema::Return], results: SmallVec<[Value; 2]>) -> Traced<Value> {
        match returns {
            [] => Ok(Value::NONE),
            [one] if !one.list => Ok(results[0].clone()),
            [_] => Ok(self.tuple(results.into_vec())),
            several => {
                let named = several.iter().all(|r| r.name.is_some());
                let class = if named { TupleClass::Named(base) } else { TupleClass::Tuple };
                Ok(self.tuple_of(results.into_vec(), class))
            }
        }
    }

    /// A value as an operand of an op.
    pub(crate) fn operand(&mut self, value: &Value) -> Traced<Operand<ObjId>> {
        let value = self.resolve(value)?;
        let id = match &value {
            Value::Const(c) => {
                return Ok(match c {
                    Const::None => Operand::None,
                    Const::Bool(b) => Operand::Bool(*b),
                    Const::Int(i) => Operand::Int(Dim::Is(*i)),
                    Const::Float(bits) => Operand::Float(f64::from_bits(*bits)),
                    Const::Str(s) => Operand::Str((&**s).into()),
                    other => Operand::Other(other.type_name().to_owned()),
                });
            }
            Value::Object(id) => *id,
        };
        Ok(match self.kind(id).clone() {
            Kind::Tensor(_) => Operand::Tensor(id),
            Kind::Tuple(items, _) => Operand::List(items.iter().map(|i| self.operand(i)).collect::<Traced<_>>()?, true),
            Kind::List(items) => Operand::List(items.iter().map(|i| self.operand(i)).collect::<Traced<_>>()?, false),
            Kind::Real => match self.handle(&value) {
                Some(handle) => {
                    if self.class_name(&value) == "complex" {
                        return stop(&stop::OPERATOR, "a complex number");
                    }
                    self.assume.builtin_type(&handle);
                    let object = self.assume.opaque(&handle);
                    match torch_type::constant_operand(&object, self.vm) {
                        Some(operand) => {
                            self.assume.identity(&handle);
                            operand
                        }
                        None => Operand::Other(self.class_name(&value)),
                    }
                }
                None => return stop(&stop::CALL, "an argument that isn't known"),
            },
            _ => Operand::Other(self.class_name(&value)),
        })
    }

    /// An operator's method on a tensor; `None` where the tensor's own method would give up.
    pub(crate) fn tensor_operator(&mut self, method: &str, receiver: &Value, argument: &Value) -> Traced<Option<Done>> {
        let operand = self.operand(argument)?;
        if !matches!(operand, Operand::Tensor(_) | Operand::Bool(_) | Operand::Int(_) | Operand::Float(_)) {
            return Ok(None);
        }
        let tensor_argument = matches!(operand, Operand::Tensor(_));
        let (r, a) = (receiver.clone(), argument.clone());
        let (name, args) = match method {
            "__add__" | "__radd__" => ("add", vec![r, a]),
            "__sub__" => ("sub", vec![r, a]),
            "__rsub__" => ("rsub", vec![r, a]),
            "__mul__" | "__rmul__" => ("mul", vec![r, a]),
            "__truediv__" => ("div", vec![r, a]),
            "__rtruediv__" => {
                let Done::Value(inverse) = self.call_op_name("reciprocal", vec![r], vec![])? else { return Ok(None) };
                ("mul", vec![inverse, a])
            }
            "__floordiv__" => ("floor_divide", vec![r, a]),
            "__rfloordiv__" => ("floor_divide", vec![self.scalar_tensor(&a, &r)?, r]),
            "__mod__" => ("remainder", vec![r, a]),
            "__rmod__" => ("remainder", vec![self.scalar_tensor(&a, &r)?, r]),
            "__pow__" => ("pow", vec![r, a]),
            "__rpow__" => ("pow", vec![self.scalar_tensor(&a, &r)?, r]),
            "__matmul__" if tensor_argument => ("matmul", vec![r, a]),
            "__rmatmul__" if tensor_argument => ("matmul", vec![a, r]),
            "__and__" | "__rand__" => ("bitwise_and", vec![r, a]),
            "__or__" | "__ror__" => ("bitwise_or", vec![r, a]),
            "__xor__" | "__rxor__" => ("bitwise_xor", vec![r, a]),
            "__lshift__" => ("bitwise_left_shift", vec![r, a]),
            "__rshift__" => ("bitwise_right_shift", vec![r, a]),
            "__eq__" => ("eq", vec![r, a]),
            "__ne__" => ("ne", vec![r, a]),
            "__lt__" => ("lt", vec![r, a]),
            "__le__" => ("le", vec![r, a]),
            "__gt__" => ("gt", vec![r, a]),
            "__ge__" => ("ge", vec![r, a]),
            "__iadd__" => ("add_", vec![r, a]),
            "__isub__" => ("sub_", vec![r, a]),
            "__imul__" => ("mul_", vec![r, a]),
            "__itruediv__" => ("div_", vec![r, a]),
            "__ifloordiv__" => ("floor_divide_", vec![r, a]),
            "__imod__" => ("remainder_", vec![r, a]),
            "__ipow__" => ("pow_", vec![r, a]),
            "__iand__" => ("bitwise_and_", vec![r, a]),
            "__ior__" => ("bitwise_or_", vec![r, a]),
            "__ixor__" => ("bitwise_xor_", vec![r, a]),
            _ => return Ok(None),
        };
        self.call_op_name(name, args, vec![]).map(Some)
    }

    /// A number as a tensor without dims, of the dtype an op with `other` has.
    fn scalar_tensor(&mut self, number: &Value, other: &Value) -> Traced<Value> {
        let number = match self.operand(number)? {
            Operand::Tensor(_) => return Ok(number.clone()),
            Operand::Bool(b) => Number::Bool(b),
            Operand::Int(Dim::Is(i)) => Number::Int(i),
            Operand::Float(x) => Number::Float(x),
            _ => return stop(&stop::OPERATOR, "a number was expected"),
        };
        let own = number.dtype(self.ambient.default_dtype());
        let dtype = match self.tensor(other)? {
            Some(t) if own.category() <= t.facts.dtype.category() => t.facts.dtype,
            _ => own,
        };
        self.full(number, dtype)
    }

    /// A tensor without dims.
    fn full(&mut self, number: Number, dtype: DType) -> Traced<Value> {
        let number = match number {
            Number::Bool(b) => Value::bool(b),
            Number::Int(i) => Value::int(i),
            Number::Float(x) => Value::float(x),
            Number::Complex(..) => return stop(&stop::OPERATOR, "a complex number"),
        };
        let size = self.list(vec![]);
        let dtype = self.known(torch_type::dtype_object(dtype, self.vm));
        let key = self.name("dtype");
        match self.call_op_name("full", vec![size, number], vec![(key, dtype)])? {
            Done::Value(value) => Ok(value),
            Done::Entered => stop(&stop::OPERATOR, "full"),
        }
    }

    /// A tensor split along its first dim.
    pub(crate) fn unbind(&mut self, tensor: &Value) -> Traced<Vec<Value>> {
        match self.call_op_name("unbind", vec![tensor.clone()], vec![])? {
            Done::Value(value) => match self.kind_of(&value)? {
                Some((_, Kind::Tuple(items, _))) => Ok(items.to_vec()),
                _ => stop(&stop::OPERATOR, "unbind"),
            },
            Done::Entered => stop(&stop::OPERATOR, "unbind"),
        }
    }

    fn op_value(&mut self, name: &str, args: Vec<Value>) -> Traced<Value> {
        match self.call_op_name(name, args, vec![])? {
            Done::Value(value) => Ok(value),
            Done::Entered => stop(&stop::OPERATOR, name),
        }
    }

    /// `tensor[key]`.
    pub(crate) fn index_tensor(&mut self, tensor: &Value, key: &Value) -> Traced<Value> {
        let (view, indices) = self.index_views(tensor, key)?;
        match indices {
            Some(indices) => self.op_value("index", vec![view, indices]),
            None => Ok(view),
        }
    }

    /// `tensor[key] = value`.
    pub(crate) fn store_tensor_item(&mut self, tensor: &Value, key: &Value, value: &Value) -> Traced<Flow> {
        let Some(target) = self.tensor(tensor)? else { return stop(&stop::MUTATION, "item assignment") };
        let value = match self.operand(value)? {
            Operand::Tensor(_) => value.clone(),
            Operand::Bool(b) => self.full(Number::Bool(b), target.facts.dtype)?,
            Operand::Int(Dim::Is(i)) => self.full(Number::Int(i), target.facts.dtype)?,
            Operand::Float(x) => self.full(Number::Float(x), target.facts.dtype)?,
            _ => return stop(&stop::OP_ERROR, "an assigned item that is no tensor and no number"),
        };
        let (view, indices) = self.index_views(tensor, key)?;
        match indices {
            Some(indices) => {
                let value = self.without_leading_ones(value, 0)?;
                self.op_value("index_put_", vec![view, indices, value])?
            }
            None => {
                let rank = self.tensor(&view)?.map_or(0, |t| t.facts.rank());
                let value = self.without_leading_ones(value, rank)?;
                self.op_value("copy_", vec![view, value])?
            }
        };
        Ok(Flow::Next)
    }

    /// An assigned value without leading dims of size one, as long as it has more than `rank` dims.
    fn without_leading_ones(&mut self, mut value: Value, rank: usize) -> Traced<Value> {
        while let Some(t) = self.tensor(&value)?
            && t.facts.rank() > rank
            && t.facts.dims[0] == Dim::Is(1)
        {
            value = self.op_value("select", vec![value, Value::int(0), Value::int(0)])?;
        }
        Ok(value)
    }

    /// The view steps of a key; the view and the list of tensor indices, where there are any.
    fn index_views(&mut self, tensor: &Value, key: &Value) -> Traced<(Value, Option<Value>)> {
        let Some(t) = self.tensor(tensor)? else { return stop(&stop::OPERATOR, "[] on something that is no tensor") };
        let items = match self.kind_of(key)? {
            Some((_, Kind::Tuple(parts, _))) => parts.iter().map(|p| self.index_item(p)).collect::<Traced<Vec<_>>>()?,
            _ => vec![self.index_item(key)?],
        };
        let steps = match index_plan::plan(&items, &t.facts.dims) {
            Ok(steps) => steps,
            Err(OpError::Raised { text, kind: taipan_ir::ErrorKind::Index }) => return self.raise("IndexError", &text),
            Err(e) => return stop(&stop::OP_ERROR, e.to_string()),
        };
        let mut view = tensor.clone();
        let mut indices = None;
        if matches!(steps.first(), None | Some(Step::Index(_))) && !matches!(steps.last(), Some(Step::Index(_))) {
            view = self.op_value("alias", vec![view])?;
        }
        let bound = |b: Option<Dim>| b.and_then(Dim::known).map_or(Value::NONE, Value::int);
        for step in steps {
            view = match step {
                Step::Select { dim, index } => self.op_value("select", vec![view, Value::int(dim as i64), bound(Some(index))])?,
                Step::Slice { dim, start, stop, step } => {
                    let step = bound(Some(step.unwrap_or(Dim::Is(1))));
                    self.op_value("slice", vec![view, Value::int(dim as i64), bound(start), bound(stop), step])?
                }
                Step::Unsqueeze { dim } => self.op_value("unsqueeze", vec![view, Value::int(dim as i64)])?,
                Step::Index(list) => {
                    let mut values = vec![];
                    for index in list {
                        values.push(match index {
                            None => Value::NONE,
                            Some(Index::Tensor(id)) => Value::Object(id),
                            Some(Index::Bool(b)) => {
                                let one = self.full(Number::Bool(b), DType::Bool)?;
                                self.op_value("unsqueeze", vec![one, Value::int(0)])?
                            }
                        });
                    }
                    indices = Some(self.list(values));
                    view
                }
            };
        }
        Ok((view, indices))
    }

    fn index_item(&mut self, part: &Value) -> Traced<Item<ObjId>> {
        let part = self.resolve(part)?;
        Ok(match &part {
            Value::Const(Const::None) => Item::NewAxis,
            Value::Const(Const::Ellipsis) => Item::Ellipsis,
            Value::Const(Const::Bool(b)) => Item::Bool(*b),
            Value::Const(Const::Int(i)) => Item::Int(Dim::Is(*i)),
            Value::Const(_) => return stop(&stop::OP_ERROR, "an index that is no integer"),
            Value::Object(id) => match self.kind(*id).clone() {
                Kind::Slice(parts) => {
                    let mut bounds = [None; 3];
                    for (bound, part) in bounds.iter_mut().zip(parts.iter()) {
                        if !self.is_none(part)? {
                            match self.index_integer(part)? {
                                Some(i) => *bound = Some(Dim::Is(i)),
                                None => return stop(&stop::OP_ERROR, "a slice bound that is no integer"),
                            }
                        }
                    }
                    Item::Slice(bounds[0], bounds[1], bounds[2])
                }
                Kind::Tensor(t) => {
                    if t.facts.rank() == 0 && !t.facts.dtype.has_gradients() && !matches!(t.facts.dtype, DType::Bool | DType::U8) {
                        return stop(&stop::DATA_DEPENDENT, "a tensor of one integer as an index");
                    }
                    Item::Tensor { value: *id, dtype: t.facts.dtype, rank: t.facts.rank() }
                }
                Kind::List(_) => {
                    let literal = self.tensor_literal(&part, None)?;
                    let Some(t) = self.tensor(&literal)? else { return stop(&stop::OPERATOR, "a list as an index") };
                    Item::Tensor { value: literal.id().unwrap_or(*id), dtype: t.facts.dtype, rank: t.facts.rank() }
                }
                _ => return stop(&stop::OPERATOR, format!("{} as an index", self.class_name(&part))),
            },
        })
    }

    /// `torch.tensor(data)` of nested lists of numbers, made of ops.
    fn tensor_literal(&mut self, data: &Value, dtype: Option<DType>) -> Traced<Value> {
        let mut numbers = vec![];
        let sizes = self.literal_numbers(data, &mut numbers)?;
        if numbers.len() > LITERAL || numbers.is_empty() {
            return stop(&stop::CALL, "torch.tensor of so many numbers");
        }
        let dtype = dtype.unwrap_or_else(|| {
            let default = self.ambient.default_dtype();
            numbers.iter().map(|n| n.dtype(default)).reduce(DType::promote).unwrap_or(default)
        });
        let mut parts = vec![];
        for number in numbers {
            parts.push(self.full(number, dtype)?);
        }
        if sizes.is_empty() {
            return Ok(parts.remove(0));
        }
        let parts = self.list(parts);
        let flat = self.op_value("stack", vec![parts])?;
        if sizes.len() == 1 {
            return Ok(flat);
        }
        let sizes: Vec<Value> = sizes.into_iter().map(|n| Value::int(n as i64)).collect();
        let sizes = self.list(sizes);
        self.op_value("reshape", vec![flat, sizes])
    }

    fn literal_numbers(&mut self, data: &Value, out: &mut Vec<Number>) -> Traced<Vec<usize>> {
        match self.operand(data)? {
            Operand::Bool(b) => out.push(Number::Bool(b)),
            Operand::Int(Dim::Is(i)) => out.push(Number::Int(i)),
            Operand::Float(x) => out.push(Number::Float(x)),
            Operand::List(..) => {
                let items = self.iterate(data)?;
                let mut inner: Option<Vec<usize>> = None;
                for item in &items {
                    let sizes = self.literal_numbers(item, out)?;
                    if inner.get_or_insert_with(|| sizes.clone()) != &sizes {
                        return stop(&stop::OP_ERROR, "torch.tensor of uneven lists");
                    }
                }
                let mut sizes = vec![items.len()];
                sizes.extend(inner.unwrap_or_default());
                return Ok(sizes);
            }
            _ => return stop(&stop::CALL, "torch.tensor of something that is no number"),
        }
        Ok(vec![])
    }

    /// Attributes of tensors that are facts. `None` where the name is none of them.
    pub(crate) fn tensor_attribute(&mut self, owner: &Value, name: Name) -> Traced<Option<Value>> {
        let Some(t) = self.tensor(owner)? else { return Ok(None) };
        let value = match name.as_str() {
            "shape" => self.sizes(&t.facts.dims),
            "ndim" => Value::int(t.facts.rank() as i64),
            "dtype" => self.known(torch_type::dtype_object(t.facts.dtype, self.vm)),
            "device" => self.known(torch_type::device_object(&t.facts.device, self.vm)),
            "layout" => self.known(torch_type::layout_object(self.vm)),
            "requires_grad" => Value::bool(t.requires_grad),
            "is_leaf" => Value::bool(t.is_leaf),
            "itemsize" => Value::int(t.facts.dtype.size() as i64),
            "is_cuda" | "is_mps" | "is_xpu" | "is_meta" | "is_sparse" | "is_sparse_csr" | "is_mkldnn" | "is_quantized" | "is_nested" => {
                Value::bool(false)
            }
            "is_cpu" => Value::bool(t.facts.device.is_cpu()),
            "real" | "imag" if t.facts.dtype.is_complex() => {
                self.op_value(if name.as_str() == "real" { "real" } else { "imag" }, vec![owner.clone()])?
            }
            "real" => owner.clone(),
            "H" | "mH" if t.facts.dtype.is_complex() && t.facts.rank() >= 2 => {
                if name.as_str() == "H" && t.facts.rank() > 2 {
                    return stop(&stop::RAISES, "H of a batch of matrices");
                }
                self.op_value("adjoint", vec![owner.clone()])?
            }
            "T" | "H" if t.facts.rank() == 2 => self.op_value("transpose", vec![owner.clone(), Value::int(0), Value::int(1)])?,
            "T" => {
                let order: Vec<Value> = (0..t.facts.rank()).rev().map(|i| Value::int(i as i64)).collect();
                let order = self.list(order);
                self.op_value("permute", vec![owner.clone(), order])?
            }
            "mT" | "mH" if t.facts.rank() >= 2 => self.op_value("transpose", vec![owner.clone(), Value::int(-2), Value::int(-1)])?,
            "data" => self.op_value("detach", vec![owner.clone()])?,
            "grad" if !t.requires_grad && self.handle(owner).is_none() => Value::NONE,
            "grad" | "grad_fn" | "_version" | "names" | "imag" => return stop(&stop::GRADIENT, format!("{name} of a tensor")),
            _ => return Ok(None),
        };
        Ok(Some(value))
    }

    /// Attributes of tensors can't be written while tracing, except ordinary ones of a real tensor's namespace.
    pub(crate) fn set_tensor_attribute(&mut self, owner: &Value, name: Name, value: Option<Value>) -> Traced<Flow> {
        let class = self.class(owner)?;
        if self.assume.type_attribute(&class, name).is_some() || self.handle(owner).is_none() {
            return stop(&stop::MUTATION, format!("{name} of a tensor"));
        }
        let Some(namespace) = owner.id().and_then(|id| self.namespace(id)) else { return stop(&stop::MUTATION, name.as_str()) };
        self.dict_set_name(namespace, name, value)?;
        Ok(Flow::Next)
    }

    /// Methods of tensors that are no ops.
    pub(crate) fn call_tensor_method(&mut self, name: Name, args: Vec<Value>, keywords: Vec<Keyword>) -> Traced<Done> {
        let Some((receiver, rest)) = args.split_first().map(|(r, rest)| (r.clone(), rest.to_vec())) else {
            return stop(&stop::RAISES, name.as_str());
        };
        let Some(t) = self.tensor(&receiver)? else { return stop(&stop::CALL, format!("Tensor.{name}")) };
        let value = |v: Value| Ok(Done::Value(v));
        let rank = t.facts.rank();
        match name.as_str() {
            "dim" | "ndimension" => value(Value::int(rank as i64)),
            "numel" | "nelement" => {
                let n = t.facts.numel(&mut NumberDims);
                value(Value::int(n.known().unwrap_or(0)))
            }
            "size" | "stride" => {
                let parts = if name.as_str() == "size" { &t.facts.dims } else { &t.facts.strides };
                let dim = rest.first().cloned().or_else(|| Self::keyword(&keywords, "dim"));
                let dim = match dim {
                    Some(d) if !self.is_none(&d)? => self.index_integer(&d)?,
                    _ => None,
                };
                match dim {
                    None if name.as_str() == "size" => value(self.sizes(parts)),
                    None => {
                        let strides: Vec<Value> = parts.iter().map(|d| Value::int(d.known().unwrap_or(0))).collect();
                        value(self.tuple(strides))
                    }
                    Some(d) => {
                        let at = if d < 0 { d + rank as i64 } else { d };
                        match usize::try_from(at).ok().and_then(|at| parts.get(at)) {
                            Some(d) => value(Value::int(d.known().unwrap_or(0))),
                            None => stop(&stop::OP_ERROR, format!("{name} of a dim out of range")),
                        }
                    }
                }
            }
            "element_size" => value(Value::int(t.facts.dtype.size() as i64)),
            "is_floating_point" => value(Value::bool(t.facts.dtype.is_float())),
            "is_complex" => value(Value::bool(t.facts.dtype.is_complex())),
            "is_inference" | "is_shared" | "is_pinned" | "is_conj" | "is_neg" => value(Value::bool(false)),
            "is_signed" => value(Value::bool(!matches!(t.facts.dtype, DType::Bool | DType::U8))),
            "get_device" => value(Value::int(-1)),
            "is_contiguous" if rest.is_empty() && keywords.is_empty() => {
                let is = t.facts.is_contiguous(&mut NumberDims).unwrap_or(false);
                value(Value::bool(is))
            }
            "cpu" if t.facts.device.is_cpu() => value(receiver),
            "type" if rest.is_empty() && keywords.is_empty() => {
                let text = if t.facts.dtype == DType::F32 {
                    "torch.FloatTensor".to_owned()
                } else {
                    format!("torch.{}Tensor", t.facts.dtype.scalar_name())
                };
                value(Value::str(&text))
            }
            "type" => match self.operand(&rest[0])? {
                Operand::DType(_) => self.call_op_name("to", vec![receiver, rest[0].clone()], vec![]),
                _ => stop(&stop::CALL, "Tensor.type of a name"),
            },
            "requires_grad_" => {
                let on = self.flag(rest.first().cloned().or_else(|| Self::keyword(&keywords, "requires_grad")), true)?;
                if on == t.requires_grad {
                    return value(receiver);
                }
                stop(&stop::GRADIENT, "requires_grad_")
            }
            "item" | "tolist" | "numpy" | "__array__" | "data_ptr" => stop(&stop::DATA_DEPENDENT, format!("Tensor.{name}")),
            "__getitem__" if rest.len() == 1 => self.index_tensor(&receiver, &rest[0]).map(Done::Value),
            "__setitem__" if rest.len() == 2 => {
                self.store_tensor_item(&receiver, &rest[0], &rest[1])?;
                value(Value::NONE)
            }
            "__len__" => self.length(&receiver),
            "__iter__" => self.iterator(&receiver),
            "__bool__" => stop(&stop::DATA_DEPENDENT, "the truth of a tensor"),
            "__neg__" | "__invert__" | "__abs__" | "__pos__" => {
                let name = intern(name);
                self.unary_method(name, &receiver)
            }
            method if method.starts_with("__") && rest.len() == 1 => match self.tensor_operator(method, &receiver, &rest[0])? {
                Some(done) => Ok(done),
                None => value(Value::Const(Const::NotImplemented)),
            },
            "backward" | "retain_grad" | "register_hook" | "detach_" => stop(&stop::GRADIENT, format!("Tensor.{name}")),
            _ => stop(&stop::CALL, format!("Tensor.{name}")),
        }
    }

    /// Functions of `torch._C` that are no ops.
    pub(crate) fn call_torch_function(&mut self, name: Name, args: Vec<Value>, keywords: Vec<Keyword>) -> Traced<Done> {
        let value = |v: Value| Ok(Done::Value(v));
        match (name.as_str(), &args[..]) {
            ("is_grad_enabled", []) => value(Value::bool(self.ambient.grad_enabled())),
            ("is_inference_mode_enabled", []) => value(Value::bool(self.ambient.inference_mode())),
            ("_set_grad_enabled", [on]) => {
                let on = self.flag(Some(on.clone()), true)?;
                self.ambient = self.ambient.with_grad(on);
                value(Value::NONE)
            }
            ("_set_inference_mode", [on]) => {
                let on = self.flag(Some(on.clone()), true)?;
                self.ambient = self.ambient.with_inference(on);
                value(Value::NONE)
            }
            ("get_default_dtype", []) => value(self.known(torch_type::dtype_object(self.ambient.default_dtype(), self.vm))),
            ("is_tensor", [v]) => {
                let is = self.tensor(v)?.is_some();
                if !is {
                    let own = self.class(v)?;
                    self.check_class_told(&own)?;
                }
                value(Value::bool(is))
            }
            ("is_floating_point" | "is_complex", [v]) => match self.tensor(v)? {
                Some(t) if name.as_str() == "is_complex" => value(Value::bool(t.facts.dtype.is_complex())),
                Some(t) => value(Value::bool(t.facts.dtype.is_float())),
                None => stop(&stop::OP_ERROR, name.as_str()),
            },
            ("numel", [v]) => self.call_tensor_method(name, vec![v.clone()], vec![]),
            ("tensor", [data]) => {
                let dtype = match Self::keyword(&keywords, "dtype") {
                    Some(d) => match self.operand(&d)? {
                        Operand::DType(d) => Some(d),
                        _ => None,
                    },
                    None => None,
                };
                if keywords.iter().any(|(n, _)| !matches!(n.as_str(), "dtype" | "device")) || self.tensor(data)?.is_some() {
                    return stop(&stop::CALL, "torch.tensor");
                }
                self.tensor_literal(data, dtype).map(Done::Value)
            }
            ("promote_types", [a, b]) => match (self.operand(a)?, self.operand(b)?) {
                (Operand::DType(a), Operand::DType(b)) => value(self.known(torch_type::dtype_object(a.promote(b), self.vm))),
                _ => stop(&stop::OP_ERROR, "promote_types"),
            },
            ("is_compiling" | "is_dynamo_compiling", []) => value(Value::bool(true)),
            ("graph_break", _) => stop(&stop::EXPLICIT, ""),
            ("reveal", [v]) => {
                let text = self.describe_value(v)?;
                let line = self.frame().line();
                self.revealed.push((line, text));
                value(v.clone())
            }
            _ => stop(&stop::CALL, format!("torch.{name}")),
        }
    }

    /// What the tracer knows of a value, as `reveal` reports it.
    fn describe_value(&mut self, value: &Value) -> Traced<String> {
        Ok(match self.kind_of(value)? {
            None => match self.constant(value)? {
                Some(c) => format!("{} {c}", c.type_name()),
                None => "?".to_owned(),
            },
            Some((_, Kind::Tensor(t))) => {
                let dims: Vec<String> = t.facts.dims.iter().map(Dim::to_string).collect();
                format!("tensor {}[{}]", t.facts.dtype, dims.join(","))
            }
            Some((_, Kind::Tuple(items, _))) => {
                let parts: Vec<String> = items.iter().map(|i| self.describe_value(i)).collect::<Traced<_>>()?;
                format!("tuple ({})", parts.join(", "))
            }
            Some((_, Kind::List(items))) => {
                let parts: Vec<String> = items.iter().map(|i| self.describe_value(i)).collect::<Traced<_>>()?;
                format!("list [{}]", parts.join(", "))
            }
            Some(_) => self.class_name(value),
        })
    }

    /// Whether a value is one of torch's immutable constants: a dtype, a device, a layout.
    pub(crate) fn is_torch_constant(&mut self, value: &Value) -> Traced<bool> {
        let value = self.resolve(value)?;
        let Some(handle) = self.handle(&value) else { return Ok(false) };
        let object = self.assume.opaque(&handle);
        if torch_type::constant_operand::<ObjId>(&object, self.vm).is_some() && !inspect::is_class(&object) {
            self.assume.identity(&handle);
            return Ok(true);
        }
        Ok(false)
    }

    /// `torch.float32`, as its text is.
    pub(crate) fn torch_constant_text(&mut self, value: &Value) -> Traced<Option<String>> {
        if !self.is_torch_constant(value)? {
            return Ok(None);
        }
        Ok(match self.operand(value)? {
            Operand::DType(d) => Some(format!("torch.{}", d.torch_name())),
            Operand::Device(d) => Some(d.to_string()),
            Operand::Layout => Some("torch.strided".to_owned()),
            _ => None,
        })
    }

    /// Whether `__hash__` or `__eq__` found on a class is the tensor's: by identity.
    pub(crate) fn is_tensor_hash(&mut self, function: &Value) -> Traced<bool> {
        let Some(handle) = self.handle(function) else { return Ok(false) };
        Ok(matches!(self.native_of(&handle)?, Some(Native::TensorMethod(name)) if name.as_str() == "__hash__"))
    }

    /// Whether a function is marked not to be compiled.
    pub(crate) fn is_disabled(&mut self, function: &Value) -> Traced<bool> {
        let Some(id) = function.id() else { return Ok(false) };
        let Some(namespace) = self.namespace(id) else { return Ok(false) };
        let mark = self.name("_torchdynamo_disable");
        match self.dict_get_name(namespace, mark)? {
            Some(value) => self.flag(Some(value), false),
            None => Ok(false),
        }
    }

    /// Whether an object is a function wrapped by `disable()`.
    pub(crate) fn is_plain_function(&mut self, value: &Value) -> bool {
        self.handle(value).is_some_and(|h| torch_type::is_plain_function(&self.assume.opaque(&h)))
    }

    /// `torch.device(...)`, `torch.finfo(...)` and their like: immutable objects of constants, made by the VM itself.
    pub(crate) fn call_constant_class(&mut self, class: &Handle, args: &[Value], keywords: &[Keyword]) -> Traced<Done> {
        let mut objects = vec![];
        for arg in args {
            let arg = self.resolve(arg)?;
            objects.push(match (&arg, self.handle(&arg)) {
                (Value::Const(c), _) => inspect::make_const(c, self.vm),
                (_, Some(handle)) if self.is_torch_constant(&arg)? => self.assume.opaque(&handle),
                _ => return stop(&stop::CALL, self.describe_handle(class)),
            });
        }
        if !keywords.is_empty() {
            return stop(&stop::CALL, self.describe_handle(class));
        }
        let callee = self.assume.opaque(class);
        match inspect::call_native(&callee, objects, self.vm) {
            Some(object) => Ok(Done::Value(self.known(object))),
            None => stop(&stop::RAISES, self.describe_handle(class)),
        }
    }

    /// An attribute of one of torch's immutable constants: `device.type`, `finfo.eps`.
    pub(crate) fn constant_attribute(&mut self, owner: &Value, name: Name) -> Traced<Option<Value>> {
        let Some(handle) = self.handle(owner) else { return Ok(None) };
        if !torch_type::is_constant(&self.assume.opaque(&handle)) {
            return Ok(None);
        }
        self.assume.identity(&handle);
        Ok(self.assume.native(&handle, name.as_str()).map(|h| self.wrap(h)))
    }

    /// The function behind a compiled function, which is traced in its place.
    pub(crate) fn compiled_target(&mut self, value: &Value) -> Traced<Option<Value>> {
        let Some(handle) = self.handle(value) else { return Ok(None) };
        let object = self.assume.opaque(&handle);
        if !torch_type::is_compiled_function(&object) {
            return Ok(None);
        }
        self.assume.identity(&handle);
        Ok(self.assume.native(&handle, "__wrapped__").map(|h| self.wrap(h)))
    }

    /// Whether a native class looks attributes up, and sets them, the ordinary way, only faster.
    pub(crate) fn is_known_native_lookup(&mut self, class: &Handle) -> bool {
        let object = self.assume.opaque(class);
        torch_type::is_module_class(&object, self.vm) || torch_type::is_tensor(&object, self.vm)
    }

    /// Whether a method is that of the native base of modules: its `__new__` makes an object with an empty namespace, its `__init__`
    /// does nothing.
    pub(crate) fn is_module_base_method(&mut self, method: &Value, name: &str) -> bool {
        let base = self.assume.known(torch_type::module_base(self.vm));
        let name = self.name(name);
        match (self.assume.type_attribute(&base, name), self.handle(method)) {
            (Some(own), Some(found)) => {
                self.assume.identity(&found);
                own.address() == found.address()
            }
            _ => false,
        }
    }
}

/// The static text of a unary operator's method.
fn intern(name: Name) -> &'static str {
    name.as_str()
}
