//! Memos: what of a check need not be done again as long as nothing was written.
//!
//! Everything that is reached from a root object through watched namespaces, classes and functions alone is *anchored*: while the
//! watch is clean, the roots are the same objects and no tensor changed its layout, all anchored guards hold. Only the rest, the
//! *open* steps, are evaluated; they are few for a model, however many modules it has.

use crate::{
    guard::{Check, Guard},
    program::Step,
    source::{Key, Source},
};
use taipan_frontend::inspect::{self, Object, Pin, Vm, Watch};

/// A value of the memo's own numbering: anchored values that are needed come first, then open steps in order.
pub(crate) type Place = u32;

/// One step that is evaluated at every check.
pub(crate) struct OpenStep {
    pub step: u32,
    pub parent: Option<Place>,
    pub other: Option<Place>,
}

/// What a check may leave out.
pub(crate) struct Memo {
    watch: Watch,
    epoch: u64,
    /// Objects of anchored roots: `(step, address)`.
    roots: Vec<(u32, Pin)>,
    /// Anchored values that open steps, joint checks or captures need.
    pub held: Vec<Pin>,
    pub open: Vec<OpenStep>,
    /// Where each capture is found.
    pub captures: Vec<Place>,
    /// Joint checks with an open part, with places instead of steps.
    pub joint: Vec<(u32, Vec<Place>)>,
}

/// Fewer anchored steps than this are checked faster than remembered.
const WORTH: usize = 6;

impl Memo {
    /// A memo of a check that has just succeeded with these values. `None` where too little is anchored.
    pub fn new(
        steps: &[Step],
        guards: &[Guard],
        joint: &[(u32, Vec<u32>)],
        captures: &[u32],
        values: &[Option<Object>],
        vm: &Vm,
    ) -> Option<Memo> {
        let watch = Watch::new(vm);
        let mut anchored = vec![false; steps.len()];
        let mut roots = vec![];
        for (i, step) in steps.iter().enumerate() {
            anchored[i] = is_anchored(step, guards, &anchored, values, i, &watch, vm);
        }
        // A root without anchored children is cheaper as an open step.
        for (i, step) in steps.iter().enumerate() {
            if step.parent.is_none() && anchored[i] && !matches!(step.source, Source::Known(_)) {
                let used = steps.iter().enumerate().any(|(j, s)| s.parent == Some(i as u32) && anchored[j]);
                match &values[i] {
                    Some(object) if used => roots.push((i as u32, Pin::new(object, vm))),
                    _ => anchored[i] = false,
                }
            }
        }
        if anchored.iter().filter(|a| **a).count() < WORTH {
            return None;
        }
        let mut place = vec![u32::MAX; steps.len()];
        let mut held = vec![];
        let mut hold = |step: u32, place: &mut Vec<u32>| {
            if anchored[step as usize]
                && place[step as usize] == u32::MAX
                && let Some(object) = &values[step as usize]
            {
                place[step as usize] = held.len() as u32;
                held.push(Pin::new(object, vm));
            }
        };
        for (i, step) in steps.iter().enumerate() {
            if !anchored[i] {
                step.parent.into_iter().chain(step.other).for_each(|s| hold(s, &mut place));
            }
        }
        captures.iter().for_each(|s| hold(*s, &mut place));
        let open_joint: Vec<&(u32, Vec<u32>)> = joint.iter().filter(|(_, all)| all.iter().any(|s| !anchored[*s as usize])).collect();
        open_joint.iter().for_each(|(_, all)| all.iter().for_each(|s| hold(*s, &mut place)));
        let mut open = vec![];
        for (i, step) in steps.iter().enumerate() {
            if !anchored[i] {
                place[i] = (held.len() + open.len()) as u32;
                let at = |s: u32| place[s as usize];
                open.push(OpenStep { step: i as u32, parent: step.parent.map(at), other: step.other.map(at) });
            }
        }
        let at = |s: &u32| place[*s as usize];
        let joint = open_joint.into_iter().map(|(g, all)| (*g, all.iter().map(at).collect())).collect();
        Some(Memo { watch, epoch: inspect::tensor_epoch(), roots, held, open, captures: captures.iter().map(at).collect(), joint })
    }

    /// Whether the anchored part holds.
    #[inline]
    pub fn holds(&self, root: impl Fn(u32) -> Option<Object>, vm: &Vm) -> bool {
        self.watch.is_clean(vm)
            && self.epoch == inspect::tensor_epoch()
            && self.roots.iter().all(|(step, pin)| root(*step).is_some_and(|o| pin.is(&o)))
    }
}

/// Whether a step's value can't change without the watch, the roots or the tensor epoch telling; what it relies on is registered.
fn is_anchored(step: &Step, guards: &[Guard], anchored: &[bool], values: &[Option<Object>], index: usize, watch: &Watch, vm: &Vm) -> bool {
    let checks = || step.checks.iter().map(|g| &guards[*g as usize].check);
    let Some(parent) = step.parent else {
        return match &step.source {
            Source::Known(_) => true,
            // An immutable root is compared by identity; one that can be written to must tell when its namespace is.
            _ => {
                values[index].as_ref().is_some_and(inspect::has_watched_namespace)
                    && checks().all(|c| matches!(c, Check::Type(_) | Check::Is(_) | Check::Present))
            }
        };
    };
    if !anchored[parent as usize] || step.other.is_some_and(|o| !anchored[o as usize]) {
        return false;
    }
    let Some(parent) = &values[parent as usize] else { return values[index].is_none() };
    let reached = match &step.source {
        Source::TypeOf(_) => inspect::has_watched_namespace(parent) || !inspect::is_mutable_class(&inspect::class_of(parent)),
        Source::TypeAttr(..) | Source::SuperAttr(..) => !inspect::is_mutable_class(parent) || watch.class(parent, vm),
        Source::InstanceDict(_) => inspect::has_watched_namespace(parent),
        Source::DictItem(_, Key::Name(name)) => watch.key(parent, name, vm),
        Source::DictItem(_, Key::Const(_) | Key::Object(_)) | Source::Item(..) | Source::Cell(_) | Source::Cached(..) => false,
        Source::Native(_, name) => match *name {
            // Parts of a method, property or descriptor never change; of a function the watch tells.
            "__func__" | "__self__" | "fget" | "fset" | "fdel" | "__globals__" | "__builtins__" | "__closure__" | "start" | "stop"
            | "step" => true,
            "__code__" | "__defaults__" | "__kwdefaults__" => watch.function(parent, vm),
            _ => false,
        },
        Source::Slot { .. }
        | Source::Stack { .. }
        | Source::Globals { .. }
        | Source::Builtins { .. }
        | Source::Handled { .. }
        | Source::Post { .. }
        | Source::Known(_) => false,
    };
    if !reached {
        return false;
    }
    let Some(value) = &values[index] else { return true };
    checks().all(|check| match check {
        Check::Is(_) | Check::Equals(_) | Check::Absent | Check::Present | Check::Tensor(_) | Check::SameAs(_) | Check::NotAmong(_) => true,
        // The class of an object changes only by its `__class__`, which the watch of its namespace tells; natives have none.
        Check::Type(class) => {
            inspect::has_watched_namespace(value)
                || class.pin().object().is_some_and(|c| !inspect::is_mutable_class(&c))
                || inspect::is_class(value)
        }
        Check::Len(_) | Check::Keys(_) => inspect::tuple_items(value).is_some() || watch.all_keys(value, vm),
        Check::Code(_) => watch.function(value, vm),
    })
}
