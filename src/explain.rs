//! The story of a run for people: each compiled function with its graphs, guards, breaks and recompiles.

use crate::report::{Break, Event, Place, VersionReport};
use std::{collections::HashMap, fmt::Write, fs, sync::Arc};
use taipan_frontend::vm::sources;

/// What happened, as a text: `versions` are those the engine holds at the end, `events` all it told its observer.
pub fn explain(events: &[Event], versions: &[VersionReport]) -> String {
    let mut story = Story::default();
    if versions.is_empty() && events.is_empty() {
        story.line(0, "nothing was compiled: no call went through torch.compile");
        return story.text;
    }
    let mut functions: Vec<&Arc<str>> = Vec::new();
    for entry in events.iter().filter_map(function_of).chain(versions.iter().map(|version| &version.name.entry.function)) {
        if !functions.contains(&entry) {
            functions.push(entry);
        }
    }
    for function in functions {
        story.function(function, events, versions);
    }
    story.summary(events, versions);
    story.text
}

/// The stretch of source text that `place` names, its first line with carets under it; `None` where the text isn't at hand.
pub fn quote(place: &Place) -> Option<[String; 2]> {
    Sources::default().quote(place)
}

#[derive(Default)]
struct Story {
    text: String,
    sources: Sources,
}

impl Story {
    fn line(&mut self, depth: usize, text: &str) {
        // Writing to a `String` can't fail.
        let _ = writeln!(self.text, "{:width$}{text}", "", width = depth * 2);
    }

    fn function(&mut self, function: &Arc<str>, events: &[Event], versions: &[VersionReport]) {
        self.line(0, function);
        for version in versions.iter().filter(|version| version.name.entry.function == *function) {
            self.line(1, &version.name.to_string());
            for event in events {
                if let Event::Recompiled { version: name, nearest, failures } = event
                    && *name == version.name
                {
                    self.line(2, &format!("compiled since {nearest} did not hold"));
                    for failure in failures {
                        let line = if failure.line > 0 { format!(", needed in line {}", failure.line) } else { String::new() };
                        self.line(3, &format!("{} [{}]{line}", failure.text, failure.kind));
                    }
                }
            }
            self.line(2, "graph");
            version.graph.lines().for_each(|line| self.line(3, line.trim_start()));
            self.line(2, "guards");
            version.guards.iter().for_each(|guard| self.line(3, guard));
            if let Some(at) = &version.ends_at {
                self.line(2, "ends at a break");
                self.stop(at);
            }
        }
        for event in events {
            match event {
                Event::Broke { version: None, at } if *at.place.function == **function => {
                    self.line(1, "breaks where nothing is left to compile");
                    self.stop(at);
                }
                Event::Refused { entry, at } if entry.function == *function => {
                    self.line(1, &format!("{entry} runs plainly"));
                    self.stop(at);
                }
                Event::LimitHit { entry, setting, limit } if entry.function == *function => {
                    self.line(1, &format!("{entry} runs plainly from here on: {setting} is {limit}"));
                }
                _ => {}
            }
        }
        self.text.push('\n');
    }

    fn stop(&mut self, at: &Break) {
        self.line(3, &format!("{} in {}", at.place, at.place.function));
        if let Some(lines) = self.sources.quote(&at.place) {
            lines.iter().for_each(|line| self.line(5, line));
        }
        self.line(3, &at.to_string());
        self.line(3, &format!("hint: {}", at.hint));
    }

    fn summary(&mut self, events: &[Event], versions: &[VersionReport]) {
        let count = |of: fn(&Event) -> bool| events.iter().filter(|event| of(event)).count();
        let counts = [
            (versions.len(), "version"),
            (count(|event| matches!(event, Event::Broke { .. })), "break"),
            (count(|event| matches!(event, Event::Recompiled { .. })), "recompile"),
            (count(|event| matches!(event, Event::Reused { .. })), "reuse"),
            (count(|event| matches!(event, Event::Refused { .. })), "refusal"),
        ];
        let counts: Vec<String> =
            counts.iter().map(|(count, what)| format!("{count} {what}{}", if *count == 1 { "" } else { "s" })).collect();
        self.line(0, &counts.join(", "));
    }
}

/// Texts of scripts, read once.
#[derive(Default)]
struct Sources {
    files: HashMap<Arc<str>, Option<String>>,
}

impl Sources {
    fn quote(&mut self, place: &Place) -> Option<[String; 2]> {
        let text = self.files.entry(place.file.clone()).or_insert_with(|| text_of(&place.file)).as_deref()?;
        let line = text.lines().nth((place.line as usize).checked_sub(1)?)?;
        let end = if place.end_line > place.line { line.len() } else { place.end_column as usize };
        let before = line.get(..place.column as usize)?;
        let marked = line.get(place.column as usize..end.min(line.len()))?;
        let indent = line.len() - line.trim_start().len();
        let space = before.get(indent..).unwrap_or("").chars().count();
        let carets = marked.trim_end().chars().count().max(1);
        let more = if place.end_line > place.line { " …" } else { "" };
        Some([line.trim().to_owned(), format!("{}{}{more}", " ".repeat(space), "^".repeat(carets))])
    }
}

/// The text of a script's file, or of a module that is part of the engine.
fn text_of(file: &str) -> Option<String> {
    let ours = sources().iter().find(|source| source.path == file);
    ours.map(|source| source.text.to_owned()).or_else(|| fs::read_to_string(file).ok())
}

fn function_of(event: &Event) -> Option<&Arc<str>> {
    match event {
        Event::Compiled { version } | Event::Reused { version } | Event::Recompiled { version, .. } => Some(&version.entry.function),
        Event::Broke { version, at } => Some(version.as_ref().map_or(&at.place.function, |version| &version.entry.function)),
        Event::Refused { entry, .. } | Event::LimitHit { entry, .. } => Some(&entry.function),
        Event::Revealed { .. } | Event::Checking { .. } | Event::Checked { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(text: &str, line: u32, columns: (u32, u32), end_line: u32) -> [String; 2] {
        let mut sources = Sources::default();
        let file: Arc<str> = "script.py".into();
        sources.files.insert(file.clone(), Some(text.to_owned()));
        let place = Place { file, line, column: columns.0, end_line, end_column: columns.1, function: "f".into() };
        sources.quote(&place).expect("the line is there")
    }

    #[test]
    fn carets_stand_under_the_whole_expression() {
        let text = "def f(x):\n    y = g(x, 1) + 2\n    äö = h(\n        x)\n";
        assert_eq!(quoted(text, 2, (8, 15), 2), ["y = g(x, 1) + 2", "    ^^^^^^^"]);
        // Columns count bytes; carets count characters. An expression that goes on below says so.
        assert_eq!(quoted(text, 3, (11, 10), 4), ["äö = h(", "     ^^ …"]);
    }
}
