//! The reason table: every way a trace can stop is a row here.

use std::fmt;

/// One reason.
#[derive(Debug)]
pub struct Reason {
    /// Its name, stable, as fixtures and reports write it.
    pub name: &'static str,
    /// One sentence: why tracing can't go on here.
    pub why: &'static str,
    /// One sentence: what the script's author can do.
    pub hint: &'static str,
}

impl PartialEq for &'static Reason {
    fn eq(&self, other: &&'static Reason) -> bool {
        std::ptr::eq(*self, *other)
    }
}

/// A stop with what it met.
#[derive(Clone, Debug)]
pub struct Stop {
    /// The row.
    pub reason: &'static Reason,
    /// What was met: a name, a type, an op.
    pub detail: String,
}

impl Stop {
    /// A stop for a reason of the table.
    pub fn new(reason: &'static Reason, detail: impl Into<String>) -> Stop {
        Stop { reason, detail: detail.into() }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.reason.name, self.reason.why)?;
        if !self.detail.is_empty() {
            write!(f, " ({})", self.detail)?;
        }
        Ok(())
    }
}

macro_rules! reasons {
    ($($constant:ident = $name:literal, $why:literal, $hint:literal;)*) => {
        $(#[doc = $why] pub static $constant: Reason = Reason { name: $name, why: $why, hint: $hint };)*
        /// Every reason, in table order.
        pub static TABLE: &[&Reason] = &[$(&$constant),*];
    };
}

reasons! {
    VISIBLE_EFFECT = "visible-effect", "this call can be seen from outside, so it has to happen in its place",
        "move it out of the compiled function, or accept the break";
    DATA_DEPENDENT = "data-dependent", "the value of a tensor is needed to go on",
        "use torch.where or keep the value in a tensor";
    EXPLICIT = "graph-break", "the script asks for a break here",
        "remove the call of graph_break()";
    DISABLED = "disabled", "the called function is not to be compiled",
        "remove the disable() mark to trace into it";
    OPCODE = "opcode", "this kind of statement is not traced yet",
        "it runs plainly; move it out of the compiled function if it is hot";
    CALL = "call", "this callable is not traced yet",
        "it runs plainly; move it out of the compiled function if it is hot";
    ATTRIBUTE = "attribute", "this attribute access is not traced yet",
        "it runs plainly; read the attribute before the compiled function is called";
    OPERATOR = "operator", "this operator is not traced for these operands yet",
        "it runs plainly; move it out of the compiled function if it is hot";
    ITERATION = "iteration", "an iterator that exists outside the trace advances here",
        "iterate over a list, tuple or range made inside the compiled function to unroll the loop";
    GENERATOR = "generator", "generators are not traced yet",
        "it runs plainly; use a list comprehension";
    RAISES = "raises", "an exception is raised here",
        "an exception that is caught in the same compiled function costs a break";
    OP_ERROR = "op-error", "the op raises for these arguments",
        "it runs plainly and raises with its own message";
    MUTATION = "mutation", "this object can't be written to while tracing",
        "it runs plainly; write to an instance attribute, list or dict instead";
    SUBCLASS = "tensor-subclass", "operations on this tensor subclass are not traced yet",
        "convert to a plain tensor before the compiled function";
    GRADIENT = "gradient", "gradients are not traced yet",
        "run the function under torch.no_grad(), or accept the break";
    IDENTITY = "identity", "the answer depends on the identity of an object made while tracing",
        "compare values instead of using id()";
    BUDGET = "budget", "the trace got too long",
        "a long loop runs turn by turn; vectorise it or raise trace_instructions";
    REBUILD = "rebuild", "a value that lives here can't be rebuilt after a break",
        "it runs plainly up to this place";
    IMPORT = "import", "an import statement runs module code",
        "import at the top of the file";
    RECURSION = "recursion", "calls are nested too deeply to trace",
        "it runs plainly";
}
