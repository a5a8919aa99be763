//! The `taipan` program: runs scripts, explains what was compiled, lists the ops.

use clap::{Args, Parser, Subcommand};
use std::{
    env,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
};
use taipan::{Engine, EngineBuilder, Error, Event, Policy, explain::explain};

/// Runs PyTorch-style Python with a tracing JIT; no Python and no PyTorch needed.
#[derive(Parser)]
#[command(name = "taipan", version, after_help = EXAMPLES)]
struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a script as Python would: its output, its exit code, its traceback.
    #[command(after_help = RUN_HELP)]
    Run(Script),
    /// Run a script, then show each compiled function: graphs, guards, breaks, recompiles.
    #[command(after_help = EXPLAIN_HELP)]
    Explain(Script),
    /// List the ops: how they execute, whether they are differentiable, element types, signature.
    Ops {
        /// Print the documentation page, in Markdown.
        #[arg(long)]
        markdown: bool,
        /// Only ops whose name contains this.
        name: Option<String>,
    },
}

#[derive(Args)]
struct Script {
    /// Search this folder for imports (repeat for more; TAIPAN_PATH names others, searched behind).
    #[arg(long, value_name = "DIR")]
    path: Vec<PathBuf>,
    /// Let the script touch nothing but Python files beside it.
    #[arg(long)]
    sandbox: bool,
    /// Let a sandboxed script read what lies in this folder.
    #[arg(long, value_name = "DIR", requires = "sandbox")]
    allow_read: Vec<PathBuf>,
    /// Let a sandboxed script write what lies in this folder.
    #[arg(long, value_name = "DIR", requires = "sandbox")]
    allow_write: Vec<PathBuf>,
    /// Let a sandboxed script see this environment variable.
    #[arg(long, value_name = "NAME", requires = "sandbox")]
    allow_env: Vec<String>,
    /// Backend of torch.compile where the script names none.
    #[arg(long, value_name = "NAME")]
    backend: Option<String>,
    /// The script.
    script: PathBuf,
    /// Arguments for the script, from `sys.argv[1]` on.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    arguments: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  taipan run train.py --steps 3         run a script with arguments of its own
  taipan explain model.py               see what torch.compile made of it
  taipan run --sandbox untrusted.py     no files, no environment
  taipan ops softmax                    which ops there are
  taipan ops --markdown > ops.md        their documentation page

Settings come from variables named TAIPAN_…, for one TAIPAN_VERIFY=1 (every verifier on).
Exit codes: the script's own, 1 after an uncaught exception, 2 for a wrong command line or a missing file.";

const RUN_HELP: &str = "\
Examples:
  taipan run model.py
  taipan run --path ../lib model.py --steps 3
  taipan run --sandbox --allow-read data model.py";

const EXPLAIN_HELP: &str = "\
Examples:
  taipan explain model.py
  taipan explain model.py > story.txt   the script's own output comes first";

/// A wrong command line or a file that isn't there.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    match Options::parse().command {
        Command::Run(script) => script.run(script.engine()),
        Command::Explain(script) => script.explain(),
        Command::Ops { markdown, name } => list_ops(name.as_deref().unwrap_or_default(), markdown),
    }
}

impl Script {
    fn engine(&self) -> EngineBuilder {
        let mut policy = if self.sandbox { Policy::nothing() } else { Policy::user() };
        for folder in &self.allow_read {
            policy = policy.allow_read(folder);
        }
        for folder in &self.allow_write {
            policy = policy.allow_write(folder);
        }
        for name in &self.allow_env {
            policy = policy.allow_env(name);
        }
        let listed = env::var_os("TAIPAN_PATH").unwrap_or_default();
        let listed = env::split_paths(&listed).filter(|folder| !folder.as_os_str().is_empty());
        for folder in self.path.iter().cloned().chain(listed) {
            policy = policy.allow_import(folder);
        }
        let engine = Engine::builder().policy(policy);
        match &self.backend {
            Some(name) => engine.backend(name),
            None => engine,
        }
    }

    /// Runs the script; its exit code is the program's.
    fn run(&self, engine: EngineBuilder) -> ExitCode {
        match engine.build().and_then(|engine| engine.run_script(&self.script, &self.arguments)) {
            Ok(code) => exit_code(code),
            Err(error) => complain(&error),
        }
    }

    fn explain(&self) -> ExitCode {
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let seen = Arc::clone(&events);
        let observer = move |event: &Event| seen.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
        let engine = match self.engine().observer(observer).setting("keep_versions", "true").build() {
            Ok(engine) => engine,
            Err(error) => return complain(&error),
        };
        let code = match engine.run_script(&self.script, &self.arguments) {
            Ok(code) => exit_code(code),
            Err(error @ Error::File { .. }) => return complain(&error),
            // What was compiled until then may explain the exception.
            Err(error) => complain(&error),
        };
        match engine.versions() {
            Ok(versions) => {
                let events = events.lock().unwrap_or_else(PoisonError::into_inner);
                show(&format!("\n{}", explain(&events, &versions)));
                code
            }
            Err(error) => complain(&error),
        }
    }
}

fn list_ops(name: &str, markdown: bool) -> ExitCode {
    let ops: Vec<_> = taipan::ops().into_iter().filter(|op| op.schema.split('(').next().is_some_and(|base| base.contains(name))).collect();
    let mut text = String::new();
    if markdown {
        text = taipan::ops_markdown(&ops);
    } else {
        let width = ops.iter().map(|op| op.executes.len()).max().unwrap_or(0);
        let types = ops.iter().map(|op| op.dtypes_text().len()).max().unwrap_or(0);
        for op in &ops {
            let differentiable = if op.differentiable { "differentiable" } else { "              " };
            text.push_str(&format!("{:width$}  {differentiable}  {:types$}  {}\n", op.executes, op.dtypes_text(), op.schema));
        }
    }
    show(&text);
    if ops.is_empty() {
        eprintln!("taipan: no op's name contains '{name}'");
        return ExitCode::from(1);
    }
    ExitCode::SUCCESS
}

/// Prints to standard output. A reader that has gone, `head` for one, is no error.
fn show(text: &str) {
    let _ = io::stdout().lock().write_all(text.as_bytes());
}

/// Shows an error: a script's exception as Python does, anything else behind the program's name.
fn complain(error: &Error) -> ExitCode {
    match error {
        Error::Script(exception) => eprint!("{}", exception.traceback),
        error => eprintln!("taipan: {error}"),
    }
    match error {
        Error::File { .. } | Error::Setting(_) => ExitCode::from(USAGE),
        _ => ExitCode::FAILURE,
    }
}

/// A script's exit code as the system has it: its lowest eight bits.
fn exit_code(code: i32) -> ExitCode {
    ExitCode::from((code & 0xff) as u8)
}
