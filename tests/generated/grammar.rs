//! What generated programs are made of: forms of statements and expressions, as data.

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// A tensor.
    Tensor,
    /// An integer.
    Int,
    /// A list.
    List,
    /// A dict.
    Dict,
}

impl Sort {
    /// The sort a place in a form names.
    pub fn named(name: &str) -> Sort {
        match name {
            "tensor" => Sort::Tensor,
            "int" => Sort::Int,
            "list" => Sort::List,
            "dict" => Sort::Dict,
            other => panic!("no sort is called {other}"),
        }
    }

    /// How new names of the sort begin.
    pub fn letter(self) -> char {
        match self {
            Sort::Tensor => 't',
            Sort::Int => 'n',
            Sort::List => 'a',
            Sort::Dict => 'm',
        }
    }
}

/// A form of a statement.
pub struct Form {
    /// Its lines; each has a block where they end with a colon.
    pub heads: &'static [&'static str],
}

impl Form {
    /// Whether blocks stand below its lines.
    pub fn has_block(&self) -> bool {
        self.heads[0].ends_with(':')
    }
}

/// A kind of programs.
pub struct Grammar {
    /// The function's header and first lines.
    pub prelude: &'static str,
    /// The names it starts with.
    pub arguments: &'static [(Sort, &'static [&'static str])],
    /// Least number of statements, and the number they stay below.
    pub statements: (usize, usize),
    /// Statements.
    pub forms: &'static [Form],
    /// Expressions: name of the place, how many forms at the start need no deeper ones, forms.
    pub expressions: &'static [(&'static str, usize, &'static [&'static str])],
}

/// A form with these lines.
pub const fn form(heads: &'static [&'static str]) -> Form {
    Form { heads }
}

/// Programs of all that Python has: control flow, containers, closures, objects, exceptions, breaks.
pub static PROGRAMS: Grammar = Grammar {
    prelude: "\
@functools.lru_cache(maxsize=2)
def remembered(n, k=1):
    return [n * k]
part = functools.partial(helper, 2, m=3)
NUMBERS = {1, 2}
def program(x, y, i, j, l, d, o, flag):
    global COUNT
    total = 0
    def add(v, *rest, twice=False):
        nonlocal total
        total += v + sum(rest) + (v if twice else 0)
        return total
    def numbers(n):
        for k in range(n):
            yield k
            add(k)
",
    arguments: &[(Sort::Tensor, &["x", "y"]), (Sort::Int, &["i", "j"]), (Sort::List, &["l"]), (Sort::Dict, &["d"])],
    statements: (4, 12),
    forms: STATEMENTS,
    expressions: &[
        ("int", 3, INTS),
        ("digit", 5, &["-2", "0", "1", "2", "3"]),
        ("bool", 2, BOOLS),
        ("tensor", 3, TENSORS),
        ("dim", 2, &["0", "-1"]),
    ],
};

static STATEMENTS: &[Form] = &[
    form(&["{=tensor} = {tensor}"]),
    form(&["{=tensor} = {tensor}"]),
    form(&["{=tensor} = {tensor}"]),
    form(&["{=int} = {int}"]),
    form(&["{=int}, {=tensor} = {int}, {tensor}"]),
    form(&["{=list} = [{int} for w in range(3) if w != {int}]"]),
    form(&["{=list} = [*{LIST}, {int}, {tensor}]"]),
    form(&["{=list} = sorted({int} for w in numbers(2))"]),
    form(&["{=dict} = {{w: w * {int} for w in range(2)}}"]),
    form(&["{=dict} = dict({DICT}, k={int})"]),
    form(&["{=tensor} = {TENSOR}[0:1]"]),
    form(&["{=tensor} = {TENSOR}.view(-1)[1:]"]),
    form(&["{=tensor} = {TENSOR}.t()"]),
    form(&["{=tensor} = {TENSOR}.detach()"]),
    form(&["{INT} += {int}"]),
    form(&["{INT} -= {int}"]),
    form(&["{TENSOR} += {int}"]),
    form(&["{TENSOR} *= 0.5"]),
    form(&["{TENSOR}.add_({tensor})"]),
    form(&["{TENSOR}.zero_()"]),
    form(&["{TENSOR}[0] = {int}"]),
    form(&["{TENSOR}[..., 1:] = {tensor}"]),
    form(&["{LIST}.append({int})"]),
    form(&["{LIST}.append({tensor})"]),
    form(&["{LIST}[{dim}] = {int}"]),
    form(&["{LIST}.pop()"]),
    form(&["del {LIST}[:1]"]),
    form(&["{DICT}[{int}] = {int}"]),
    form(&["{DICT}['k'] = {tensor}"]),
    form(&["{DICT}.setdefault('s', []).append({int})"]),
    form(&["{DICT}.pop({int}, None)"]),
    form(&["{DICT}.update(z={int})"]),
    form(&["o.n = {int}"]),
    form(&["o.extra = {tensor}"]),
    form(&["o.items.append({int})"]),
    form(&["o.t.mul_(2)"]),
    form(&["del o.items"]),
    form(&["setattr(o, 'n', {int})"]),
    form(&["COUNT += {int}"]),
    form(&["TABLE['made'] = {int}"]),
    form(&["add({int}, twice={bool})"]),
    form(&["remembered({digit}).append({int})"]),
    form(&["remembered.cache_clear()"]),
    form(&["NUMBERS.add({int})"]),
    form(&["{=int}, {=int} = numbers(i)"]),
    form(&["{LIST}.append(f'{{{int}}}:{{COUNT:>3}}')"]),
    form(&["print(i, {int})"]),
    form(&["print({tensor})"]),
    form(&["torch._dynamo.graph_break()"]),
    form(&["i = int({tensor}.sum().item()) % 5"]),
    form(&["assert {bool}, f'not so {{i}}'"]),
    form(&["for w in numbers(3): {LIST}.append(w + {int})"]),
    form(&["if {bool}: return {tensor}, {int}, total"]),
    form(&["if {bool}: raise ValueError(f'value {{i}}')"]),
    form(&["if {bool}:"]),
    form(&["if {bool}:", "else:"]),
    form(&["if {bool}:", "elif {bool}:", "else:"]),
    form(&["for {=int} in range(3):"]),
    form(&["for {=int} in (1, 2):", "else:"]),
    form(&["for {=int} in range(i % 4):"]),
    form(&["for {=int}, {=tensor} in enumerate([{tensor}, {tensor}]):"]),
    form(&["for {=int} in numbers({digit}):"]),
    form(&["while o.tick():"]),
    form(&["try:", "except ValueError as error:"]),
    form(&["try:", "except (KeyError, IndexError) as error:", "else:"]),
    form(&["try:", "except Exception as error:", "finally:"]),
    form(&["try:", "finally:"]),
    form(&["with torch.no_grad():"]),
    form(&["with o.held() as {=int}:"]),
    form(&["match {DICT}:\n    case {{'k': _, **others}}: add(len(others))\n    case {{1: other}}: {LIST}.append(other)"]),
    form(&["match {int}:\n    case 0: {INT} = 7\n    case 1 | 2 if {bool}: add(1)\n    case other: {LIST}.append(other)"]),
];

