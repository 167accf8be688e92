//! The terminal: alternate screen, raw mode, and the thread that reads keys.

use std::io::{self, IsTerminal as _};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use crossterm::event::{self, Event};
use ratatui::DefaultTerminal;
use tokio::sync::mpsc::{self, UnboundedReceiver};

/// Period in which the thread that reads keys notices the end of the view.
const READ_LIMIT: Duration = Duration::from_millis(200);

/// Terminal in raw mode with the alternate screen. Dropping it, and a panic of any thread, restore the terminal.
#[derive(Debug)]
pub(crate) struct Screen {
    /// Terminal to draw on.
    pub(crate) terminal: DefaultTerminal,
}

impl Screen {
    /// Enters the alternate screen.
    ///
    /// # Errors
    ///
    /// If standard input or output is no terminal, or its mode cannot be set.
    pub(crate) fn open() -> anyhow::Result<Self> {
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        anyhow::ensure!(is_terminal, "standard input and output must be a terminal");
        // Installs a panic hook that restores the terminal before the message is printed.
        let terminal = ratatui::try_init().inspect_err(|_| ratatui::restore());
        Ok(Self { terminal: terminal.context("cannot set the mode of the terminal")? })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// Starts a thread that reads keys and changes of the window size until the receiver is dropped or reading fails.
pub(crate) fn read_inputs() -> UnboundedReceiver<io::Result<Event>> {
    let (sender, inputs) = mpsc::unbounded_channel();
    thread::spawn(move || {
        while !sender.is_closed() {
            let input = match event::poll(READ_LIMIT) {
                Ok(false) => continue,
                Ok(true) => event::read(),
                Err(error) => Err(error),
            };
            let failed = input.is_err();
            if sender.send(input).is_err() || failed {
                return;
            }
        }
    });
    inputs
}
