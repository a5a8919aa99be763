//! Readers: what an object of a known type holds.

use super::{BuiltinType, Name, Object, Vm};
use rustpython_vm::{
    AsObject, Py, PyObject,
    builtins::{PyBytes, PyCode, PyDict, PyFloat, PyFrozenSet, PyFunction, PyInt, PyList, PyRange, PySet, PySlice, PyStr, PyTuple, PyType},
    function::{Either, PyComparisonValue},
    types::{PyComparisonOp, PyTypeFlags},
};
use std::{fmt, rc::Rc};

/// A value without identity of its own, equal where type and bits are.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Const {
    None,
    Bool(bool),
    Int(i64),
    /// An integer beyond 64 bits, in decimal.
    BigInt(Rc<str>),
    /// The bits of a float, so that NaN equals itself and `-0.0` differs from `0.0`.
    Float(u64),
    Str(Rc<str>),
    Bytes(Rc<[u8]>),
    Ellipsis,
    NotImplemented,
}

impl Const {
    /// A float.
    pub fn float(x: f64) -> Const {
        Const::Float(x.to_bits())
    }

    /// The name of its Python type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Const::None => "NoneType",
            Const::Bool(_) => "bool",
            Const::Int(_) | Const::BigInt(_) => "int",
            Const::Float(_) => "float",
            Const::Str(_) => "str",
            Const::Bytes(_) => "bytes",
            Const::Ellipsis => "ellipsis",
            Const::NotImplemented => "NotImplementedType",
        }
    }
}

impl fmt::Display for Const {
    /// As `repr` shows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Const::None => f.write_str("None"),
            Const::Bool(b) => f.write_str(if *b { "True" } else { "False" }),
            Const::Int(i) => write!(f, "{i}"),
            Const::BigInt(text) => f.write_str(text),
            Const::Float(bits) => f.write_str(&taipan_ir::number::float_text(f64::from_bits(*bits))),
            Const::Str(s) => {
                let quote = if s.contains('\'') && !s.contains('"') { '"' } else { '\'' };
                write!(f, "{quote}")?;
                for c in s.chars() {
                    match c {
                        '\n' => f.write_str("\\n")?,
                        '\t' => f.write_str("\\t")?,
                        '\\' => f.write_str("\\\\")?,
                        c if c == quote => write!(f, "\\{c}")?,
                        c => write!(f, "{c}")?,
                    }
                }
                write!(f, "{quote}")
            }
            Const::Bytes(b) => write!(f, "b'{}'", b.escape_ascii()),
            Const::Ellipsis => f.write_str("Ellipsis"),
            Const::NotImplemented => f.write_str("NotImplemented"),
        }
    }
}

/// The class of an object.
pub fn class_of(object: &Object) -> Object {
    object.class().to_owned().into()
}

/// `__name__` of a class; `?` for other objects.
pub fn class_name(class: &Object) -> String {
    class.downcast_ref::<PyType>().map_or_else(|| "?".to_owned(), |t| t.name().to_string())
}

/// The value of an exact `None`, `bool`, `int`, `float`, `str`, `bytes`, `...` or `NotImplemented`.
pub fn constant(object: &Object, vm: &Vm) -> Option<Const> {
    Some(match BuiltinType::of(object, vm) {
        BuiltinType::None => Const::None,
        BuiltinType::Ellipsis => Const::Ellipsis,
        BuiltinType::NotImplemented => Const::NotImplemented,
        BuiltinType::Bool => Const::Bool(object.is(&vm.ctx.true_value)),
        BuiltinType::Int => {
            let int = object.downcast_ref::<PyInt>()?.as_bigint();
            match i64::try_from(int) {
                Ok(small) => Const::Int(small),
                Err(_) => Const::BigInt(int.to_string().into()),
            }
        }
        BuiltinType::Float => Const::float(object.downcast_ref::<PyFloat>()?.to_f64()),
        // A str with lone surrogates has no UTF-8 form and stays an opaque object.
        BuiltinType::Str => Const::Str(object.downcast_ref::<PyStr>()?.to_str()?.into()),
        BuiltinType::Bytes => Const::Bytes(object.downcast_ref::<PyBytes>()?.as_bytes().into()),
        _ => return None,
    })
}

