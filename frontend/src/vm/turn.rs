//! Whose turn it is: of all engines of a process, one runs Python at a time.
//!
//! The VM is built without its `threading` feature, so an object belongs to its thread. One thing doesn't: the cache of attribute
//! lookups in classes is one for the process, and a reader counts a reference to what it found there before it sees that another
//! thread has just replaced it. Two VMs that run at once lose references that way and crash, rarely. So a thread takes the turn before
//! it enters its VM and gives it up when it leaves, while it computes without the VM, and whenever it runs code of the host program
//! or waits for another engine.
//!
//! Threads are served in the order in which they came. One that has waited for a [`SLICE`] asks whoever has the turn to pass it on, which
//! happens before the next instruction of its script.

use crate::thread::with;
use rustpython_vm::signal::UserSignalSender;
use std::{
    cell::{Cell, RefCell},
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, ThreadId},
    time::Duration,
};

/// How long a thread waits for its turn before it asks for it.
const SLICE: Duration = Duration::from_millis(5);

/// The one queue of the process, as the cache it protects is one.
static QUEUE: Queue = Queue { line: Mutex::new(Line::new()), moved: Condvar::new(), vms: AtomicUsize::new(0) };

struct Queue {
    line: Mutex<Line>,
    /// Told whenever [`Line::serving`] changes.
    moved: Condvar,
    /// VMs that live or are being built.
    vms: AtomicUsize,
}

struct Line {
    /// The number that the next to come gets.
    next: u64,
    /// The number whose turn it is.
    serving: u64,
    /// How the thread that has the turn is asked to pass it on. `None`: nobody has it, or the VM is still being built.
    holder: Option<UserSignalSender>,
    /// Whether it has been asked.
    asked: bool,
    /// Who had the turn last.
    last: Option<ThreadId>,
}

/// What a thread knows of its own turn.
#[derive(Default)]
pub(crate) struct ThreadTurn {
    /// How many [`Turn`]s the thread has; it has the turn while that is more than none.
    depth: Cell<u32>,
    /// How this thread's VM is reached.
    signals: RefCell<Option<UserSignalSender>>,
}

/// The turn of this thread, while it lives.
#[must_use]
pub(super) struct Turn(());

/// A VM that may want the turn, for as long as it lives.
pub(super) struct Contender(());

/// Takes the turn when it is dropped, for what is dropped between it and its [`Leave`].
pub(super) struct TakeOnDrop;

/// Gives up, when it is dropped, what [`TakeOnDrop`] took.
pub(super) struct Leave(pub(super) Contender);

impl Line {
    const fn new() -> Self {
        Self { next: 0, serving: 0, holder: None, asked: false, last: None }
    }

    /// Asks for the turn, once for each time somebody takes it.
    fn ask(&mut self) {
        if let Some(holder) = self.holder.as_ref().filter(|_| !self.asked) {
            // The VM is gone: then its turn is over.
            let _ = holder.send(Box::new(|_| {
                pause(|| ());
                Ok(())
            }));
            self.asked = true;
        }
    }
}

impl Queue {
    fn line(&self) -> MutexGuard<'_, Line> {
        // No code that may panic runs under the lock.
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn acquire(&self) {
        let signals = with(|t| t.turn.signals.borrow().clone());
        let mut line = self.line();
        let number = line.next;
        line.next += 1;
        while line.serving != number {
            let (woken, waited) = self.moved.wait_timeout(line, SLICE).unwrap_or_else(PoisonError::into_inner);
            line = woken;
            if waited.timed_out() && line.serving != number {
                line.ask();
            }
        }
        let me = thread::current().id();
        let from_another = line.last.replace(me).is_some_and(|last| last != me);
        line.holder.clone_from(&signals);
        line.asked = false;
        drop(line);
        // The VM's note that signals have come is one for the process too, and the other may have taken this VM's.
        if let Some(signals) = signals.filter(|_| from_another) {
            // The receiver is this thread's VM.
            let _ = signals.send(Box::new(|_| Ok(())));
        }
    }

    fn release(&self) {
        let mut line = self.line();
        line.serving += 1;
        line.holder = None;
        drop(line);
        self.moved.notify_all();
    }
}

/// Waits for this thread's turn, unless it has it already.
pub(super) fn take() -> Turn {
    if with(|t| t.turn.depth.get()) == 0 {
        QUEUE.acquire();
    }
    with(|t| t.turn.depth.set(t.turn.depth.get() + 1));
    Turn(())
}

impl Drop for Turn {
    fn drop(&mut self) {
        let left = with(|t| {
            let left = t.turn.depth.get() - 1;
            t.turn.depth.set(left);
            left
        });
        if left == 0 {
            QUEUE.release();
        }
    }
}

/// Runs `body` once it is this thread's turn.
pub fn in_turn<R>(body: impl FnOnce() -> R) -> R {
    let _turn = take();
    body()
}

/// Runs `body`, which must not touch a Python object, without the turn: code of the host program, or waiting for another thread.
pub fn pause<R>(body: impl FnOnce() -> R) -> R {
    struct Again(u32);
    impl Drop for Again {
        fn drop(&mut self) {
            QUEUE.acquire();
            with(|t| t.turn.depth.set(self.0));
        }
    }
    let depth = with(|t| t.turn.depth.replace(0));
    if depth == 0 {
        return body();
    }
    QUEUE.release();
    let _again = Again(depth);
    body()
}

/// [`pause`] for computing, which costs nothing where no other VM lives.
pub fn compute<R>(body: impl FnOnce() -> R) -> R {
    if QUEUE.vms.load(Ordering::Relaxed) > 1 { pause(body) } else { body() }
}

impl Contender {
    pub(super) fn new() -> Self {
        QUEUE.vms.fetch_add(1, Ordering::Relaxed);
        Self(())
    }

    /// Says how the VM of this thread is reached.
    pub(super) fn reached_by(&self, signals: UserSignalSender) {
        with(|t| t.turn.signals.replace(Some(signals.clone())));
        QUEUE.line().holder = Some(signals);
    }
}

impl Drop for Contender {
    fn drop(&mut self) {
        with(|t| t.turn.signals.take());
        QUEUE.vms.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for TakeOnDrop {
    fn drop(&mut self) {
        std::mem::forget(take());
    }
}

impl Drop for Leave {
    fn drop(&mut self) {
        drop(Turn(()));
    }
}
