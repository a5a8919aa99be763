//! Stopping a script from outside: an interrupter that any thread may hold, and deadlines built on it.

use rustpython_vm::signal::UserSignalSender;
use std::{
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// How often an interrupt is repeated: one `except BaseException` can swallow only one of them.
const REPEAT: Duration = Duration::from_millis(5);

/// Raises `KeyboardInterrupt` in the scripts of one host.
#[derive(Clone, Debug)]
pub struct Interrupter {
    sender: UserSignalSender,
}

impl Interrupter {
    pub(crate) fn new(sender: UserSignalSender) -> Self {
        Self { sender }
    }

    /// Raises `KeyboardInterrupt(reason)` before the script's next instruction. Does nothing once the host
    /// is gone.
    pub fn interrupt(&self, reason: impl Into<String>) {
        self.send(reason.into(), || true);
    }

    /// Raises the exception unless it is too late when the script comes to look.
    fn send(&self, reason: String, still: impl FnOnce() -> bool + Send + 'static) {
        // An error says that the VM no longer exists, and then there is nothing to stop.
        let _ = self.sender.send(Box::new(move |vm| {
            if !still() {
                return Ok(());
            }
            let class = vm.ctx.exceptions.keyboard_interrupt.to_owned();
            Err(vm.new_exception_msg(class, reason.into()))
        }));
    }

    /// Interrupts again and again from `limit` on, until the returned guard is dropped.
    pub fn deadline(&self, limit: Duration) -> Deadline {
        let over = Arc::new((Mutex::new(false), Condvar::new()));
        let interrupter = self.clone();
        let watched = Arc::clone(&over);
        let watcher = thread::spawn(move || {
            let (over, changed) = &*watched;
            let mut next = Instant::now() + limit;
            let mut done = over.lock().unwrap_or_else(PoisonError::into_inner);
            while !*done {
                let now = Instant::now();
                if now >= next {
                    let over = Arc::clone(&watched);
                    interrupter
                        .send(format!("deadline of {limit:?} passed"), move || !*over.0.lock().unwrap_or_else(PoisonError::into_inner));
                    next = now + REPEAT;
                }
                done = changed.wait_timeout(done, next.saturating_duration_since(now)).unwrap_or_else(PoisonError::into_inner).0;
            }
        });
        Deadline { over, watcher: Some(watcher) }
    }
}

/// Keeps a deadline in force while it lives.
#[derive(Debug)]
pub struct Deadline {
    over: Arc<(Mutex<bool>, Condvar)>,
    watcher: Option<JoinHandle<()>>,
}

impl Drop for Deadline {
    fn drop(&mut self) {
        let (over, changed) = &*self.over;
        *over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
        if let Some(watcher) = self.watcher.take() {
            // The watcher can't panic, and if it did the script would still be done.
            let _ = watcher.join();
        }
    }
}