/// Whether [`constant`] has a value for an object; makes none.
pub fn is_constant(object: &Object, vm: &Vm) -> bool {
    match BuiltinType::of(object, vm) {
        BuiltinType::Str => object.downcast_ref::<PyStr>().is_some_and(|text| text.to_str().is_some()),
        BuiltinType::None
        | BuiltinType::Ellipsis
        | BuiltinType::NotImplemented
        | BuiltinType::Bool
        | BuiltinType::Int
        | BuiltinType::Float
        | BuiltinType::Bytes => true,
        _ => false,
    }
}

/// The namespace of an object that has one: an instance, a module, a function, an exception.
pub fn instance_dict(object: &Object) -> Option<Object> {
    object.dict().map(Into::into)
}

/// What a lookup through the MRO of a class finds, descriptors untouched.
pub fn type_lookup(class: &Object, name: Name) -> Option<Object> {
    // Not through the VM's cache, which allocates when it misses.
    class.downcast_ref::<PyType>()?.mro.read().iter().find_map(|c| c.get_direct_attr(name))
}

/// What a lookup through the MRO finds behind `after`, as `super()` looks; also the class it was found in.
pub fn type_lookup_after(class: &Object, after: &Object, name: Name) -> Option<(Object, Object)> {
    let mro = class.downcast_ref::<PyType>()?.mro.read();
    let start = mro.iter().position(|c| c.is(after))? + 1;
    mro[start..].iter().find_map(|c| c.get_direct_attr(name).map(|v| (v, c.clone().into())))
}

/// The attribute a class itself defines, its bases not asked.
pub fn own_attribute(class: &Object, name: Name) -> Option<Object> {
    class.downcast_ref::<PyType>()?.get_direct_attr(name)
}

/// The method resolution order of a class.
pub fn mro(class: &Object) -> Vec<Object> {
    class.downcast_ref::<PyType>().map_or_else(Vec::new, |t| t.mro.read().iter().map(|c| c.clone().into()).collect())
}

/// Whether `class` is `base` or derives from it.
pub fn is_subclass(class: &Object, base: &Object) -> bool {
    match (class.downcast_ref::<PyType>(), base.downcast_ref::<PyType>()) {
        (Some(c), Some(b)) => c.fast_issubclass(b),
        _ => false,
    }
}

/// Whether a class can be changed by scripts; others keep their attributes for ever.
pub fn is_mutable_class(class: &Object) -> bool {
    class.downcast_ref::<PyType>().is_none_or(|t| !t.slots().flags.has_feature(PyTypeFlags::IMMUTABLETYPE))
}

/// Whether looking an attribute up on instances of `class` goes the ordinary way: no `__getattribute__` of its own.
pub fn has_ordinary_getattribute(class: &Object, vm: &Vm) -> bool {
    let key = vm.ctx.intern_str("__getattribute__");
    match (type_lookup(class, key), type_lookup(&vm.ctx.types.object_type.to_owned().into(), key)) {
        (Some(a), Some(b)) => a.is(&b),
        _ => false,
    }
}

/// Whether `class` is the class of classes or one derived from it, so that its instances are classes.
pub fn is_class(object: &Object) -> bool {
    object.downcast_ref::<PyType>().is_some()
}

/// Whether the descriptor takes part in writes (has `__set__` or `__delete__`), so that it goes before the instance dict.
pub fn is_data_descriptor(object: &Object) -> bool {
    object.class().slots().descr_set.load().is_some()
}

/// Whether the descriptor has `__get__`.
pub fn has_get(object: &Object) -> bool {
    object.class().slots().descr_get.load().is_some()
}

/// The value under `name` in a dict; `None` too where `dict` is no dict.
pub fn dict_get(dict: &Object, name: Name, vm: &Vm) -> Option<Object> {
    raw_dict(dict)?.inner_getitem_opt(name, vm).ok().flatten()
}

/// The value under a key that is a constant.
pub fn dict_get_item(dict: &Object, key: &Object, vm: &Vm) -> Option<Object> {
    raw_dict(dict)?.inner_getitem_opt(&**key, vm).ok().flatten()
}

