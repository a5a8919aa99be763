//! The hook sees every call of a compiled region, whatever the VM specialised, and leaves nothing behind.

mod programs;

use rustpython_vm::{AsObject, Py, PyResult, VirtualMachine, builtins::PyFunction, function::FuncArgs};
use std::{cell::RefCell, rc::Rc};
use taipan_frontend::hook::{self, CallHook, Called, Region};

/// Notes the names of the functions it is offered.
struct Noting {
    names: RefCell<Vec<String>>,
}

impl CallHook for Noting {
    fn on_call(&self, function: &Py<PyFunction>, args: FuncArgs, vm: &VirtualMachine) -> Called {
        let name = function.as_object().get_attr("__name__", vm).and_then(|name| name.str(vm));
        let name = name.map_or_else(|_| String::new(), |name| name.to_string());
        self.names.borrow_mut().push(name.clone());
        match name.as_str() {
            "answered" => Called::Done(Ok(vm.ctx.new_int(42).into())),
            "panics" => panic!("the hook gives up"),
            "pauses" => {
                let _own_work = Region::plain(vm);
                Called::Done(hook::run_original(function, args, vm))
            }
            _ => Called::Declined(args),
        }
    }
}

thread_local! {
    static NOTING: Rc<Noting> = Rc::new(Noting { names: RefCell::default() });
}

/// `in_region(f, *args)` calls `f` in a compiled region; answers the names of the functions offered to the hook.
fn in_region(mut args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    let function = args.take_positional().expect("a function");
    let noting = NOTING.with(Rc::clone);
    noting.names.borrow_mut().clear();
    {
        let _region = Region::compiled(vm);
        function.call(args, vm)?;
    }
    let names = noting.names.take().into_iter().map(|name| vm.ctx.new_str(name).into());
    Ok(vm.ctx.new_list(names.collect()).into())
}

fn tracing(vm: &VirtualMachine) -> bool {
    vm.use_tracing.get()
}

#[test]
fn every_call_of_a_region_is_offered() {
    programs::run("hook_calls", |vm, program| {
        let natives =
            [("in_region", vm.new_function("in_region", in_region).into()), ("tracing", vm.new_function("tracing", tracing).into())];
        programs::add_module("hook_natives", &natives, vm)?;
        hook::install(NOTING.with(Rc::clone), vm)?;
        program()
    });
}
