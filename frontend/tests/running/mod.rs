//! Runs a script on an engine thread of its own and catches what it prints.

use std::{
    cell::RefCell,
    io::{self, Write},
    rc::Rc,
};
use taipan_frontend::{
    torch,
    vm::{HostBuilder, Policy, Script, ScriptError, spawn_engine_thread},
};

/// Output that a test can read back.
#[derive(Clone, Default)]
struct Captured(Rc<RefCell<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How the script ended, and its standard output and errors together.
pub fn run(policy: Policy, script: Script) -> (Result<i32, ScriptError>, String) {
    spawn_engine_thread("test", move || {
        let output = Captured::default();
        let host = HostBuilder::new(policy)
            .native_module(torch::definition)
            .stdout(output.clone())
            .stderr(output.clone())
            .argv(vec![script.path.clone(), "--steps=3".to_owned()])
            .build()
            .expect("the host starts");
        let ended = host.run(&script);
        host.finish();
        let text = String::from_utf8_lossy(&output.0.borrow()).into_owned();
        (ended, text)
    })
    .expect("a thread")
    .join()
    .expect("no panic")
}