static INTS: &[&str] = &[
    "{INT}",
    "{INT}",
    "{digit}",
    "({int} + {int})",
    "({int} - {int})",
    "({int} * {int})",
    "({int} // {digit})",
    "({int} % 3)",
    "len({LIST})",
    "len({DICT})",
    "{tensor}.shape[{dim}]",
    "{tensor}.dim()",
    "{tensor}.stride({dim})",
    "sum(v for v in {LIST} if isinstance(v, int))",
    "o.n",
    "o.double",
    "o.bump({int})",
    "o.bump(k={int})",
    "o.scale",
    "getattr(o, 'missing', {int})",
    "({int} if {bool} else {int})",
    "max({int}, {int})",
    "number({DICT}.get({int}, {int}))",
    "number({DICT}['k'])",
    "number({LIST}[{int}])",
    "COUNT",
    "TABLE['a']",
    "helper({int}, m=2)",
    "helper({int}, *[1, {int}])",
    "add({int})",
    "sum(numbers({digit}))",
    "next(numbers(2))",
    "(lambda q, k={int}: q * k)({int})",
    "int({bool})",
    "remembered({int})[0]",
    "remembered({digit}, k=2)[-1]",
    "part({int}, m=1)",
    "len({{{int}, {int}}})",
];

static BOOLS: &[&str] = &[
    "flag",
    "{INT} > 1",
    "{int} < {int}",
    "{int} == {int}",
    "{int} != {int}",
    "{int} in {LIST}",
    "{int} in NUMBERS",
    "{int} in {DICT}",
    "'k' in {DICT}",
    "not {bool}",
    "({bool} and {bool})",
    "({bool} or {bool})",
    "{LIST}",
    "flag is None",
    "{TENSOR} is {TENSOR}",
    "{TENSOR}.requires_grad",
    "{TENSOR}.is_contiguous()",
    "{TENSOR}.dtype == torch.float32",
    "{tensor}.dtype.is_floating_point",
    "{TENSOR}.shape == {TENSOR}.shape",
    "isinstance(o, Bigger)",
    "hasattr(o, 'extra')",
    "type({int}) is int",
    "torch.is_grad_enabled()",
    "all(v is not None for v in {LIST})",
    "({tensor}.sum() > {int})",
];

static TENSORS: &[&str] = &[
    "{TENSOR}",
    "{TENSOR}",
    "{TENSOR}",
    "({tensor} + {tensor})",
    "({tensor} - {tensor})",
    "({tensor} * {tensor})",
    "({tensor} * {int})",
    "({tensor} / 2)",
    "torch.relu({tensor})",
    "torch.tanh({tensor})",
    "torch.neg({tensor})",
    "{tensor}.abs()",
    "{tensor}.sum(0, keepdim=True)",
    "{tensor}.sum({dim}, keepdim=True)",
    "{tensor}.max({dim}).values",
    "{tensor}.t()",
    "{tensor}.contiguous()",
    "{tensor}.clone()",
    "{tensor}.double()",
    "{tensor}.to(y.dtype)",
    "{tensor}.view(-1)[:3]",
    "{tensor}.reshape(3, -1)",
    "o.t",
    "o({tensor})",
    "torch.where({tensor} > 0, {tensor}, {tensor})",
    "torch.cat([{tensor}.reshape(-1), {tensor}.reshape(-1)])[:6].view(2, 3)",
    "torch.stack([{tensor}, {tensor}]).sum(0)",
    "{tensor}.expand(2, 3)",
    "({tensor} if {bool} else {tensor})",
    "torch.zeros_like({tensor})",
    "torch.full((2, 3), float({int}))",
    "(lambda q, k={int}: q * k)({tensor})",
    "torch.rand(2, 3)",
];
