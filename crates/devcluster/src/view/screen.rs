//! Output of the tour.

use std::{
    env,
    io::{self, IsTerminal as _, Write as _},
    time::Duration,
};

use super::{
    board::Board,
    table::{Ink, Rows, ink},
};

/// Standard output, with the previously printed state, so that changes can be printed and marked.
#[derive(Debug)]
pub(crate) struct Screen {
    out: io::Stdout,
    ink: Ink,
    /// Tables printed last.
    printed: Option<Board>,
    /// State after the last printed change.
    told: Option<Board>,
}

impl Screen {
    /// Returns a screen on standard output. Colours are used on a terminal, unless `NO_COLOR` is set or `TERM` is
    /// `dumb`.
    pub(crate) fn stdout() -> Self {
        let unwanted = env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|it| it == "dumb");
        let out = io::stdout();
        let ink = if out.is_terminal() && !unwanted && !dumb { Ink::Colour } else { Ink::Plain };
        Self { out, ink, printed: None, told: None }
    }

    /// Prints a heading and a text below it.
    pub(crate) fn heading(&self, title: &str, text: &str) -> io::Result<()> {
        self.write(&format!("\n{}\n{text}\n\n", self.ink.paint(ink::HEADING, &format!("== {title}"))))
    }

    /// Prints a text and a newline.
    pub(crate) fn text(&self, text: &str) -> io::Result<()> {
        self.write(&format!("{text}\n"))
    }

    /// Prints the changes since the last call, one line each, with the time since the start. Returns whether there were
    /// any.
    pub(crate) fn news(&mut self, board: Board, since_start: Duration) -> io::Result<bool> {
        let before = self.told.get_or_insert_with(Board::default);
        let news = board.news(before);
        self.told = Some(board);
        let time = format!("{:>6.2}s", since_start.as_secs_f64());
        let time = self.ink.paint(ink::FAINT, &time);
        for line in &news {
            self.write(&format!("{time}  {line}\n"))?;
        }
        Ok(!news.is_empty())
    }

    /// Prints the tables; rows that differ from the tables printed before are marked.
    pub(crate) fn tables(&mut self, board: &Board, rows: Rows) -> io::Result<()> {
        self.write(&format!("\n{}", board.render(self.printed.as_ref(), rows, self.ink)))?;
        self.printed = Some(board.clone());
        Ok(())
    }

    fn write(&self, text: &str) -> io::Result<()> {
        let mut out = self.out.lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }
}
