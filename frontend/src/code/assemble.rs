//! Assembling: instructions by index → code units, line table, exception table.
//!
//! Code is assembled part by part: a bridge appends its own suffix to the body it shares with all other bridges of the
//! same code object, so the offsets of the body are equal in all of them.

use super::{Constant, Instruction, Name, Program, RawCode};
use rustpython_compiler_core::{OneIndexed, SourceLocation, varint};
use rustpython_vm::{
    AsObject, PyObjectRef, PyRef, VirtualMachine,
    builtins::PyCode,
    bytecode::{
        self, CO_FAST_ARG_KW, CO_FAST_ARG_POS, CO_FAST_ARG_VAR, CO_FAST_CELL, CO_FAST_FREE, CO_FAST_HIDDEN, CO_FAST_LOCAL, CodeFlags,
        CodeUnit, CodeUnits, ExceptionTableEntry, OpArgByte,
    },
};

/// What a code object says about itself apart from its instructions.
#[derive(Clone)]
pub struct CodeMeta {
    /// Generator, `*args`, docstring and the like.
    pub flags: CodeFlags,
    /// Positional-only parameters.
    pub positional_only: u32,
    /// Parameters that may be given by position, the positional-only ones included.
    pub positional: u32,
    /// Keyword-only parameters.
    pub keyword_only: u32,
    /// File name as tracebacks show it.
    pub file: Name,
    /// Name of the function.
    pub name: Name,
    /// Dotted name of the function.
    pub qualified_name: Name,
    /// Line of the `def`.
    pub first_line: Option<OneIndexed>,
    /// What LOAD_CONST finds.
    pub constants: Vec<PyObjectRef>,
    /// Names of attributes and globals.
    pub names: Vec<Name>,
    /// Parameters and locals.
    pub variables: Vec<Name>,
    /// Variables captured by inner functions.
    pub cell_variables: Vec<Name>,
    /// Variables captured from outer functions.
    pub free_variables: Vec<Name>,
    /// Slots of `variables` that `locals()` doesn't show.
    pub hidden: Vec<usize>,
}

impl CodeMeta {
    /// Read off an existing code object.
    pub fn of(code: &PyCode) -> Self {
        let raw = &code.code;
        Self {
            flags: raw.flags,
            positional_only: raw.posonlyarg_count,
            positional: raw.arg_count,
            keyword_only: raw.kwonlyarg_count,
            file: code.source_path(),
            name: raw.obj_name,
            qualified_name: raw.qualname,
            first_line: raw.first_line_number,
            constants: raw.constants.iter().map(|c| c.clone().into()).collect(),
            names: raw.names.to_vec(),
            variables: raw.varnames.to_vec(),
            cell_variables: raw.cellvars.to_vec(),
            free_variables: raw.freevars.to_vec(),
            hidden: (0..raw.varnames.len()).filter(|i| raw.localspluskinds.get(*i).is_some_and(|k| k & CO_FAST_HIDDEN != 0)).collect(),
        }
    }

    /// Number of slots that arguments are bound to, `*args` and `**kwargs` included.
    pub fn parameters(&self) -> usize {
        (self.positional + self.keyword_only) as usize
            + usize::from(self.flags.contains(CodeFlags::VARARGS))
            + usize::from(self.flags.contains(CodeFlags::VARKEYWORDS))
    }

    /// Names of all slots: variables, cells that are not variables, free variables.
    pub fn slots(&self) -> Vec<Name> {
        let own_cells = self.cell_variables.iter().filter(|name| position(&self.variables, name).is_none());
        let mut slots = self.variables.clone();
        slots.extend(own_cells);
        slots.extend(&self.free_variables);
        slots
    }

