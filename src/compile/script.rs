//! What scripts ask of the compiler: calls of compiled functions, resets, explanations, settings.

use super::{
    backend,
    jit::{Call, Jit, Running, report},
};
use crate::{
    report::{Break, VersionReport},
    settings::SettingValue,
};
use taipan_frontend::{
    hook::{self, Region},
    inspect::{self, Args, CallResult, Const, Object, Vm},
    torch::{CompiledFunction, CompiledObject, Compiler},
};

impl Compiler for Jit {
    fn call(&self, compiled: &CompiledObject, args: Args, vm: &Vm) -> CallResult {
        let _call = Call::begin(self, compiled, &args, vm);
        let (function, args) = match inspect::unbind(compiled.target(), args, vm) {
            Ok(unbound) => unbound,
            Err(args) => return inspect::call(compiled.target(), args, vm),
        };
        if self.settings.borrow().current().runs_plainly() {
            return hook::run_original(&function, args, vm);
        }
        let Some(owner) = self.owner(compiled) else { return hook::run_original(&function, args, vm) };
        let _region = Region::compiled(vm);
        self.running.borrow_mut().push(owner.clone());
        let _running = Running(self);
        self.enter(&owner, &function, args, vm)
    }

    fn call_plainly(&self, function: &Object, args: Args, vm: &Vm) -> CallResult {
        let _region = Region::plain(vm);
        inspect::call(function, args, vm)
    }

    fn reset(&self) {
        self.forget();
    }

    fn explain(&self, function: Object, args: Args, vm: &Vm) -> CallResult {
        let compiled = CompiledFunction::make(function, Some(inspect::make_const(&Const::Str("eager".into()), vm)), vm);
        let result = inspect::call(&compiled, args, vm);
        let owner = CompiledFunction::of(&compiled).and_then(|c| self.owner(c));
        let versions = owner.map(|o| o.versions()).unwrap_or_default();
        result?;
        let text = |s: String| inspect::make_const(&Const::Str(s.into()), vm);
        let reports: Vec<VersionReport> = versions.iter().filter(|v| v.recipe().is_some()).map(|v| report(v)).collect();
        let dict = inspect::make_dict(vm);
        let put = |name: &str, value: Object| inspect::dict_set(&dict, &text(name.to_owned()), Some(value), vm);
        let breaks: Vec<&Break> = versions.iter().filter_map(|v| v.ends_at.as_ref()).collect();
        let graphs = versions.iter().filter(|v| !v.graph.nodes().is_empty()).count();
        put("graph_count", inspect::make_const(&Const::Int(graphs as i64), vm));
        put("graph_break_count", inspect::make_const(&Const::Int(breaks.len() as i64), vm));
        let ops: usize = versions.iter().map(|v| v.graph.nodes().len()).sum();
        put("op_count", inspect::make_const(&Const::Int(ops as i64), vm));
        put("graphs", inspect::make_list(reports.iter().map(|r| text(r.graph.clone())).collect(), vm));
        put("out_guards", inspect::make_list(reports.iter().flat_map(|r| r.guards.iter().map(|g| text(g.clone()))).collect(), vm));
        put("break_reasons", inspect::make_list(breaks.iter().map(|b| text(format!("{b} at {}", b.place))).collect(), vm));
        Ok(dict)
    }

    fn setting(&self, name: &str, vm: &Vm) -> CallResult {
        match self.settings.borrow().get(name) {
            Ok(value) => Ok(setting_object(&value, vm)),
            Err(e) => Err(inspect::attribute_error(&e.to_string(), vm)),
        }
    }

    fn set_setting(&self, name: &str, value: Object, vm: &Vm) -> CallResult<()> {
        let value = match inspect::constant(&value, vm) {
            Some(Const::Bool(b)) => SettingValue::Bool(b),
            Some(Const::Int(i)) if i >= 0 => SettingValue::Int(i as u64),
            Some(Const::Str(s)) => SettingValue::Text(s.to_string()),
            Some(Const::None) => SettingValue::None,
            _ => return Err(inspect::type_error(&format!("setting {name} takes a bool, an int, a str or None"), vm)),
        };
        self.settings.borrow_mut().set(name, value).map_err(|e| inspect::attribute_error(&e.to_string(), vm))
    }

    fn backends(&self) -> Vec<String> {
        backend::NAMES.iter().map(|n| (*n).to_owned()).collect()
    }
}

fn setting_object(value: &SettingValue, vm: &Vm) -> Object {
    let value = match value {
        SettingValue::Bool(b) => Const::Bool(*b),
        SettingValue::Int(i) => Const::Int(*i as i64),
        SettingValue::Text(s) => Const::Str(s.as_str().into()),
        SettingValue::None => Const::None,
    };
    inspect::make_const(&value, vm)
}
