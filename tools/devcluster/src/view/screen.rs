//! Output of the tour.

use std::{
    env,
    io::{self, IsTerminal as _},
    time::Duration,
};

use super::{
    board::Board,
    table::{Rows, Style, style},
};
use crate::output::{OutputError, print};

/// Standard output, with the previously printed state, so that changes can be printed and marked.
#[derive(Debug)]
pub(crate) struct Screen {
    style: Style,
    last_tables: Option<Board>,
    /// State after the last printed change.
    last_state: Option<Board>,
}

impl Screen {
    /// Returns a screen on standard output. Colours are used on a terminal, unless `NO_COLOR` is set or `TERM` is
    /// `dumb`.
    pub(crate) fn stdout() -> Self {
        let unwanted = env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|it| it == "dumb");
        let style = if io::stdout().is_terminal() && !unwanted && !dumb { Style::Colour } else { Style::Plain };
        Self { style, last_tables: None, last_state: None }
    }

    /// Returns whether texts may have colours.
    pub(crate) fn has_colours(&self) -> bool {
        self.style == Style::Colour
    }

    pub(crate) fn heading(&self, title: &str, text: &str) -> Result<(), OutputError> {
        print(&format!("\n{}\n{text}\n\n", self.style.paint(style::HEADING, &format!("== {title}"))))
    }

    /// Prints a text after an empty line, without a newline.
    pub(crate) fn prompt(&self, text: &str) -> Result<(), OutputError> {
        print(&format!("\n{}", self.style.paint(style::FAINT, text)))
    }

    /// Prints the changes since the last call, one line each, with the time since the start.
    pub(crate) fn changes(&mut self, board: Board, since_start: Duration) -> Result<(), OutputError> {
        let before = self.last_state.get_or_insert_with(Board::default);
        let changes = board.changes(before, self.style);
        self.last_state = Some(board);
        let time = format!("{:>6.2}s", since_start.as_secs_f64());
        let time = self.style.paint(style::FAINT, &time);
        for line in changes {
            print(&format!("{time}  {line}\n"))?;
        }
        Ok(())
    }

    /// Prints the tables; rows that differ from the tables printed before are marked.
    pub(crate) fn tables(&mut self, board: &Board, rows: Rows) -> Result<(), OutputError> {
        print(&format!("\n{}", board.render(self.last_tables.as_ref(), rows, self.style)))?;
        self.last_tables = Some(board.clone());
        Ok(())
    }
}
