//! Code objects: decoding and assembling again gives what the compiler gave; all of it passes the verifier.

mod programs;

use rustpython_vm::{
    AsObject, PyObject, PyRef, PyResult, VirtualMachine,
    builtins::{PyCode, PyDictRef, PyFunction, PyTupleRef},
    bytecode::CodeFlags,
    compiler::Mode,
    function::{FuncArgs, KwArgs},
};
use std::{borrow::Borrow, cell::Cell};
use taipan_frontend::code::{Assembled, CodeInfo, CodeMeta, FunctionView, Instruction, Program, cell_contents, verify};

thread_local! {
    /// Code objects checked, and those that differ by the size of a jump.
    static CHECKED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Checks a code object and those among its constants.
fn check(code: PyRef<PyCode>, vm: &VirtualMachine) -> PyResult<()> {
    let wrong = |what: &str| vm.new_value_error(format!("{}: {what}", code.code.qualname.as_str()));
    let program = Program::decode(&code).map_err(|error| wrong(&error.to_string()))?;
    let meta = CodeMeta::of(&code);
    let assemble = |program: &Program| {
        let mut assembled = Assembled::new(meta.first_line);
        assembled.append(program).map_err(|error| wrong(&error.to_string()))?;
        Ok(assembled.into_code(meta.clone(), program.stack_depth(), vm))
    };
    verify(&code).map_err(|error| wrong(&error.to_string()))?;
    let again = assemble(&program)?;
    verify(&again).map_err(|error| wrong(&error.to_string()))?;
    let (checked, resized) = CHECKED.get();
    // A jump of nearly 256 units can have an EXTENDED_ARG or not: both are stable.
    let same_size = again.code.instructions.len() == code.code.instructions.len();
    CHECKED.set((checked + 1, resized + usize::from(!same_size)));
    if same_size {
        // Line tables have several forms for the same location: compared is what is read from them.
        let decoded = Program::decode(&again).map_err(|error| wrong(&error.to_string()))?;
        let [again_locations, code_locations] = [&decoded, &program].map(|p| p.instructions.iter().map(|i| i.location).collect::<Vec<_>>());
        let (again, code) = (&again.code, &code.code);
        let differs = [
            ("instructions", again.instructions.original_bytes() != code.instructions.original_bytes()),
            ("exception table", again.exceptiontable != code.exceptiontable),
            ("locations", again_locations != code_locations),
            ("slot kinds", again.localspluskinds != code.localspluskinds),
            ("stack depth", again.max_stackdepth != code.max_stackdepth),
        ];
        if let Some((what, _)) = differs.iter().find(|(_, differs)| *differs) {
            return Err(wrong(what));
        }
    }
    let expanded = assemble(&program.expand())?;
    verify(&expanded).map_err(|error| wrong(&error.to_string()))?;
    let info = CodeInfo::of(&code, vm)?;
    if info.is_some() != code.code.flags.contains(CodeFlags::OPTIMIZED) {
        return Err(wrong("no info"));
    }
    for constant in code.code.constants.iter() {
        let constant: &PyObject = constant.borrow();
        if let Some(inner) = constant.downcast_ref::<PyCode>() {
            check(inner.to_owned(), vm)?;
        }
    }
    Ok(())
}

fn checked(vm: &VirtualMachine) -> PyResult {
    let (checked, resized) = CHECKED.get();
    Ok(vm.ctx.new_tuple(vec![vm.ctx.new_int(checked).into(), vm.ctx.new_int(resized).into()]).into())
}

/// The slots of a frame as a dict of name → value, cells opened; `None` for an ill-formed call.
fn bind(function: PyRef<PyFunction>, args: PyTupleRef, keywords: PyDictRef, vm: &VirtualMachine) -> PyResult {
    let view = FunctionView::new(&function, vm)?;
    let keywords: KwArgs = keywords.into_iter().map(|(key, value)| (key.str(vm).expect("a name").to_string(), value)).collect();
    let Some(slots) = view.bind(&FuncArgs::new(args.as_slice().to_vec(), keywords), vm)? else {
        return Ok(vm.ctx.none());
    };
    let bound = vm.ctx.new_dict();
    for (name, value) in CodeMeta::of(&view.code).slots().into_iter().zip(slots) {
        let value = value.and_then(|value| if value.class().is(vm.ctx.types.cell_type) { cell_contents(&value, vm) } else { Some(value) });
        if let Some(value) = value {
            bound.set_item(name, value, vm)?;
        }
    }
    Ok(bound.into())
}

fn run(program: &'static str) {
    programs::run(program, |vm, program| {
        let natives = [
            ("check", vm.new_function("check", check).into()),
            ("checked", vm.new_function("checked", checked).into()),
            ("bind", vm.new_function("bind", bind).into()),
        ];
        programs::add_module("code_natives", &natives, vm)?;
        program()
    });
}

#[test]
fn the_library_assembles_to_itself() {
    run("code_library");
}

#[test]
fn arguments_are_bound_as_the_vm_binds_them() {
    run("code_binding");
}

/// Code that no compiler makes, and the rule it breaks.
#[test]
fn wrong_code_does_not_pass() {
    use rustpython_vm::bytecode::Opcode::{LoadConst, LoadFast, LoadSmallInt, Nop, PopTop, Resume, ReturnValue};
    let cases: [(&[(_, u32)], _); 6] = [
        (&[(Resume, 0), (LoadSmallInt, 1), (ReturnValue, 0)], None),
        (&[(Resume, 0), (LoadConst, 9), (ReturnValue, 0)], Some("constant 9")),
        (&[(Resume, 0), (LoadFast, 9), (ReturnValue, 0)], Some("slot 9")),
        (&[(Resume, 0), (PopTop, 0), (LoadSmallInt, 1), (ReturnValue, 0)], Some("it takes more")),
        (&[(Resume, 0), (LoadSmallInt, 1), (LoadSmallInt, 1), (ReturnValue, 0)], Some("more than the code declares")),
        (&[(Resume, 0), (Nop, 0)], Some("outside the code")),
    ];
    programs::run("code_binding", move |vm, _program| {
        let code = vm.compile("lambda: None", Mode::Eval, "<wrong>".to_owned()).expect("it compiles");
        let function = vm.run_code_obj(code, vm.new_scope_with_builtins())?.downcast::<PyFunction>().expect("a function");
        let meta = CodeMeta::of(&FunctionView::new(&function, vm)?.code);
        for (instructions, rule) in cases {
            let instructions = instructions.iter().map(|(op, arg)| Instruction::new(*op, *arg)).collect();
            let program = Program { instructions, ..Program::default() };
            let mut assembled = Assembled::new(meta.first_line);
            assembled.append(&program).expect("it assembles");
            let verdict = verify(&assembled.into_code(meta.clone(), 1, vm)).map_err(|error| error.to_string());
            match (rule, verdict) {
                (None, Ok(())) => {}
                (Some(rule), Err(text)) if text.contains(rule) => {}
                (rule, verdict) => panic!("expected {rule:?}, got {verdict:?}"),
            }
        }
        Ok(())
    });
}
