//! Calls of `functools.partial` objects that exist already: of what they hold, with what they hold in front.

use crate::{
    frame::Then,
    recorder::{Recorder, Traced, stop},
    step::Done,
    stop,
    value::{Keyword, Kind, Value},
};
use taipan_frontend::inspect;
use taipan_guards::Handle;

/// The class of what stands for an argument that the call itself gives.
const PLACEHOLDER: &str = "_PlaceholderType";

impl Recorder<'_> {
    /// Whether a real object, whose class has been asked, is a `functools.partial` of exactly that class.
    pub(crate) fn is_partial(&self, handle: &Handle) -> bool {
        inspect::is_partial(&self.assume.opaque(handle), self.vm)
    }

    /// `partial(*args, **keywords)`.
    pub(crate) fn call_partial(&mut self, partial: &Handle, args: Vec<Value>, keywords: Vec<Keyword>, then: Then) -> Traced<Done> {
        let parts = ["func", "args", "keywords"].map(|name| self.assume.native(partial, name).map(|part| self.wrap(part)));
        let [Some(function), Some(first), Some(named)] = parts else { return stop(&stop::CALL, "an unusual partial") };
        let mut all = self.iterate(&first)?;
        for value in &all {
            if self.class_name(value) == PLACEHOLDER {
                return stop(&stop::CALL, "a partial with placeholders");
            }
        }
        all.extend(args);
        let Some((id, Kind::RealDict(_))) = self.kind_of(&named)? else { return stop(&stop::CALL, "an unusual partial") };
        let mut merged: Vec<Keyword> = vec![];
        for (key, value) in self.dict_items(id)? {
            match self.text(&key)? {
                Some(key) => merged.push((self.name(&key), value)),
                None => return stop(&stop::RAISES, "keywords must be strings"),
            }
        }
        for (name, value) in keywords {
            match merged.iter_mut().find(|(known, _)| std::ptr::eq(*known, name)) {
                Some(known) => known.1 = value,
                None => merged.push((name, value)),
            }
        }
        self.call_then(&function, all, merged, then)
    }
}
