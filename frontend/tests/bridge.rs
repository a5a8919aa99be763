//! Bridges: every instruction of real functions is a break, and nothing can tell.
//!
//! The programs under `programs/` compare plain runs with runs through a trampoline that has no tracer: it runs one
//! instruction as a bridge, parks, runs the next.

mod programs;

use rustpython_vm::{
    AsObject, Py, PyObjectRef, PyRef, PyResult, VirtualMachine,
    builtins::{PyDictRef, PyFunction, PyTupleRef},
    bytecode::Opcode,
    function::{FuncArgs, KwArgs},
};
use std::{
    cell::{Cell, RefCell},
    rc::{Rc, Weak},
};
use taipan_frontend::{
    bridge::{self, FrameState, Stepped},
    code::{CodeInfo, FunctionView},
    hook::{self, CallHook, Called, Region},
};

thread_local! {
    /// Breaks, and lowest and highest native stack address at one, since the last look.
    static BREAKS: Cell<u64> = const { Cell::new(0) };
    static STACK: Cell<(usize, usize)> = const { Cell::new((usize::MAX, 0)) };
    static DECODED: RefCell<Weak<CodeInfo>> = const { RefCell::new(Weak::new()) };
    static BUILT: Cell<u64> = const { Cell::new(0) };
}

/// A hook that wants no call but carries chains on.
struct Stumbling;

impl CallHook for Stumbling {
    fn on_call(&self, _function: &Py<PyFunction>, args: FuncArgs, _vm: &VirtualMachine) -> Called {
        Called::Declined(args)
    }

    fn resume(&self, chain: Vec<FrameState>, vm: &VirtualMachine) -> PyResult {
        stumble(chain, true, u64::MAX, vm)
    }
}

/// Every instruction a break, at most `breaks` of them; with `follow`, calls make the chain longer.
fn stumble(mut chain: Vec<FrameState>, follow: bool, breaks: u64, vm: &VirtualMachine) -> PyResult {
    for _ in 0..breaks {
        BREAKS.set(BREAKS.get() + 1);
        match bridge::step(chain, vm)? {
            Stepped::Returned(value) => return Ok(value),
            Stepped::Parked(parked) => chain = parked,
        }
        let here = &raw const chain as usize;
        let (low, high) = STACK.get();
        STACK.set((low.min(here), high.max(here)));
        if follow {
            bridge::follow(&mut chain, vm)?;
        }
    }
    bridge::finish(chain, vm)
}

fn execute(function: PyRef<PyFunction>, args: PyTupleRef, keywords: PyDictRef, follow: bool, breaks: i64, vm: &VirtualMachine) -> PyResult {
    let keywords: KwArgs = keywords.into_iter().map(|(key, value)| (key.str(vm).expect("a name").to_string(), value)).collect();
    let args = FuncArgs::new(args.as_slice().to_vec(), keywords);
    match bridge::enter(&function, &args, vm)? {
        Some(frame) => {
            let breaks = u64::try_from(breaks).unwrap_or(u64::MAX);
            stumble(vec![frame], follow, breaks, vm)
        }
        None => function.as_object().call(args, vm),
    }
}

/// Runs a generator's body up to its yield number `yields`, answering `None` to the earlier ones, then makes it real.
fn rebuilt(function: PyRef<PyFunction>, args: PyTupleRef, yields: u64, vm: &VirtualMachine) -> PyResult {
    let args = FuncArgs::from(args.as_slice().to_vec());
    let mut frame = bridge::generator_start(&function, &args, vm)?.expect("a good call");
    let mut seen = 0;
    loop {
        if frame.info.program.instructions[frame.pc].op == Opcode::YieldValue {
            seen += 1;
            if seen == yields {
                return bridge::suspended(frame, vm);
            }
            *frame.stack.last_mut().expect("the yielded value") = Some(vm.ctx.none());
            frame.pc += 1;
        }
        match bridge::step(vec![frame], vm)? {
            Stepped::Returned(value) => return Ok(value),
            Stepped::Parked(mut chain) => frame = chain.pop().expect("one frame"),
        }
    }
}

/// Takes the function's frame and answers how `change` makes it end, as text: the error, or that there is none.
fn broken(function: PyRef<PyFunction>, change: u32, vm: &VirtualMachine) -> PyResult<String> {
    let mut frame = bridge::enter(&function, &FuncArgs::default(), vm)?.expect("a good call");
    match change {
        0 => {}
        1 => frame.stack.push(Some(vm.ctx.none())),
        2 => frame.slots.push(None),
        3 => frame.in_call = true,
        _ => frame.pc = usize::MAX,
    }
    Ok(match bridge::step(vec![frame], vm) {
        Ok(_) => "none".to_owned(),
        Err(error) => error.class().name().to_string(),
    })
}

/// Decodes a function's code; the last one decoded so is asked about by `decoded_lives`.
fn decode(function: PyRef<PyFunction>, vm: &VirtualMachine) -> PyResult<()> {
    let view = FunctionView::new(&function, vm)?;
    let info = CodeInfo::of(&view.code, vm)?.expect("compiler-made code");
    DECODED.set(Rc::downgrade(&info));
    Ok(())
}

fn decoded_lives() -> bool {
    DECODED.with_borrow(|decoded| decoded.upgrade().is_some())
}

fn statistics(vm: &VirtualMachine) -> PyObjectRef {
    let (low, high) = STACK.replace((usize::MAX, 0));
    let built = bridge::built();
    let numbers = [BREAKS.replace(0), built - BUILT.replace(built), high.saturating_sub(low) as u64];
    let numbers = numbers.map(|number| vm.ctx.new_int(number).into());
    vm.ctx.new_tuple(numbers.to_vec()).into()
}

/// Runs a program; inside a compiled region no call is specialised and every call passes the hook.
fn run(program: &'static str, in_region: bool) {
    programs::run(program, move |vm, program| {
        let natives = [
            ("execute", vm.new_function("execute", execute).into()),
            ("rebuilt", vm.new_function("rebuilt", rebuilt).into()),
            ("broken", vm.new_function("broken", broken).into()),
            ("decode", vm.new_function("decode", decode).into()),
            ("decoded_lives", vm.new_function("decoded_lives", decoded_lives).into()),
            ("statistics", vm.new_function("statistics", statistics).into()),
        ];
        programs::add_module("bridge_natives", &natives, vm)?;
        bridge::set_verify(true);
        hook::install(Rc::new(Stumbling), vm)?;
        let _region = in_region.then(|| Region::compiled(vm));
        program()
    });
}

#[test]
fn every_instruction_is_a_break() {
    run("bridge_everywhere", false);
}

#[test]
fn every_instruction_is_a_break_in_a_region() {
    run("bridge_everywhere", true);
}

#[test]
fn library_code_through_bridges() {
    run("bridge_library", false);
}

#[test]
fn loops_and_lifetimes() {
    run("bridge_loops", false);
}

#[test]
fn generators_are_rebuilt() {
    run("bridge_generators", false);
}

#[test]
fn generators_are_rebuilt_in_a_region() {
    run("bridge_generators", true);
}