/// The value under a key that hashes and compares by identity.
pub fn dict_get_by_identity(dict: &Object, key: &Object) -> Option<Object> {
    raw_dict(dict)?.items_vec().into_iter().find(|(k, _)| k.is(key)).map(|(_, v)| v)
}

/// Number of items of a dict.
pub fn dict_len(dict: &Object) -> Option<usize> {
    raw_dict(dict).map(|d| d.__len__())
}

/// The items of a dict in order.
pub fn dict_items(dict: &Object) -> Vec<(Object, Object)> {
    raw_dict(dict).map_or_else(Vec::new, |d| d.items_vec())
}

/// Whether `fits` holds for each key of a dict and its number, in order. Makes no list of them.
pub fn dict_keys_fit(dict: &Object, fits: impl Fn(usize, &Object) -> bool) -> bool {
    let Some(dict) = raw_dict(dict) else { return false };
    let mut entry = dict.next_entry(0);
    let mut number = 0;
    while let Some((next, key, _)) = entry {
        if !fits(number, &key) {
            return false;
        }
        number += 1;
        entry = dict.next_entry(next);
    }
    true
}

/// A dict, or an object of one of our native dict subclasses.
pub(crate) fn raw_dict(object: &Object) -> Option<&Py<PyDict>> {
    object.downcast_ref::<PyDict>()
}

/// The items of a list (an exact one or a subclass's native part).
pub fn list_items(list: &Object) -> Option<Vec<Object>> {
    Some(list.downcast_ref::<PyList>()?.borrow_vec().to_vec())
}

/// One item of a list.
pub fn list_item(list: &Object, index: usize) -> Option<Object> {
    list.downcast_ref::<PyList>()?.borrow_vec().get(index).cloned()
}

/// Number of items of a list.
pub fn list_len(list: &Object) -> Option<usize> {
    Some(list.downcast_ref::<PyList>()?.borrow_vec().len())
}

/// The items of a tuple or of a subclass's native part.
pub fn tuple_items(tuple: &Object) -> Option<&[Object]> {
    Some(tuple.downcast_ref::<PyTuple>()?.as_slice())
}

/// The elements of a set or frozenset, in its order.
pub fn set_items(set: &Object) -> Option<Vec<Object>> {
    if let Some(s) = set.downcast_ref::<PySet>() {
        return Some(s.elements());
    }
    set.downcast_ref::<PyFrozenSet>().map(|s| s.elements())
}

/// The element of a set or frozenset that a key finds, given as the key; `None` too for other objects. The key hashes natively.
pub fn set_element(set: &Object, key: &PyObject, vm: &Vm) -> Option<Object> {
    let found = match set.downcast_ref::<PySet>() {
        Some(set) => set.contains(key, vm),
        None => set.downcast_ref::<PyFrozenSet>()?.contains(key, vm),
    };
    found.is_ok_and(|found| found).then(|| key.to_owned())
}

/// Whether an object is an exact `frozenset` of constants.
pub fn is_constant_frozenset(object: &Object, vm: &Vm) -> bool {
    let exact = BuiltinType::of(object, vm) == BuiltinType::FrozenSet;
    exact && set_items(object).is_some_and(|items| items.iter().all(|item| constant(item, vm).is_some()))
}

/// Start, stop and step of a slice; absent parts are `None`.
pub fn slice_parts(slice: &Object, vm: &Vm) -> Option<[Object; 3]> {
    let s = slice.downcast_ref::<PySlice>()?;
    let or_none = |part: &Option<Object>| part.clone().unwrap_or_else(|| vm.ctx.none());
    Some([or_none(&s.start), s.stop.clone(), or_none(&s.step)])
}

/// Start, stop and step of a range, where all fit 64 bits.
pub fn range_parts(range: &Object) -> Option<[i64; 3]> {
    let r = range.downcast_ref::<PyRange>()?;
    let part = |i: &Py<PyInt>| i64::try_from(i.as_bigint()).ok();
    Some([part(&r.start)?, part(&r.stop)?, part(&r.step)?])
}