    fn slot_kinds(&self) -> Box<[u8]> {
        let groups = [
            (self.positional_only, CO_FAST_ARG_POS),
            (self.positional - self.positional_only, CO_FAST_ARG_POS | CO_FAST_ARG_KW),
            (self.keyword_only, CO_FAST_ARG_KW),
            (self.flags.contains(CodeFlags::VARARGS).into(), CO_FAST_ARG_VAR | CO_FAST_ARG_POS),
            (self.flags.contains(CodeFlags::VARKEYWORDS).into(), CO_FAST_ARG_VAR | CO_FAST_ARG_KW),
        ];
        let mut kinds = Vec::new();
        for (count, kind) in groups {
            kinds.extend((0..count).map(|_| CO_FAST_LOCAL | kind));
        }
        kinds.resize(self.variables.len(), CO_FAST_LOCAL);
        for slot in &self.hidden {
            kinds[*slot] |= CO_FAST_HIDDEN;
        }
        for cell in &self.cell_variables {
            match position(&self.variables, cell) {
                Some(slot) => kinds[slot] |= CO_FAST_CELL,
                None => kinds.push(CO_FAST_CELL),
            }
        }
        kinds.extend(self.free_variables.iter().map(|_| CO_FAST_FREE));
        kinds.into_boxed_slice()
    }
}

fn position(names: &[Name], name: &Name) -> Option<usize> {
    names.iter().position(|n| n.as_object().is(name.as_object()))
}

/// Code units of the parts assembled so far, with their tables.
#[derive(Clone)]
pub struct Assembled {
    units: Vec<CodeUnit>,
    /// Unit offset of each instruction, and of the end.
    offsets: Vec<usize>,
    /// One for each unit: what tracebacks read.
    locations: Vec<(SourceLocation, SourceLocation)>,
    /// The same in the compressed form that `co_positions` reads.
    line_table: Vec<u8>,
    exceptions: Vec<ExceptionTableEntry>,
    /// Stands in for instructions without location.
    first_line: Option<OneIndexed>,
    /// Line that the next line table entry counts from.
    line: i32,
}

/// A jump in the direction its opcode can't go, or a target outside the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("instruction {instruction} jumps to {target}, where it can't")]
pub struct AssembleError {
    instruction: usize,
    target: usize,
}

impl Assembled {
    /// No code yet.
    pub fn new(first_line: Option<OneIndexed>) -> Self {
        Self {
            units: Vec::new(),
            offsets: vec![0],
            locations: Vec::new(),
            line_table: Vec::new(),
            exceptions: Vec::new(),
            first_line,
            line: first_line.map_or(0, |line| line.get() as i32),
        }
    }

    /// Number of instructions so far.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no instruction yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Unit offset of an instruction: the number that `lasti` values on the stack count in.
    pub fn offset(&self, instruction: usize) -> usize {
        self.offsets[instruction]
    }

    /// Appends `part`, whose targets and exception ranges count instructions of the whole code; they may point into
    /// earlier parts, into this one, and to its end.
    pub fn append(&mut self, part: &Program) -> Result<(), AssembleError> {
        let base = self.len();
        let widths = self.place(part)?;
        for (index, instruction) in part.instructions.iter().enumerate() {
            let operand = self.operand(instruction, base + index)?;
            for byte in (1..=widths[index]).rev() {
                self.units.push(CodeUnit::new(bytecode::Instruction::ExtendedArg, OpArgByte::new((operand >> (8 * byte)) as u8)));
            }
            self.units.push(CodeUnit::new(instruction.op.into(), OpArgByte::new(operand as u8)));
            for _ in 0..instruction.op.cache_entries() {
                self.units.push(CodeUnit::new(bytecode::Instruction::Cache, OpArgByte::new(0)));
            }
        }
        self.append_locations(part, base);
        let ranges = part.exceptions.iter().filter(|range| range.start < range.end);
        self.exceptions.extend(ranges.map(|range| {
            ExceptionTableEntry::new(
                self.offsets[range.start] as u32,
                self.offsets[range.end] as u32,
                self.offsets[range.target] as u32,
                range.depth,
                range.push_lasti,
            )
        }));
        Ok(())
    }

