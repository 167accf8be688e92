//! Waiting for a key between the stages.

use std::{
    io::{self, IsTerminal as _},
    thread,
    time::Duration,
};

use crossterm::{
    event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
    terminal::{disable_raw_mode, enable_raw_mode},
};
use tokio::sync::oneshot;

/// Period in which the thread that reads keys checks that its receiver still waits.
const READ_LIMIT: Duration = Duration::from_millis(200);

/// Decision of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Next,
    Quit,
}

/// Returns whether there is a terminal to read keys from.
pub(super) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Waits for a key.
pub(super) async fn wait() -> io::Result<Answer> {
    let _raw = RawMode::enable()?;
    let (sender, receiver) = oneshot::channel();
    thread::spawn(move || {
        let answer = read(|| sender.is_closed());
        // An error means that the receiver was dropped: the program ends.
        let _ = sender.send(answer);
    });
    receiver.await.unwrap_or(Ok(Answer::Quit))
}

/// Reads keys until one is an answer, or `is_over`.
fn read(is_over: impl Fn() -> bool) -> io::Result<Answer> {
    while !is_over() {
        if event::poll(READ_LIMIT)?
            && let Event::Key(key) = event::read()?
            && let Some(answer) = answer(key)
        {
            return Ok(answer);
        }
    }
    Ok(Answer::Quit)
}

/// Returns the meaning of a key. In raw mode, Ctrl-C is a key and no signal.
fn answer(key: KeyEvent) -> Option<Answer> {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        _ if key.kind == KeyEventKind::Release => None,
        KeyCode::Char('c' | 'd') if is_control => Some(Answer::Quit),
        KeyCode::Char('q') | KeyCode::Esc => Some(Answer::Quit),
        _ => Some(Answer::Next),
    }
}

/// Raw mode of the terminal, in which a key needs no Enter. Dropping it restores the terminal.
struct RawMode;

impl RawMode {
    fn enable() -> io::Result<Self> {
        enable_raw_mode()?;
        Ok(Self)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        // The terminal may be gone.
        let _ = disable_raw_mode();
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::space(KeyCode::Char(' '), KeyModifiers::NONE, Answer::Next)]
    #[case::enter(KeyCode::Enter, KeyModifiers::NONE, Answer::Next)]
    #[case::plain_c(KeyCode::Char('c'), KeyModifiers::NONE, Answer::Next)]
    #[case::interrupt(KeyCode::Char('c'), KeyModifiers::CONTROL, Answer::Quit)]
    #[case::quit(KeyCode::Char('q'), KeyModifiers::NONE, Answer::Quit)]
    #[case::escape(KeyCode::Esc, KeyModifiers::NONE, Answer::Quit)]
    fn keys(#[case] code: KeyCode, #[case] modifiers: KeyModifiers, #[case] expect: Answer) {
        assert_eq!(answer(KeyEvent::new(code, modifiers)), Some(expect));
        let released = KeyEvent::new_with_kind(code, modifiers, KeyEventKind::Release);
        assert_eq!(answer(released), None);
    }
}
