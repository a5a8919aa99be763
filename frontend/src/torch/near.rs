//! Unknown names of `torch`: the error says which, and what is near it.

use rustpython_vm::{
    AsObject, Py, PyObjectRef, PyResult, VirtualMachine,
    builtins::{PyBaseExceptionRef, PyModule, PyStr, PyUtf8StrRef},
};

/// At most this many names are offered.
const OFFERED: usize = 3;

/// Makes the module answer for names that it doesn't have.
pub(super) fn install(module: &Py<PyModule>, vm: &VirtualMachine) -> PyResult<()> {
    let shown = match module.get_attr("__name__", vm)?.downcast_ref::<PyStr>() {
        Some(name) => name.to_string().replace("torch._C._nn", "torch.nn.functional").replace("torch._C", "torch").replace("._", "."),
        None => "torch".to_owned(),
    };
    // The function lives in the module, so it must not keep it alive.
    let weak = module.as_object().downgrade(None, vm)?;
    let missing = move |name: PyUtf8StrRef, vm: &VirtualMachine| -> PyResult {
        // The import system asks every module for names such as `__path__`, so these must be cheap to deny.
        let names = weak.upgrade().and_then(|module| module.dict()).filter(|_| !name.as_str().starts_with("__"));
        let known: Vec<String> = match names {
            Some(names) => vm.extract_elements_with(names.as_object(), |key| Ok(key.str(vm)?.to_string()))?,
            None => Vec::new(),
        };
        Err(unknown(&shown, name.as_str(), &known, vm))
    };
    module.set_attr("__getattr__", vm.new_function("__getattr__", missing), vm)
}

/// Gives `torch._C` the function `_missing(module, name, names)`, which makes the same error for modules written in Python.
pub(super) fn install_function(module: &Py<PyModule>, vm: &VirtualMachine) -> PyResult<()> {
    let missing = |shown: PyUtf8StrRef, name: PyUtf8StrRef, names: PyObjectRef, vm: &VirtualMachine| -> PyResult<PyBaseExceptionRef> {
        let known = if name.as_str().starts_with("__") {
            Vec::new()
        } else {
            vm.extract_elements_with(&names, |key| Ok(key.str(vm)?.to_string()))?
        };
        Ok(unknown(shown.as_str(), name.as_str(), &known, vm))
    };
    module.set_attr("_missing", vm.new_function("_missing", missing), vm)
}

/// The error for a name that a module doesn't have.
fn unknown(shown: &str, name: &str, known: &[String], vm: &VirtualMachine) -> PyBaseExceptionRef {
    let mut text = format!("module '{shown}' has no attribute '{name}'");
    let near = nearest(name, known);
    if !near.is_empty() {
        text.push_str(&format!("; near it are: {}", near.join(", ")));
    }
    vm.new_attribute_error(text)
}

/// The names that a typing mistake could have turned into `name`, the nearest first.
fn nearest<'a>(name: &str, known: &'a [String]) -> Vec<&'a str> {
    let allowed = (name.len() / 3).clamp(1, 3);
    let mut found: Vec<(usize, &str)> = known
        .iter()
        .filter(|candidate| !candidate.starts_with('_') && candidate.len().abs_diff(name.len()) <= allowed)
        .map(|candidate| (distance(name, candidate), candidate.as_str()))
        .filter(|(distance, _)| *distance <= allowed)
        .collect();
    found.sort();
    found.into_iter().take(OFFERED).map(|(_, name)| name).collect()
}

/// Letters to insert, delete, replace or swap with their neighbour.
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut rows = vec![(0..=right.len()).collect::<Vec<usize>>()];
    for (i, a) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let mut least = (rows[i][j] + usize::from(a != b)).min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_names_one_slip_away() {
        let known: Vec<String> = ["relu", "selu", "softmax", "matmul", "_private"].map(str::to_owned).to_vec();
        assert_eq!(nearest("rleu", &known), ["relu"]);
        assert_eq!(nearest("sofmax", &known), ["softmax"]);
        assert!(nearest("xyzzy", &known).is_empty());
    }
}
