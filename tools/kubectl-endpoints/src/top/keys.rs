//! Keys and their actions.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// Action of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Moves the selection, or scrolls.
    Move(Motion),
    /// Sorts by the column to the right.
    NextColumn,
    /// Sorts by the column to the left.
    PreviousColumn,
    /// Reverses the order.
    Reverse,
    /// Starts the input of the filter.
    Filter,
    /// Appends a character to the filter.
    Type(char),
    /// Removes the last character of the filter.
    Erase,
    /// Opens the details of the selected Service, or ends the input of the filter.
    Open,
    /// Leaves the details or the help, or removes the filter.
    Back,
    /// Shows or hides the help.
    Help,
    /// Ends the program.
    Quit,
}

/// Direction and distance of a movement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Motion {
    /// One line up.
    Up,
    /// One line down.
    Down,
    /// One page up.
    PageUp,
    /// One page down.
    PageDown,
    /// To the first line.
    First,
    /// To the last line.
    Last,
}

/// Returns the action of a key; `None` if it has none. With `typing`, characters belong to the filter.
pub(crate) fn action(key: KeyEvent, typing: bool) -> Option<Action> {
    // Windows reports the release of keys too.
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
        let quit = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        return quit.then_some(Action::Quit);
    }
    let action = match key.code {
        KeyCode::Up => Action::Move(Motion::Up),
        KeyCode::Down => Action::Move(Motion::Down),
        KeyCode::PageUp => Action::Move(Motion::PageUp),
        KeyCode::PageDown => Action::Move(Motion::PageDown),
        KeyCode::Home => Action::Move(Motion::First),
        KeyCode::End => Action::Move(Motion::Last),
        KeyCode::Enter => Action::Open,
        KeyCode::Esc => Action::Back,
        KeyCode::Backspace => Action::Erase,
        KeyCode::Char(typed) if typing => Action::Type(typed),
        KeyCode::Right | KeyCode::Char('s') => Action::NextColumn,
        KeyCode::Left => Action::PreviousColumn,
        KeyCode::Char('r') => Action::Reverse,
        KeyCode::Char('/') => Action::Filter,
        KeyCode::Char('?') => Action::Help,
        KeyCode::Char('q') => Action::Quit,
        _ => return None,
    };
    Some(action)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(KeyCode::Char('q'), KeyModifiers::NONE, false, Some(Action::Quit))]
    #[case(KeyCode::Char('q'), KeyModifiers::NONE, true, Some(Action::Type('q')))]
    #[case(KeyCode::Char('c'), KeyModifiers::CONTROL, false, Some(Action::Quit))]
    #[case(KeyCode::Char('c'), KeyModifiers::CONTROL, true, Some(Action::Quit))]
    #[case(KeyCode::Char('c'), KeyModifiers::NONE, false, None)]
    #[case(KeyCode::Char('q'), KeyModifiers::ALT, false, None)]
    #[case(KeyCode::Char('?'), KeyModifiers::SHIFT, false, Some(Action::Help))]
    #[case(KeyCode::Char('s'), KeyModifiers::NONE, false, Some(Action::NextColumn))]
    #[case(KeyCode::Char('s'), KeyModifiers::NONE, true, Some(Action::Type('s')))]
    #[case(KeyCode::Down, KeyModifiers::NONE, true, Some(Action::Move(Motion::Down)))]
    #[case(KeyCode::Backspace, KeyModifiers::NONE, true, Some(Action::Erase))]
    #[case(KeyCode::F(1), KeyModifiers::NONE, false, None)]
    fn keys_have_actions(
        #[case] code: KeyCode,
        #[case] modifiers: KeyModifiers,
        #[case] typing: bool,
        #[case] expected: Option<Action>,
    ) {
        assert_eq!(action(KeyEvent::new(code, modifiers), typing), expected);
    }

    #[test]
    fn releases_are_ignored() {
        let key = KeyEvent::new_with_kind(KeyCode::Char('q'), KeyModifiers::NONE, KeyEventKind::Release);
        assert_eq!(action(key, false), None);
    }
}
