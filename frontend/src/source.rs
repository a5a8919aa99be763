//! Python source text as a tokenizer sees it: comments, and which lines are one statement.
//!
//! Text in strings never counts as a comment, and a statement over several lines is one.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_source_file::LineIndex;
use ruff_text_size::{Ranged, TextSize};

/// A comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Its line, from 1.
    pub line: usize,
    /// Its text behind the `#`.
    pub text: String,
    /// Whether nothing else stands on its line.
    pub alone: bool,
}

/// What a tokenizer finds in a text, which need not be valid Python.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The comments, from the first line on.
    pub comments: Vec<Comment>,
    /// For each line, from 1, the first line of the statement it is part of; 0 for lines without code.
    statements: Vec<usize>,
}

impl Outline {
    /// Reads a text.
    pub fn of(text: &str) -> Self {
        let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
        let index = LineIndex::from_source_text(text);
        let line_of = |offset: TextSize| index.line_index(offset).get();
        let mut comments = Vec::new();
        let mut statements = vec![0; index.line_count() + 2];
        let mut start = None;
        for token in parsed.tokens() {
            let (first, last) = (line_of(token.start()), line_of(token.end()));
            match token.kind() {
                TokenKind::Comment => {
                    let text = text.get(usize::from(token.start()) + 1..usize::from(token.end())).unwrap_or_default().to_owned();
                    comments.push(Comment { line: first, text, alone: statements[first] == 0 });
                }
                TokenKind::Newline => start = None,
                TokenKind::NonLogicalNewline | TokenKind::Indent | TokenKind::Dedent | TokenKind::EndOfFile => {}
                _ => {
                    let start = *start.get_or_insert(first);
                    for line in &mut statements[first..=last] {
                        // The first of several statements on a line stands for all.
                        if *line == 0 {
                            *line = start;
                        }
                    }
                }
            }
        }
        Self { comments, statements }
    }

    /// The first line of the statement that `line` is part of, or of the next one below, if there is one.
    pub fn statement_at_or_below(&self, line: usize) -> Option<usize> {
        self.statements.get(line..)?.iter().copied().find(|start| *start != 0)
    }

    /// The first line of the statement that `line` is part of.
    pub fn statement_at(&self, line: usize) -> Option<usize> {
        self.statements.get(line).copied().filter(|start| *start != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_statements_are_the_tokenizers() {
        let text = "# one\nx = f(1,\n      2)  # two\ntext = '''\n# not a comment\n'''\n\n#: three\nif x: # four\n    y = 1\n";
        let outline = Outline::of(text);
        let seen: Vec<(usize, &str, bool)> = outline.comments.iter().map(|c| (c.line, c.text.as_str(), c.alone)).collect();
        assert_eq!(seen, [(1, " one", true), (3, " two", false), (8, ": three", true), (9, " four", false)]);
        assert_eq!(outline.statement_at(3), Some(2));
        assert_eq!(outline.statement_at(5), Some(4));
        assert_eq!(outline.statement_at(1), None);
        assert_eq!(outline.statement_at_or_below(8), Some(9));
        assert_eq!(outline.statement_at_or_below(10), Some(10));
    }

    #[test]
    fn text_that_is_not_python_has_comments_too() {
        let outline = Outline::of("def f(:  # first\n    return (\n# second\n");
        assert_eq!(outline.comments.len(), 2);
    }
}
