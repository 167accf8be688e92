//! Text of others on a terminal.

/// Returns whether a character of what others wrote could break lines, control the terminal, or change the order of the text
/// after it.
pub fn controls_terminal(character: char) -> bool {
    character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
