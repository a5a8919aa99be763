//! `functools.lru_cache`: the native part, such that what it holds can be looked at without calling Python.
//!
//! Keys are objects of our own. One that a call made holds its arguments; a *probe*, which a guard keeps, holds them weakly, and
//! equals a key whose arguments are the same objects or equal constants. Where it is in doubt it equals none.

use crate::inspect::{self, BuiltinType, Name, Object, Pin, Vm};
use rustpython_vm::{
    AsObject, Py, PyObject, PyObjectRef, PyPayload, PyRef, PyResult, Traverse, VirtualMachine,
    builtins::{PyBoundMethod, PyDictRef, PyTuple, PyTupleRef, PyType},
    class::PyClassImpl,
    common::hash::PyHash,
    function::{FuncArgs, PyComparisonValue},
    pyclass,
    types::{Callable, Comparable, Constructor, GetDescriptor, Hashable, PyComparisonOp},
};
use std::{cell::Cell, fmt};

/// A function that remembers its results: what `functools.lru_cache` makes.
#[pyclass(module = "functools", name = "_lru_cache_wrapper", traverse)]
#[derive(PyPayload)]
pub struct LruCache {
    function: PyObjectRef,
    /// The most results that are kept.
    #[pytraverse(skip)]
    limit: Option<usize>,
    /// Whether arguments of different types are different keys.
    #[pytraverse(skip)]
    typed: bool,
    /// What `cache_info` answers with.
    info_class: PyObjectRef,
    /// From each key to a pair of it and the result, least recently used first where there is a limit.
    entries: PyDictRef,
    #[pytraverse(skip)]
    hits: Cell<u64>,
    #[pytraverse(skip)]
    misses: Cell<u64>,
}

/// The arguments of a call, hashed once.
#[pyclass(module = "functools", name = "_lru_cache_key", traverse)]
#[derive(PyPayload)]
struct CacheKey {
    /// Positional arguments; the class of caches as a mark, names and values in turn where there are others; their types for a typed
    /// cache. `None` for a probe.
    parts: Option<PyTupleRef>,
    #[pytraverse(skip)]
    probe: Vec<Part>,
    /// A lone integer or string, which is no key of one part.
    #[pytraverse(skip)]
    lone: bool,
    #[pytraverse(skip)]
    hash: PyHash,
}

/// One argument, as a probe knows it.
enum Part {
    Constant(Object),
    Tuple(Vec<Part>),
    /// An object that hashes and compares by identity.
    Pinned(Pin),
}

/// Puts this cache in the place of the VM's own.
pub(super) fn install(vm: &Vm) -> PyResult<()> {
    let _ = CacheKey::make_static_type();
    vm.import("_functools", 0)?.set_attr("_lru_cache_wrapper", LruCache::make_static_type(), vm)
}

impl LruCache {
    /// The cache that an object is.
    pub fn of(object: &Object) -> Option<&Py<LruCache>> {
        object.downcast_ref::<LruCache>()
    }

    /// Whether results are found by what arguments equal alone, so that [`LruCache::probe`] makes sense.
    pub fn is_plain(&self) -> bool {
        !self.typed && self.limit != Some(0)
    }

    /// What [`LruCache::peek`] looks a call up by. The arguments are constants, objects that hash and compare by identity, and tuples of
    /// such; `None` where one can't be hashed.
    pub fn probe(args: &[Object], keywords: &[(Name, Object)], vm: &Vm) -> Option<Object> {
        let keywords = keywords.iter().map(|(name, value)| (vm.ctx.new_str(name.as_str()).into(), value.clone()));
        let (parts, lone) = parts_of(args, keywords, vm);
        let hash = hash_of(&parts, lone, vm).ok()?;
        let probe = parts.iter().map(|part| Part::of(part, vm)).collect();
        Some(CacheKey { parts: None, probe, lone, hash }.into_ref(&vm.ctx).into())
    }

    /// The result that is kept for a probe's arguments. Nothing is counted.
    pub fn peek(&self, probe: &Object, vm: &Vm) -> Option<Object> {
        let pair = self.entries.get_item_opt(&**probe, vm).ok()??;
        pair.downcast_ref::<PyTuple>()?.as_slice().get(1).cloned()
    }

