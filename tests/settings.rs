//! Settings that decide about compiling, seen from a script.

use taipan::Engine;

/// Runs a script and gives what its function `answer` returns.
fn answer(script: &str) -> Result<String, taipan::Error> {
    let engine = Engine::builder().build()?;
    let script = format!("import torch\n\ndef duck(graph, examples):\n    raise RuntimeError('duck')\n\n{script}");
    engine.load_str("settings", &script)?.function("answer")?.call(())
}

#[test]
fn a_failing_backend_is_an_error_with_its_cause() -> Result<(), taipan::Error> {
    let said = answer(
        "def answer():
    try:
        torch.compile(lambda x: x + 1, backend=duck)(torch.ones(2))
    except torch._dynamo.exc.BackendCompilerFailed as e:
        return f'{e} | {e.__cause__!r}'
",
    )?;
    assert_eq!(said, "backend='duck' raised:\nRuntimeError: duck | RuntimeError('duck')");
    Ok(())
}

#[test]
fn suppressed_errors_of_a_backend_leave_the_call_plain() -> Result<(), taipan::Error> {
    let said = answer(
        "def answer():
    torch._dynamo.config.suppress_errors = True
    return str(torch.compile(lambda x: x + 1, backend=duck)(torch.ones(2)))
",
    )?;
    assert_eq!(said, "tensor([2., 2.])");
    Ok(())
}

#[test]
fn a_recompile_can_be_an_error_that_says_why() -> Result<(), taipan::Error> {
    let said = answer(
        "def double(x):
    return x * 2

def answer():
    compiled = torch.compile(double)
    compiled(torch.ones(2))
    torch._dynamo.config.error_on_recompile = True
    compiled(torch.ones(2))
    try:
        compiled(torch.ones(3))
    except torch._dynamo.exc.RecompileError as e:
        return str(e)
",
    )?;
    assert_eq!(said, "double would be compiled again, and error_on_recompile is set\n  double#1: x.size(0) was 2, is 3");
    Ok(())
}

#[test]
fn stances_decide_what_a_missing_version_means() -> Result<(), taipan::Error> {
    let said = answer(
        "def double(x):
    return x * 2, torch.compiler.is_compiling()

def answer():
    compiled = torch.compile(double)
    said = [compiled(torch.ones(2))[1]]
    with torch.compiler.set_stance('eager_on_recompile'):
        said += [compiled(torch.ones(2))[1], compiled(torch.ones(3))[1]]
    with torch.compiler.set_stance('force_eager'):
        said += [compiled(torch.ones(2))[1]]
    with torch.compiler.set_stance('fail_on_recompile'):
        said += [compiled(torch.ones(2))[1]]
        try:
            compiled(torch.ones(3))
        except RuntimeError as e:
            said += [str(e)]
    return str(said)
",
    )?;
    let text = "double has no version for this call, and the stance is 'fail_on_recompile'\\n  double#1: x.size(0) was 2, is 3";
    assert_eq!(said, format!("[True, True, False, False, True, \"{text}\"]"));
    Ok(())
}
