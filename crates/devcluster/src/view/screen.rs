//! Standard output as this program uses it.

use std::{
    env,
    io::{self, IsTerminal as _, Write as _},
    time::Duration,
};

use super::{
    board::Board,
    table::{Ink, Rows, ink},
};

/// Where the tour is shown. Remembers the last tables, so that the next ones can say what is new.
#[derive(Debug)]
pub(crate) struct Screen {
    out: io::Stdout,
    ink: Ink,
    /// The tables as they were last printed.
    printed: Option<Board>,
    /// The state that the last line of news led to.
    told: Option<Board>,
}

impl Screen {
    /// Standard output: coloured on a terminal, unless the user does not want that.
    pub(crate) fn stdout() -> Self {
        let unwanted = env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|it| it == "dumb");
        let out = io::stdout();
        let ink = if out.is_terminal() && !unwanted && !dumb { Ink::Colour } else { Ink::Plain };
        Self { out, ink, printed: None, told: None }
    }

    /// A heading with a sentence below it.
    pub(crate) fn heading(&self, title: &str, text: &str) -> io::Result<()> {
        self.write(&format!("\n{}\n{text}\n\n", self.ink.paint(ink::HEADING, &format!("== {title}"))))
    }

    /// Some lines.
    pub(crate) fn text(&self, text: &str) -> io::Result<()> {
        self.write(&format!("{text}\n"))
    }

    /// What changed since the last call, as lines with the time since the start.
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

    /// The tables.
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