    /// The finished code object; `stack_depth` is the largest stack of all its parts.
    pub fn into_code(self, meta: CodeMeta, stack_depth: u32, vm: &VirtualMachine) -> PyRef<PyCode> {
        let code = RawCode {
            instructions: CodeUnits::from(self.units),
            locations: self.locations.into(),
            linetable: self.line_table.into(),
            exceptiontable: bytecode::encode_exception_table(&self.exceptions),
            max_stackdepth: stack_depth.max(1),
            localspluskinds: meta.slot_kinds(),
            flags: meta.flags,
            posonlyarg_count: meta.positional_only,
            arg_count: meta.positional,
            kwonlyarg_count: meta.keyword_only,
            source_path: meta.file,
            first_line_number: meta.first_line,
            obj_name: meta.name,
            qualname: meta.qualified_name,
            constants: meta.constants.into_iter().map(Constant::from).collect(),
            names: meta.names.into(),
            varnames: meta.variables.into(),
            cellvars: meta.cell_variables.into(),
            freevars: meta.free_variables.into(),
        };
        let code = PyCode::new_ref_with_bag(vm, code);
        super::keep_in_place(&code);
        code
    }

    /// Appends the offsets of `part`; answers the number of EXTENDED_ARG units of each of its instructions.
    fn place(&mut self, part: &Program) -> Result<Vec<usize>, AssembleError> {
        let base = self.len();
        let mut widths: Vec<usize> = part.instructions.iter().map(|i| if i.target.is_some() { 0 } else { width(i.arg) }).collect();
        loop {
            self.offsets.truncate(base + 1);
            for (instruction, width) in part.instructions.iter().zip(&widths) {
                let last = self.offsets[self.offsets.len() - 1];
                self.offsets.push(last + width + 1 + instruction.op.cache_entries());
            }
            // A jump never shrinks again, so this ends.
            let mut grown = false;
            for (index, instruction) in part.instructions.iter().enumerate() {
                let needed = width(self.operand(instruction, base + index)?);
                if needed > widths[index] {
                    widths[index] = needed;
                    grown = true;
                }
            }
            if !grown {
                return Ok(widths);
            }
        }
    }

    /// The operand of the instruction at `index` of the whole code: jumps count from behind their caches.
    fn operand(&self, instruction: &Instruction, index: usize) -> Result<u32, AssembleError> {
        let Some(target) = instruction.target else {
            return Ok(instruction.arg);
        };
        let next = self.offsets[index + 1];
        let distance = self
            .offsets
            .get(target)
            .and_then(|offset| if instruction.is_backward() { next.checked_sub(*offset) } else { offset.checked_sub(next) });
        distance.map(|d| d as u32).ok_or(AssembleError { instruction: index, target })
    }

    fn append_locations(&mut self, part: &Program, base: usize) {
        let start = SourceLocation { line: self.first_line.unwrap_or(OneIndexed::MIN), character_offset: OneIndexed::MIN };
        let mut index = 0;
        while index < part.instructions.len() {
            let location = part.instructions[index].location;
            let same = part.instructions[index..].iter().take_while(|i| i.location == location).count();
            let units = self.offsets[base + index + same] - self.offsets[base + index];
            self.locations.extend((0..units).map(|_| location.unwrap_or((start, start))));
            self.append_line_entries(units, location);
            index += same;
        }
    }

    /// Line table entries cover at most eight units each.
    fn append_line_entries(&mut self, mut units: usize, location: super::Location) {
        const NO_LOCATION: u8 = 15;
        const LONG_FORM: u8 = 14;
        while units > 0 {
            let length = units.min(8);
            let head = |kind: u8| 0x80 | (kind << 3) | (length as u8 - 1);
            match location {
                None => self.line_table.push(head(NO_LOCATION)),
                Some((start, end)) => {
                    let line = start.line.get() as i32;
                    let table = &mut self.line_table;
                    table.push(head(LONG_FORM));
                    varint::write_signed_varint(table, line - self.line);
                    varint::write_varint(table, (end.line.get() as i32 - line).max(0) as u32);
                    for column in [start.character_offset, end.character_offset] {
                        varint::write_varint(table, column.to_zero_indexed() as u32 + 1);
                    }
                    self.line = line;
                }
            }
            units -= length;
        }
    }
}

/// EXTENDED_ARG units that an operand needs.
fn width(operand: u32) -> usize {
    match operand {
        0..=0xff => 0,
        0x100..=0xffff => 1,
        0x1_0000..=0xff_ffff => 2,
        _ => 3,
    }
}
