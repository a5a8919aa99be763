//! Unpacking: `a, b = value` and `a, *b = value`.

use crate::{
    frame::{Then, Unpacking},
    recorder::{Recorder, Traced},
    step::{Done, Flow},
    value::{Kind, Value},
};

impl Recorder<'_> {
    pub(crate) fn unpack_sequence(&mut self, n: usize) -> Traced<Flow> {
        let value = self.pop()?;
        if let Some((generator, Kind::Generator(_))) = self.kind_of(&value)? {
            return self.unpack_more(Unpacking { generator, items: vec![], count: n });
        }
        if self.iterates_by_python(&value)? {
            return match self.call_polyfill("items_of", vec![value], Then::Unpack(n))? {
                Done::Value(value) => self.unpack(&value, n),
                Done::Entered => Ok(Flow::Entered),
            };
        }
        self.unpack(&value, n)
    }

    /// Pushes the items of a value, of which there must be `n`.
    pub(crate) fn unpack(&mut self, value: &Value, n: usize) -> Traced<Flow> {
        let items = self.iterate_or_unbind(value)?;
        if items.len() > n {
            return self.raise("ValueError", &format!("too many values to unpack (expected {n}, got {})", items.len()));
        }
        self.push_unpacked(items, n)
    }

    /// Pushes items, the first one on top; there are `n` of them or too few.
    fn push_unpacked(&mut self, items: Vec<Value>, n: usize) -> Traced<Flow> {
        if items.len() < n {
            return self.raise("ValueError", &format!("not enough values to unpack (expected {n}, got {})", items.len()));
        }
        for item in items.into_iter().rev() {
            self.push(item)?;
        }
        Ok(Flow::Next)
    }

    /// Asks a generator for one more item to unpack; also behind the last one wanted, where there must be none.
    pub(crate) fn unpack_more(&mut self, unpacking: Unpacking) -> Traced<Flow> {
        let Unpacking { generator, count, .. } = unpacking;
        if unpacking.items.len() > count {
            return self.raise("ValueError", &format!("too many values to unpack (expected {count})"));
        }
        match self.resume_generator(generator, Value::NONE, Then::UnpackItem(Box::new(unpacking.clone())))? {
            Some(()) => Ok(Flow::Entered),
            None => self.unpacked(unpacking),
        }
    }

    /// A generator that is unpacked has no more items.
    pub(crate) fn unpacked(&mut self, unpacking: Unpacking) -> Traced<Flow> {
        self.push_unpacked(unpacking.items, unpacking.count)
    }

    pub(crate) fn unpack_ex(&mut self, arg: u32) -> Traced<Flow> {
        let (before, after) = ((arg & 0xff) as usize, (arg >> 8) as usize);
        let value = self.pop()?;
        let mut items = self.iterate_or_unbind(&value)?;
        if items.len() < before + after {
            let text = format!("not enough values to unpack (expected at least {}, got {})", before + after, items.len());
            return self.raise("ValueError", &text);
        }
        let tail = items.split_off(items.len() - after);
        let middle = items.split_off(before);
        for item in tail.into_iter().rev() {
            self.push(item)?;
        }
        let middle = self.list(middle);
        self.push(middle)?;
        for item in items.into_iter().rev() {
            self.push(item)?;
        }
        Ok(Flow::Next)
    }
}