/// What a cell holds; `None` where it is empty.
pub fn cell_contents(cell: &Object, vm: &Vm) -> Option<Object> {
    // Reading an empty cell makes an exception.
    if is_empty_cell(cell, vm) { None } else { native_attribute(cell, "cell_contents", vm) }
}

/// An attribute that a native, immutable type gives through a data descriptor (`__func__`, `__self__`, `fget`, `__code__`, …):
/// reading it runs no user code.
pub fn native_attribute(object: &PyObject, attribute: &str, vm: &Vm) -> Option<Object> {
    let name = vm.ctx.intern_str(attribute);
    // As the VM does it, but not through its cache of methods, which allocates when it misses.
    let class = object.class();
    let descriptor = class.mro.read().iter().find_map(|c| c.get_direct_attr(name));
    if let Some(descriptor) = descriptor
        && is_data_descriptor(&descriptor)
        && let Some(get) = descriptor.class().slots().descr_get.load()
    {
        return get(&descriptor, Some(object), Some(class.as_object()), vm).ok();
    }
    object.get_attr(name, vm).ok()
}

/// Whether a cell equals an empty one, which only an empty one does; objects in cells aren't compared for that.
fn is_empty_cell(cell: &Object, vm: &Vm) -> bool {
    let Some(empty) = crate::thread::empty_cell(vm) else { return false };
    let Some(compare) = vm.ctx.types.cell_type.slots().richcompare.load() else { return false };
    matches!(compare(cell, &empty, PyComparisonOp::Eq, vm), Ok(Either::B(PyComparisonValue::Implemented(true))))
}

/// Whether an object is a function written in Python.
pub fn is_function(object: &Object) -> bool {
    object.downcast_ref::<PyFunction>().is_some()
}

/// Line of the `def`, file and qualified name of a code object.
pub fn code_place(code: &Object) -> Option<(u32, String, String)> {
    let code = code.downcast_ref::<PyCode>()?;
    let line = code.code.first_line_number.map_or(0, |l| l.get() as u32);
    Some((line, code.source_path().to_string(), code.code.qualname.to_string()))
}

/// `module.qualname` of a class or function, `module` of a module, for messages. Runs no user code.
pub fn describe(object: &Object, vm: &Vm) -> String {
    if let Some(c) = constant(object, vm) {
        return c.to_string();
    }
    if let Some(t) = object.downcast_ref::<PyType>() {
        return format!("<class {}>", t.name());
    }
    if let Some(f) = object.downcast_ref::<PyFunction>() {
        let code = f.as_object().get_attr(vm.ctx.intern_str("__code__"), vm).ok();
        if let Some((line, _, qualname)) = code.as_ref().and_then(code_place) {
            let _ = line;
            return format!("<function {qualname}>");
        }
    }
    let kind = BuiltinType::of(object, vm);
    let named = matches!(
        kind,
        BuiltinType::BuiltinFunction
            | BuiltinType::BuiltinMethod
            | BuiltinType::MethodDescriptor
            | BuiltinType::WrapperDescriptor
            | BuiltinType::Module
            | BuiltinType::GetSet
            | BuiltinType::Member
    );
    let text = named.then(|| native_attribute(object, "__name__", vm)).flatten().and_then(|n| constant(&n, vm));
    match (kind, text) {
        (BuiltinType::Module, Some(Const::Str(s))) => format!("<module {s}>"),
        (_, Some(Const::Str(s))) => format!("<{s}>"),
        _ => format!("<{} object>", object.class().name()),
    }
}

/// Number of items of a list, tuple, dict or set; `None` for other objects.
pub fn length(object: &Object, vm: &Vm) -> Option<usize> {
    if let Some(t) = tuple_items(object) {
        return Some(t.len());
    }
    let of_exact_set = || match BuiltinType::of(object, vm) {
        BuiltinType::Set | BuiltinType::FrozenSet => object.length_opt(vm)?.ok(),
        _ => set_items(object).map(|s| s.len()),
    };
    list_len(object).or_else(|| dict_len(object)).or_else(of_exact_set)
}

