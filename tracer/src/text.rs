//! Text made while tracing: f-strings, `str`, `repr`, `format` and `%`.

use crate::{
    recorder::{Recorder, Traced, stop},
    step::Flow,
    stop,
    value::{Kind, TupleClass, Value},
};
use taipan_frontend::inspect::{self, Const};

impl Recorder<'_> {
    pub(crate) fn build_string(&mut self, n: usize) -> Traced<Flow> {
        let pieces = self.pop_many(n)?;
        let mut text = String::new();
        for piece in pieces {
            match self.text(&piece)? {
                Some(s) => text.push_str(&s),
                None => return stop(&stop::OPERATOR, "a string of unknown pieces"),
            }
        }
        self.push(Value::str(&text))
    }

    pub(crate) fn format_simple(&mut self) -> Traced<Flow> {
        let value = self.pop()?;
        let text = self.format(&value, "")?;
        self.push(text)
    }

    pub(crate) fn format_with_spec(&mut self) -> Traced<Flow> {
        let spec = self.pop()?;
        let value = self.pop()?;
        let Some(spec) = self.text(&spec)? else { return stop(&stop::OPERATOR, "a format specification that isn't known") };
        let text = self.format(&value, &spec)?;
        self.push(text)
    }

    /// `format(value, spec)` of a constant.
    pub(crate) fn format(&mut self, value: &Value, spec: &str) -> Traced<Value> {
        if let Some(c) = self.constant(value)? {
            return match inspect::format_const(&c, spec, self.vm) {
                Some(text) => Ok(Value::str(&text)),
                None => stop(&stop::RAISES, "format"),
            };
        }
        if spec.is_empty() {
            return self.text_of(value, "__str__");
        }
        stop(&stop::OPERATOR, format!("formatting {}", self.class_name(value)))
    }

    /// `str(value)` or `repr(value)` of a value whose text is known without running code.
    pub(crate) fn text_of(&mut self, value: &Value, method: &str) -> Traced<Value> {
        let value = self.resolve(value)?;
        let quote = |c: &Const, plain: bool| match c {
            Const::Str(s) if plain => s.to_string(),
            c => c.to_string(),
        };
        let id = match &value {
            Value::Const(c) => return Ok(Value::str(&quote(c, method == "__str__"))),
            Value::Object(id) => *id,
        };
        let mut pieces = vec![];
        let (open, close) = match self.kind(id).clone() {
            Kind::Tuple(_, TupleClass::Named(_)) => return stop(&stop::DATA_DEPENDENT, "the text of tensors"),
            Kind::Tuple(items, TupleClass::Tuple) => {
                for item in items.iter() {
                    pieces.push(self.repr(item)?);
                }
                ("(", if items.len() == 1 { ",)" } else { ")" })
            }
            Kind::Tuple(items, TupleClass::Size) => {
                for item in items.iter() {
                    pieces.push(self.repr(item)?);
                }
                ("torch.Size([", "])")
            }
            Kind::List(items) => {
                for item in items.iter() {
                    pieces.push(self.repr(item)?);
                }
                ("[", "]")
            }
            Kind::Dict(_) | Kind::RealDict(_) => {
                for (key, value) in self.dict_items(id)? {
                    pieces.push(format!("{}: {}", self.repr(&key)?, self.repr(&value)?));
                }
                ("{", "}")
            }
            Kind::Tensor(_) => return stop(&stop::DATA_DEPENDENT, "the text of a tensor"),
            _ => match self.torch_constant_text(&value)? {
                Some(text) => return Ok(Value::str(&text)),
                None => return stop(&stop::OPERATOR, format!("the text of {}", self.class_name(&value))),
            },
        };
        Ok(Value::str(&format!("{open}{}{close}", pieces.join(", "))))
    }

    fn repr(&mut self, value: &Value) -> Traced<String> {
        let text = self.text_of(value, "__repr__")?;
        Ok(self.text(&text)?.map_or_else(String::new, |s| s.to_string()))
    }

    pub(crate) fn convert_value(&mut self, conversion: u32) -> Traced<Flow> {
        let value = self.pop()?;
        let method = match conversion {
            1 => "__str__",
            2 => "__repr__",
            _ => return stop(&stop::OPERATOR, "!a"),
        };
        let text = self.text_of(&value, method)?;
        self.push(text)
    }

    /// `format % value` of constants.
    pub(crate) fn format_percent(&mut self, format: &str, value: &Value) -> Traced<Option<Value>> {
        let mut consts = vec![];
        let items = match self.kind_of(value)? {
            Some((_, Kind::Tuple(items, _))) => items.to_vec(),
            None => vec![value.clone()],
            _ => return Ok(None),
        };
        for item in &items {
            match self.constant(item)? {
                Some(c) => consts.push(c),
                None => return Ok(None),
            }
        }
        Ok(inspect::format_percent(format, &consts, self.vm).map(|s| Value::str(&s)))
    }
}