    /// Does what finding a probe's result does in a call.
    pub fn note_hit(&self, probe: &Object, vm: &Vm) {
        if let Ok(Some(pair)) = self.entries.get_item_opt(&**probe, vm) {
            // Nothing in it can raise: keys have their hashes.
            let _ = self.hit(&pair, vm);
        }
    }

    /// Counts a hit and gives its result.
    fn hit(&self, pair: &Object, vm: &Vm) -> PyResult {
        self.hits.set(self.hits.get() + 1);
        let Some([key, result]) = pair.downcast_ref::<PyTuple>().map(|pair| pair.as_slice()) else {
            return Err(vm.new_system_error("an entry of a cache is no pair"));
        };
        if self.limit.is_some() {
            self.entries.del_item(&**key, vm)?;
            self.entries.set_item(&**key, pair.clone(), vm)?;
        }
        Ok(result.clone())
    }

    fn keep(&self, key: PyRef<CacheKey>, result: &Object, vm: &Vm) -> PyResult<()> {
        // The function may have called itself with the same arguments.
        if self.entries.get_item_opt(key.as_object(), vm)?.is_some() {
            return Ok(());
        }
        let pair = vm.ctx.new_tuple(vec![key.clone().into(), result.clone()]);
        self.entries.set_item(key.as_object(), pair.into(), vm)?;
        if self.limit.is_some_and(|limit| self.entries.__len__() > limit)
            && let Some((_, oldest, _)) = self.entries.next_entry(0)
        {
            self.entries.del_item(&*oldest, vm)?;
        }
        Ok(())
    }
}

impl CacheKey {
    fn new(args: &FuncArgs, typed: bool, vm: &Vm) -> PyResult<PyRef<Self>> {
        let keywords = args.kwargs.iter().map(|(name, value)| (vm.ctx.new_str(name.clone()).into(), value.clone()));
        let (mut parts, mut lone) = parts_of(&args.args, keywords, vm);
        if typed {
            let values = args.args.iter().chain(args.kwargs.values());
            parts.extend(values.map(|value| value.class().to_owned().into()));
            lone = false;
        }
        let hash = hash_of(&parts, lone, vm)?;
        Ok(Self { parts: Some(vm.ctx.new_tuple(parts)), probe: vec![], lone, hash }.into_ref(&vm.ctx))
    }

    fn equals(&self, other: &Self, vm: &Vm) -> PyResult<bool> {
        if self.lone != other.lone || self.hash != other.hash {
            return Ok(false);
        }
        let (parts, probe) = match (&self.parts, &other.parts) {
            (Some(own), Some(others)) => return own.as_object().rich_compare_bool(others.as_object(), PyComparisonOp::Eq, vm),
            (Some(parts), None) => (parts, &other.probe),
            (None, Some(parts)) => (parts, &self.probe),
            (None, None) => return Ok(std::ptr::eq(self, other)),
        };
        Ok(parts.len() == probe.len() && probe.iter().zip(parts.as_slice()).all(|(part, object)| part.is(object, vm)))
    }
}

/// What a key is made of, and whether it is a lone integer or string.
fn parts_of(args: &[Object], keywords: impl ExactSizeIterator<Item = (Object, Object)>, vm: &Vm) -> (Vec<Object>, bool) {
    let lone = keywords.len() == 0 && matches!(args, [only] if matches!(BuiltinType::of(only, vm), BuiltinType::Int | BuiltinType::Str));
    let mut parts = args.to_vec();
    if keywords.len() > 0 {
        parts.push(LruCache::class(&vm.ctx).to_owned().into());
    }
    keywords.for_each(|(name, value)| parts.extend([name, value]));
    (parts, lone)
}

fn hash_of(parts: &[Object], lone: bool, vm: &Vm) -> PyResult<PyHash> {
    match parts {
        [only] if lone => only.hash(vm),
        _ => vm.ctx.new_tuple(parts.to_vec()).as_object().hash(vm),
    }
}

impl Part {
    fn of(object: &Object, vm: &Vm) -> Part {
        if inspect::constant(object, vm).is_some() {
            return Part::Constant(object.clone());
        }
        match inspect::tuple_items(object) {
            Some(items) => Part::Tuple(items.iter().map(|item| Part::of(item, vm)).collect()),
            None => Part::Pinned(Pin::new(object, vm)),
        }
    }