/// Whether `object` is an exact `str` with the text of a name.
pub fn is_name(object: &Object, name: Name, vm: &Vm) -> bool {
    let text = || object.class().is(vm.ctx.types.str_type).then(|| object.downcast_ref::<PyStr>()).flatten();
    object.is(name) || text().is_some_and(|text| text.as_wtf8() == name.as_wtf8())
}

/// Whether `object` is exactly this constant. Makes no [`Const`].
pub fn equals_const(object: &Object, expected: &Const, vm: &Vm) -> bool {
    match expected {
        Const::None => vm.is_none(object),
        Const::Bool(b) => object.is(if *b { &vm.ctx.true_value } else { &vm.ctx.false_value }),
        Const::Ellipsis => object.is(&vm.ctx.ellipsis),
        Const::NotImplemented => object.is(&vm.ctx.not_implemented),
        Const::Int(i) => {
            let int = object.class().is(vm.ctx.types.int_type).then(|| object.downcast_ref::<PyInt>()).flatten();
            int.is_some_and(|int| i64::try_from(int.as_bigint()) == Ok(*i))
        }
        Const::Float(bits) => {
            let float = object.class().is(vm.ctx.types.float_type).then(|| object.downcast_ref::<PyFloat>()).flatten();
            float.is_some_and(|x| x.to_f64().to_bits() == *bits)
        }
        Const::Str(s) => {
            let text = object.class().is(vm.ctx.types.str_type).then(|| object.downcast_ref::<PyStr>()).flatten();
            text.is_some_and(|t| t.to_str() == Some(&**s))
        }
        Const::Bytes(b) => {
            let bytes = object.class().is(vm.ctx.types.bytes_type).then(|| object.downcast_ref::<PyBytes>()).flatten();
            bytes.is_some_and(|x| x.as_bytes() == &**b)
        }
        Const::BigInt(_) => constant(object, vm).as_ref() == Some(expected),
    }
}

/// Whether `object` is a function that runs this code object.
pub fn function_code_is(object: &Object, code: &super::Pin, vm: &Vm) -> bool {
    object.downcast_ref::<PyFunction>().and_then(|f| crate::code::code_of_function(f, vm)).is_some_and(|c| code.is(&c))
}

/// Whether an object is a `functools.partial`, and no instance of a subclass: its class is a native one that calls by itself.
pub fn is_partial(object: &Object, vm: &Vm) -> bool {
    let class = class_of(object);
    let own = || {
        let call = own_attribute(&class, vm.ctx.intern_str("__call__"))?;
        let owner = native_attribute(&call, "__objclass__", vm)?;
        Some(BuiltinType::of(&call, vm) == BuiltinType::WrapperDescriptor && owner.is(&class))
    };
    class_name(&class) == "partial" && own() == Some(true)
}

/// What a name means in the module `builtins`.
pub fn builtin(name: &str, vm: &Vm) -> Option<Object> {
    vm.builtins.get_attr(vm.ctx.intern_str(name), vm).ok()
}

/// One of the VM's own exception classes, by name, unless the script has put another in its place.
pub fn builtin_exception(name: &str, vm: &Vm) -> Option<Object> {
    let class = builtin(name, vm)?;
    let is_exception = class.downcast_ref::<PyType>().is_some_and(|c| c.fast_issubclass(vm.ctx.exceptions.base_exception_type));
    (is_exception && !is_mutable_class(&class) && class_name(&class) == name).then_some(class)
}

/// `sys.modules`.
pub fn loaded_modules(vm: &Vm) -> Option<Object> {
    vm.sys_module.get_attr(vm.ctx.intern_str("modules"), vm).ok()
}

/// An attribute of a module that is loaded; nothing is imported.
pub fn module_attribute(module: &str, name: Name, vm: &Vm) -> Option<Object> {
    let modules = loaded_modules(vm)?;
    let module = dict_get(&modules, vm.ctx.intern_str(module), vm)?;
    dict_get(&instance_dict(&module)?, name, vm)
}

/// Whether an object is `object.__new__`.
pub fn is_object_new(object: &Object, vm: &Vm) -> bool {
    vm.ctx.types.object_type.get_attr(vm.ctx.intern_str("__new__")).is_some_and(|new| new.is(object))
}
