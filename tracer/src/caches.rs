//! Calls of cached functions, as `functools.lru_cache` makes them.
//!
//! A call whose arguments the cache knows gives what it holds, under the guard that it still does, and is counted when the region
//! commits. One that it doesn't know runs plainly, behind a break, and fills the cache; the guard that it didn't then fails.

use crate::{
    recorder::{Recorder, Traced, stop},
    step::Done,
    stop,
    value::{Keyword, Kind, Value},
};
use taipan_frontend::{
    inspect::{self, Object},
    torch::torch_type,
    vm::LruCache,
};
use taipan_guards::{Handle, Probe};

impl Recorder<'_> {
    /// Whether a real object is a cached function.
    pub(crate) fn is_cached_function(&self, handle: &Handle) -> bool {
        LruCache::of(&self.assume.opaque(handle)).is_some()
    }

    /// `function(*args, **keywords)` of a cached function.
    pub(crate) fn call_cached(&mut self, function: &Value, args: &[Value], keywords: &[Keyword]) -> Traced<Done> {
        let Some(handle) = self.handle(function) else { return stop(&stop::CALL, "a cached function without handle") };
        let object = self.assume.pinned(&handle);
        if !LruCache::of(&object).is_some_and(|cache| cache.is_plain()) {
            return stop(&stop::CALL, "a cached function that looks at types or keeps nothing");
        }
        let mut shown = vec![];
        let mut real = vec![];
        for value in args {
            real.push(self.cache_argument(value)?);
            shown.push(self.cache_argument_text(value));
        }
        let mut named = vec![];
        for (name, value) in keywords {
            named.push((*name, self.cache_argument(value)?));
            shown.push(format!("{name}={}", self.cache_argument_text(value)));
        }
        let Some(probe) = LruCache::probe(&real, &named, self.vm) else {
            return stop(&stop::RAISES, "an argument of a cached function can't be hashed");
        };
        let source = Probe { object: probe.clone(), shown: shown.join(", ").into() };
        match self.assume.cached(&handle, source) {
            Some(result) => {
                if let Some(id) = function.id() {
                    self.cache_hits.push((id, probe));
                }
                Ok(Done::Value(self.wrap(result)))
            }
            None => stop(&stop::CALL, format!("{} for the first time with these arguments", self.describe_handle(&handle))),
        }
    }

    /// The real object of an argument, which is now assumed to be the same key.
    fn cache_argument(&mut self, value: &Value) -> Traced<Object> {
        self.dict_key(value)?;
        let value = self.resolve(value)?;
        match &value {
            Value::Const(constant) => Ok(inspect::make_const(constant, self.vm)),
            Value::Object(id) => {
                if let Some(handle) = &self.item(*id).handle {
                    return Ok(self.assume.opaque(handle));
                }
                match self.kind(*id).clone() {
                    Kind::Tuple(items, class) => {
                        let items = items.iter().map(|item| self.cache_argument(item)).collect::<Traced<Vec<Object>>>()?;
                        match class {
                            crate::value::TupleClass::Size => match torch_type::make_size(items, self.vm) {
                                Some(size) => Ok(size),
                                None => stop(&stop::CALL, "a size that can't be made"),
                            },
                            _ => Ok(inspect::make_tuple(items, self.vm)),
                        }
                    }
                    _ => stop(&stop::CALL, "a cached function with an object made while tracing"),
                }
            }
        }
    }

    fn cache_argument_text(&mut self, value: &Value) -> String {
        match self.constant(value) {
            Ok(Some(constant)) => constant.to_string(),
            _ => self.class_name(value),
        }
    }
}
