//! Lines with marks, codes and colours.

use super::TextStyle;
use crate::report::{Finding, ObjectRef, Reason, Severity};
use crate::terminal::controls_terminal;

/// First character of a line: the verdict about its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// As it should be.
    Good,
    /// Neither right nor wrong.
    Neutral,
    /// Works in part.
    Partial,
    /// Does not work.
    Bad,
}

const RESET: &str = "\u{1b}[0m";
const DIM: &str = "\u{1b}[2m";

impl Mark {
    fn symbol(self) -> &'static str {
        match self {
            Mark::Good => "✓",
            Mark::Neutral => "-",
            Mark::Partial => "!",
            Mark::Bad => "✗",
        }
    }

    fn color(self) -> &'static str {
        match self {
            Mark::Good => "\u{1b}[32m",
            Mark::Neutral => DIM,
            Mark::Partial => "\u{1b}[33m",
            Mark::Bad => "\u{1b}[31m",
        }
    }
}

impl From<Severity> for Mark {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Info => Mark::Neutral,
            Severity::Warning => Mark::Partial,
            Severity::Error => Mark::Bad,
        }
    }
}

/// Text under construction.
pub(super) struct Output {
    text: String,
    /// Column of the current line, without colours.
    column: usize,
    color: bool,
}

impl Output {
    pub(super) fn new(style: TextStyle) -> Self {
        Self { text: String::new(), column: 0, color: style.color }
    }

    pub(super) fn mark(&mut self, mark: Mark) -> &mut Self {
        self.colored(mark.color(), mark.symbol()).text(" ")
    }

    /// Appends text.
    ///
    /// Control characters are escaped: messages may quote what a user wrote, such as the message of a Pod condition,
    /// and that must neither break lines nor control the terminal.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        for character in text.chars() {
            if controls_terminal(character) {
                let escaped = character.escape_default();
                self.column += escaped.len();
                self.text.extend(escaped);
            } else {
                self.column += 1;
                self.text.push(character);
            }
        }
        self
    }

    pub(super) fn reason(&mut self, reason: &Reason) -> &mut Self {
        self.reason_after(reason, " ")
    }

    pub(super) fn reason_after(&mut self, reason: &Reason, separator: &str) -> &mut Self {
        self.colored(DIM, reason.code.as_str()).text(separator).text(&reason.message)
    }

    pub(super) fn pad_to(&mut self, column: usize) -> &mut Self {
        let missing = column.saturating_sub(self.column);
        self.text.extend(std::iter::repeat_n(' ', missing));
        self.column += missing;
        self
    }

    pub(super) fn end_line(&mut self) {
        self.text.push('\n');
        self.column = 0;
    }

    /// Appends an empty line, unless there is one or the text is empty.
    pub(super) fn separate(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.end_line();
        }
    }

    pub(super) fn indented(&mut self, text: &str) {
        self.text("  ").text(text).end_line();
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    fn colored(&mut self, color: &str, text: &str) -> &mut Self {
        if !self.color {
            return self.text(text);
        }
        self.text.push_str(color);
        self.text(text);
        self.text.push_str(RESET);
        self
    }
}

/// Appends an indented line for each finding. Objects other than the reported one are named.
pub(super) fn findings(output: &mut Output, findings: &[Finding], reported: &ObjectRef) {
    for Finding { object, severity, reason } in findings {
        output.text("  ").mark((*severity).into());
        if object == reported || names(&reason.message, &object.name) {
            output.reason(reason);
        } else {
            output.reason_after(reason, &format!(" {} {}: ", object.kind, object.name));
        }
        output.end_line();
    }
}

/// Whether the name is a word of the message.
fn names(message: &str, name: &str) -> bool {
    message.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '.').any(|word| word == name)
}