    /// Whether `object` is this argument or equal to it, by what native code alone can tell.
    fn is(&self, object: &Object, vm: &Vm) -> bool {
        match self {
            Part::Constant(own) => {
                own.is(object) || inspect::is_constant(object, vm) && own.rich_compare_bool(object, PyComparisonOp::Eq, vm).unwrap_or(false)
            }
            Part::Tuple(parts) => {
                let is_tuple =
                    BuiltinType::of(object, vm) == BuiltinType::Tuple || crate::torch::torch_type::is_size(&inspect::class_of(object), vm);
                let items = inspect::tuple_items(object).filter(|_| is_tuple);
                items.is_some_and(|items| items.len() == parts.len() && parts.iter().zip(items).all(|(part, item)| part.is(item, vm)))
            }
            Part::Pinned(pin) => pin.is(object),
        }
    }
}

#[pyclass(with(Constructor, Callable, GetDescriptor), flags(HAS_DICT, HAS_WEAKREF, METHOD_DESCRIPTOR))]
impl LruCache {
    #[pymethod]
    fn cache_info(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult {
        let limit: PyObjectRef = zelf.limit.map_or_else(|| vm.ctx.none(), |limit| vm.ctx.new_int(limit).into());
        zelf.info_class.call((zelf.hits.get(), zelf.misses.get(), limit, zelf.entries.__len__()), vm)
    }

    #[pymethod]
    fn cache_clear(zelf: &Py<Self>) {
        zelf.hits.set(0);
        zelf.misses.set(0);
        zelf.entries.clear();
    }

    #[pymethod]
    fn __reduce__(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult {
        zelf.as_object().get_attr("__qualname__", vm)
    }

    #[pymethod]
    fn __copy__(zelf: PyRef<Self>) -> PyRef<Self> {
        zelf
    }

    #[pymethod]
    fn __deepcopy__(zelf: PyRef<Self>, _memo: PyObjectRef) -> PyRef<Self> {
        zelf
    }
}

impl Constructor for LruCache {
    type Args = (PyObjectRef, Option<isize>, bool, PyObjectRef);

    fn py_new(_class: &Py<PyType>, (function, limit, typed, info_class): Self::Args, vm: &VirtualMachine) -> PyResult<Self> {
        if !function.is_callable() {
            return Err(vm.new_type_error("the first argument must be callable"));
        }
        let limit = limit.map(|limit| usize::try_from(limit).unwrap_or(0));
        Ok(Self { function, limit, typed, info_class, entries: vm.ctx.new_dict(), hits: Cell::new(0), misses: Cell::new(0) })
    }
}

impl Callable for LruCache {
    type Args = FuncArgs;

    fn call(zelf: &Py<Self>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        let key = match zelf.limit {
            Some(0) => None,
            _ => Some(CacheKey::new(&args, zelf.typed, vm)?),
        };
        if let Some(key) = &key
            && let Some(pair) = zelf.entries.get_item_opt(key.as_object(), vm)?
        {
            return zelf.hit(&pair, vm);
        }
        zelf.misses.set(zelf.misses.get() + 1);
        let result = zelf.function.call(args, vm)?;
        if let Some(key) = key {
            zelf.keep(key, &result, vm)?;
        }
        Ok(result)
    }
}

impl GetDescriptor for LruCache {
    fn descr_get(zelf: &PyObject, object: Option<&PyObject>, _class: Option<&PyObject>, vm: &VirtualMachine) -> PyResult {
        match object {
            Some(object) if !vm.is_none(object) => Ok(PyBoundMethod::new(object.to_owned(), zelf.to_owned()).into_ref(&vm.ctx).into()),
            _ => Ok(zelf.to_owned()),
        }
    }
}

#[pyclass(with(Hashable, Comparable), flags(DISALLOW_INSTANTIATION))]
impl CacheKey {}

impl Hashable for CacheKey {
    fn hash(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<PyHash> {
        Ok(zelf.hash)
    }
}

impl Comparable for CacheKey {
    fn cmp(zelf: &Py<Self>, other: &PyObject, op: PyComparisonOp, vm: &VirtualMachine) -> PyResult<PyComparisonValue> {
        op.eq_only(|| match other.downcast_ref::<Self>() {
            Some(other) => Ok(PyComparisonValue::Implemented(zelf.equals(other, vm)?)),
            None => Ok(PyComparisonValue::NotImplemented),
        })
    }
}

impl fmt::Debug for LruCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LruCache")
    }
}

impl fmt::Debug for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CacheKey")
    }
}
