//! One instruction: an exhaustive match over the VM's base opcodes. Every arm is one call; handlers stand in the files named by
//! what they are about.

use crate::{
    frame::Then,
    recorder::{Recorder, Traced, Unwind, stop},
    stop,
    value::{Kind, Value},
};
use std::rc::Rc;
use taipan_frontend::code::{Instruction, Opcode};

/// Where tracing goes behind an instruction.
#[derive(Debug)]
pub enum Flow {
    /// To the next instruction.
    Next,
    /// To the instruction with this index.
    Jump(usize),
    /// Into a frame that has been pushed.
    Entered,
    /// Out of the innermost frame, with the value on top of its stack.
    Return,
    /// Out of a generator's frame, which is put away already, with a value for whoever asked.
    Yield(Then, Value),
}

/// What a call or protocol came to.
#[derive(Debug)]
pub enum Done {
    /// A value.
    Value(Value),
    /// A frame was pushed; its result goes where its [`Then`] says.
    Entered,
}

impl Recorder<'_> {
    /// Runs the instruction at the innermost frame's `pc`.
    pub fn step(&mut self, instruction: &Instruction) -> Traced<Flow> {
        let arg = instruction.arg;
        let index = arg as usize;
        match instruction.op {
            Opcode::Nop | Opcode::NotTaken | Opcode::Resume | Opcode::Cache | Opcode::ExtendedArg | Opcode::EndFor => {
                self.nothing(instruction.op)
            }
            // Stack.
            Opcode::PopTop | Opcode::PopIter => self.pop_top(),
            Opcode::PushNull => self.push_null(),
            Opcode::Copy => self.copy(index),
            Opcode::Swap => self.swap(index),
            // Constants and names.
            Opcode::LoadConst => self.load_const(index),
            Opcode::LoadSmallInt => self.push(Value::int(i64::from(arg))),
            Opcode::LoadCommonConstant => self.load_common_constant(index),
            Opcode::LoadFast | Opcode::LoadFastBorrow | Opcode::LoadFastCheck => self.load_fast(index),
            Opcode::LoadFastAndClear => self.load_fast_and_clear(index),
            Opcode::StoreFast => self.store_fast(index),
            Opcode::DeleteFast => self.delete_fast(index),
            Opcode::LoadGlobal => self.load_global(index),
            Opcode::StoreGlobal => self.store_global(index),
            Opcode::DeleteGlobal => self.delete_global(index),
            Opcode::LoadDeref => self.load_deref(index),
            Opcode::StoreDeref => self.store_deref(index),
            Opcode::DeleteDeref => self.delete_deref(index),
            Opcode::MakeCell => self.make_cell(index),
            Opcode::CopyFreeVars => Ok(Flow::Next),
            // Attributes and items.
            Opcode::LoadAttr => self.load_attr(index),
            Opcode::StoreAttr => self.store_attr(index),
            Opcode::DeleteAttr => self.delete_attr(index),
            Opcode::LoadSuperAttr => self.load_super_attr(index),
            Opcode::LoadSpecial => self.load_special(index),
            Opcode::StoreSubscr => self.store_subscr(),
            Opcode::DeleteSubscr => self.delete_subscr(),
            Opcode::BinarySlice => self.binary_slice(),
            Opcode::StoreSlice => self.store_slice(),
            // Operators.
            Opcode::BinaryOp => self.binary_op(index),
            Opcode::CompareOp => self.compare_op(index),
            Opcode::ContainsOp => self.contains_op(index),
            Opcode::IsOp => self.is_op(index),
            Opcode::UnaryNegative => self.unary("__neg__"),
            Opcode::UnaryInvert => self.unary("__invert__"),
            Opcode::UnaryNot => self.unary_not(),
            Opcode::ToBool => self.push_truth(),
            // Containers.
            Opcode::BuildTuple => self.build_tuple(index),
            Opcode::BuildList => self.build_list(index),
            Opcode::BuildMap => self.build_map(index),
            Opcode::BuildSet => self.build_set(index),
            Opcode::BuildSlice => self.build_slice(index),
            Opcode::BuildString => self.build_string(index),
            Opcode::ListAppend => self.list_append(index),
            Opcode::ListExtend => self.list_extend(index),
            Opcode::SetAdd => self.set_add(index),
            Opcode::SetUpdate => self.set_update(index),
            Opcode::MapAdd => self.map_add(index),
            Opcode::DictUpdate => self.dict_update(index, false),
            Opcode::DictMerge => self.dict_update(index, true),
            Opcode::UnpackSequence => self.unpack_sequence(index),
            Opcode::UnpackEx => self.unpack_ex(arg),
            Opcode::FormatSimple => self.format_simple(),
            Opcode::FormatWithSpec => self.format_with_spec(),
            Opcode::ConvertValue => self.convert_value(arg),
            Opcode::GetLen => self.get_len(),
            Opcode::MatchSequence => self.match_sequence(),
            Opcode::MatchMapping => self.match_mapping(),
            Opcode::MatchKeys => self.match_keys(),
            // Control.
            Opcode::JumpForward | Opcode::JumpBackward | Opcode::JumpBackwardNoInterrupt => jump(instruction),
            Opcode::PopJumpIfTrue => self.pop_jump_if(true, instruction),
            Opcode::PopJumpIfFalse => self.pop_jump_if(false, instruction),
            Opcode::PopJumpIfNone => self.pop_jump_if_none(true, instruction),
            Opcode::PopJumpIfNotNone => self.pop_jump_if_none(false, instruction),
            Opcode::GetIter => self.get_iter(),
            Opcode::ForIter => self.for_iter(instruction),
            Opcode::ReturnValue => Ok(Flow::Return),
            Opcode::YieldValue => self.yield_value(),
            Opcode::Send => self.send(instruction),
            Opcode::EndSend => self.end_send(),
            Opcode::GetYieldFromIter => self.get_iter(),
            Opcode::ReturnGenerator => self.push(Value::NONE),
            // Calls and functions.
            Opcode::Call => self.call_op(index),
            Opcode::CallKw => self.call_kw(index),
            Opcode::CallFunctionEx => self.call_function_ex(),
            Opcode::CallIntrinsic1 => self.call_intrinsic(arg),
            Opcode::MakeFunction => self.make_function(),
            Opcode::SetFunctionAttribute => self.set_function_attribute(arg),
            Opcode::ImportName => self.import_name(index),
            Opcode::ImportFrom => self.import_from(index),
            // Exceptions.
            Opcode::RaiseVarargs => self.raise_varargs(arg),
            Opcode::Reraise => self.reraise(),
            Opcode::PushExcInfo => self.push_exc_info(),
            Opcode::PopExcept => self.pop_except(),
            Opcode::CheckExcMatch => self.check_exc_match(),
            Opcode::WithExceptStart => self.with_except_start(),
            // Not modelled: each is one plain instruction between two regions.
            Opcode::BuildInterpolation
            | Opcode::BuildTemplate
            | Opcode::CallIntrinsic2
            | Opcode::CheckEgMatch
            | Opcode::CleanupThrow
            | Opcode::DeleteName
            | Opcode::EndAsyncFor
            | Opcode::ExitInitCheck
            | Opcode::GetAiter
            | Opcode::GetAnext
            | Opcode::GetAwaitable
            | Opcode::InterpreterExit
            | Opcode::LoadBuildClass
            | Opcode::LoadFromDictOrDeref
            | Opcode::LoadFromDictOrGlobals
            | Opcode::LoadLocals
            | Opcode::LoadName
            | Opcode::MatchClass
            | Opcode::Reserved
            | Opcode::SetupAnnotations
            | Opcode::StoreName => not_modelled(instruction.op),
            // Decoding gives base opcodes and splits super-instructions.
            Opcode::LoadFastBorrowLoadFastBorrow
            | Opcode::LoadFastLoadFast
            | Opcode::StoreFastLoadFast
            | Opcode::StoreFastStoreFast
            | Opcode::BinaryOpInplaceAddUnicode
            | Opcode::BinaryOpAddFloat
            | Opcode::BinaryOpAddInt
            | Opcode::BinaryOpAddUnicode
            | Opcode::BinaryOpExtend
            | Opcode::BinaryOpMultiplyFloat
            | Opcode::BinaryOpMultiplyInt
            | Opcode::BinaryOpSubscrDict
            | Opcode::BinaryOpSubscrGetitem
            | Opcode::BinaryOpSubscrListInt
            | Opcode::BinaryOpSubscrListSlice
            | Opcode::BinaryOpSubscrStrInt
            | Opcode::BinaryOpSubscrTupleInt
            | Opcode::BinaryOpSubtractFloat
            | Opcode::BinaryOpSubtractInt
            | Opcode::CallAllocAndEnterInit
            | Opcode::CallBoundMethodExactArgs
            | Opcode::CallBoundMethodGeneral
            | Opcode::CallBuiltinClass
            | Opcode::CallBuiltinFast
            | Opcode::CallBuiltinFastWithKeywords
            | Opcode::CallBuiltinO
            | Opcode::CallIsinstance
            | Opcode::CallKwBoundMethod
            | Opcode::CallKwNonPy
            | Opcode::CallKwPy
            | Opcode::CallLen
            | Opcode::CallListAppend
            | Opcode::CallMethodDescriptorFast
            | Opcode::CallMethodDescriptorFastWithKeywords
            | Opcode::CallMethodDescriptorNoargs
            | Opcode::CallMethodDescriptorO
            | Opcode::CallNonPyGeneral
            | Opcode::CallPyExactArgs
            | Opcode::CallPyGeneral
            | Opcode::CallStr1
            | Opcode::CallTuple1
            | Opcode::CallType1
            | Opcode::CompareOpFloat
            | Opcode::CompareOpInt
            | Opcode::CompareOpStr
            | Opcode::ContainsOpDict
            | Opcode::ContainsOpSet
            | Opcode::ForIterGen
            | Opcode::ForIterList
            | Opcode::ForIterRange
            | Opcode::ForIterTuple
            | Opcode::JumpBackwardJit
            | Opcode::JumpBackwardNoJit
            | Opcode::LoadAttrClass
            | Opcode::LoadAttrClassWithMetaclassCheck
            | Opcode::LoadAttrGetattributeOverridden
            | Opcode::LoadAttrInstanceValue
            | Opcode::LoadAttrMethodLazyDict
            | Opcode::LoadAttrMethodNoDict
            | Opcode::LoadAttrMethodWithValues
            | Opcode::LoadAttrModule
            | Opcode::LoadAttrNondescriptorNoDict
            | Opcode::LoadAttrNondescriptorWithValues
            | Opcode::LoadAttrProperty
            | Opcode::LoadAttrSlot
            | Opcode::LoadAttrWithHint
            | Opcode::LoadConstImmortal
            | Opcode::LoadConstMortal
            | Opcode::LoadGlobalBuiltin
            | Opcode::LoadGlobalModule
            | Opcode::LoadSuperAttrAttr
            | Opcode::LoadSuperAttrMethod
            | Opcode::ResumeCheck
            | Opcode::SendGen
            | Opcode::StoreAttrInstanceValue
            | Opcode::StoreAttrSlot
            | Opcode::StoreAttrWithHint
            | Opcode::StoreSubscrDict
            | Opcode::StoreSubscrListInt
            | Opcode::ToBoolAlwaysTrue
            | Opcode::ToBoolBool
            | Opcode::ToBoolInt
            | Opcode::ToBoolList
            | Opcode::ToBoolNone
            | Opcode::ToBoolStr
            | Opcode::UnpackSequenceList
            | Opcode::UnpackSequenceTuple
            | Opcode::UnpackSequenceTwoTuple
            | Opcode::InstrumentedEndFor
            | Opcode::InstrumentedPopIter
            | Opcode::InstrumentedEndSend
            | Opcode::InstrumentedForIter
            | Opcode::InstrumentedInstruction
            | Opcode::InstrumentedJumpForward
            | Opcode::InstrumentedNotTaken
            | Opcode::InstrumentedPopJumpIfTrue
            | Opcode::InstrumentedPopJumpIfFalse
            | Opcode::InstrumentedPopJumpIfNone
            | Opcode::InstrumentedPopJumpIfNotNone
            | Opcode::InstrumentedResume
            | Opcode::InstrumentedReturnValue
            | Opcode::InstrumentedYieldValue
            | Opcode::InstrumentedEndAsyncFor
            | Opcode::InstrumentedLoadSuperAttr
            | Opcode::InstrumentedCall
            | Opcode::InstrumentedCallKw
            | Opcode::InstrumentedCallFunctionEx
            | Opcode::InstrumentedJumpBackward
            | Opcode::InstrumentedLine
            | Opcode::EnterExecutor => not_modelled(instruction.op),
        }
    }

    /// Pushes a value.
    pub fn push(&mut self, value: Value) -> Traced<Flow> {
        Rc::make_mut(&mut self.frame_mut().stack).push(Some(value));
        Ok(Flow::Next)
    }

    /// Pushes what a call or protocol came to.
    pub fn push_done(&mut self, done: Done) -> Traced<Flow> {
        match done {
            Done::Value(value) => self.push(value),
            Done::Entered => Ok(Flow::Entered),
        }
    }

    /// Pops a value. NULL has no place where a value is expected.
    pub fn pop(&mut self) -> Traced<Value> {
        match Rc::make_mut(&mut self.frame_mut().stack).pop() {
            Some(Some(value)) => Ok(value),
            _ => stop(&stop::OPCODE, "a value was expected on the stack"),
        }
    }

    /// Pops a value or NULL.
    pub fn pop_maybe(&mut self) -> Option<Value> {
        Rc::make_mut(&mut self.frame_mut().stack).pop().flatten()
    }

    /// Pops `n` values, the deepest first.
    pub fn pop_many(&mut self, n: usize) -> Traced<Vec<Value>> {
        let stack = Rc::make_mut(&mut self.frame_mut().stack);
        let start = stack.len().saturating_sub(n);
        let values: Option<Vec<Value>> = stack.drain(start..).collect();
        match values {
            Some(values) if values.len() == n => Ok(values),
            _ => stop(&stop::OPCODE, "values were expected on the stack"),
        }
    }

    /// The value `depth` places below the top.
    pub fn peek(&self, depth: usize) -> Traced<Value> {
        let stack = &self.frame().stack;
        match stack.len().checked_sub(depth + 1).and_then(|i| stack[i].clone()) {
            Some(value) => Ok(value),
            None => stop(&stop::OPCODE, "a value was expected on the stack"),
        }
    }

    /// A callee returned `value`: does with it what its caller wanted.
    pub fn returned(&mut self, then: Then, value: Value) -> Traced<Flow> {
        match then {
            Then::Exit => Ok(Flow::Return),
            Then::Push | Then::PushOr(_) | Then::Next | Then::Delegate => self.push(value),
            Then::HasAttribute => self.push(Value::bool(true)),
            Then::PushPair => {
                self.push(value)?;
                self.push_null()
            }
            Then::New { class, args, keywords } => {
                let done = self.initialise(&class, value, args, keywords)?;
                self.push_done(done)
            }
            Then::Init(new) => match self.constant(&value)? {
                Some(taipan_frontend::inspect::Const::None) => self.push(new),
                _ => {
                    let class = self.class_name(&value);
                    self.raise("TypeError", &format!("__init__() should return None, not '{class}'"))
                }
            },
            Then::Collect(mut collecting) => {
                collecting.items.push(value);
                let done = self.collect_more(*collecting)?;
                self.push_done(done)
            }
            Then::Discard => Ok(Flow::Next),
            Then::Unpack(count) => self.unpack(&value, count),
            Then::UnpackItem(mut unpacking) => {
                unpacking.items.push(value);
                self.unpack_more(*unpacking)
            }
            Then::Truth(negate) => match self.truth(&value)? {
                Done::Value(Value::Const(taipan_frontend::inspect::Const::Bool(b))) => self.push(Value::bool(b != negate)),
                _ => stop(&stop::OPERATOR, "the truth of a method's result"),
            },
            Then::Operator(attempt) => {
                let done = self.operator_answered(*attempt, value)?;
                self.push_done(done)
            }
        }
    }

    fn nothing(&mut self, op: Opcode) -> Traced<Flow> {
        // An exhausted loop jumps past END_FOR, so one that is reached has the last item on the stack.
        if op == Opcode::EndFor {
            self.pop_maybe();
        }
        Ok(Flow::Next)
    }

    fn pop_top(&mut self) -> Traced<Flow> {
        self.pop_maybe();
        Ok(Flow::Next)
    }

    fn push_null(&mut self) -> Traced<Flow> {
        Rc::make_mut(&mut self.frame_mut().stack).push(None);
        Ok(Flow::Next)
    }

    fn copy(&mut self, depth: usize) -> Traced<Flow> {
        let stack = Rc::make_mut(&mut self.frame_mut().stack);
        let Some(at) = stack.len().checked_sub(depth) else { return stop(&stop::OPCODE, "COPY") };
        let value = stack[at].clone();
        stack.push(value);
        Ok(Flow::Next)
    }

    fn swap(&mut self, depth: usize) -> Traced<Flow> {
        let stack = Rc::make_mut(&mut self.frame_mut().stack);
        let n = stack.len();
        if n < depth || depth == 0 {
            return stop(&stop::OPCODE, "SWAP");
        }
        stack.swap(n - 1, n - depth);
        Ok(Flow::Next)
    }

    fn pop_jump_if(&mut self, when: bool, instruction: &Instruction) -> Traced<Flow> {
        let value = self.pop()?;
        match self.truth(&value)? {
            Done::Value(Value::Const(taipan_frontend::inspect::Const::Bool(b))) if b == when => jump(instruction),
            Done::Value(_) => Ok(Flow::Next),
            // The compiler puts TO_BOOL before every jump on a value that may have `__bool__`.
            Done::Entered => {
                self.frames.pop();
                self.snapshots.truncate(self.frames.len());
                stop(&stop::OPERATOR, "__bool__ in a jump")
            }
        }
    }

    fn pop_jump_if_none(&mut self, when: bool, instruction: &Instruction) -> Traced<Flow> {
        let value = self.pop()?;
        let none = self.is_none(&value)?;
        if none == when { jump(instruction) } else { Ok(Flow::Next) }
    }

    /// Whether a value is `None`. Of a real object only its type is assumed.
    pub fn is_none(&mut self, value: &Value) -> Traced<bool> {
        Ok(match value {
            Value::Const(c) => *c == taipan_frontend::inspect::Const::None,
            Value::Object(id) => match (self.kind(*id).clone(), self.item(*id).handle.clone()) {
                (Kind::Constant(c), _) => c == taipan_frontend::inspect::Const::None,
                (Kind::Real, Some(handle)) => self.assume.builtin_type(&handle) == taipan_frontend::inspect::BuiltinType::None,
                _ => false,
            },
        })
    }
}

fn jump(instruction: &Instruction) -> Traced<Flow> {
    match instruction.target {
        Some(target) => Ok(Flow::Jump(target)),
        None => stop(&stop::OPCODE, "a jump without target"),
    }
}

fn not_modelled(op: Opcode) -> Traced<Flow> {
    Err(Unwind::Break(stop::Stop::new(&stop::OPCODE, format!("{op:?}"))))
}
