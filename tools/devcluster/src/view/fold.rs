//! Folding of long lines.

/// Width of the output in columns, that of most terminals.
pub(crate) const WIDTH: usize = 80;
/// Maximum indentation of the rest of a folded line.
const MAX_INDENT: usize = 24;

/// Folds a line at spaces, so that no part is wider than [`WIDTH`], if its words permit. The rest is indented to the start of
/// the last column of the line, as in a table. Colours have no width.
pub(crate) fn fold(line: &str) -> String {
    if width(line) <= WIDTH {
        return line.to_owned();
    }
    let indent = indent(line);
    let (mut folded, mut used) = (String::new(), 0);
    for word in line.split_inclusive(' ') {
        let needed = width(word.trim_end());
        if used + needed > WIDTH && used > indent {
            folded.truncate(folded.trim_end().len());
            folded.push('\n');
            folded.push_str(&" ".repeat(indent));
            used = indent;
        }
        folded.push_str(word);
        used += width(word);
    }
    folded
}

/// Returns the position after the last gap of several spaces near the start; two more than the indentation of a line without one.
fn indent(line: &str) -> usize {
    let plain: Vec<char> = plain(line).collect();
    let leading = plain.iter().take_while(|char| **char == ' ').count();
    let is_after_gap = |at: &usize| plain[*at] != ' ' && plain[*at - 2..*at] == [' ', ' '];
    let near = leading + 2..plain.len().min(MAX_INDENT);
    near.rev().find(is_after_gap).unwrap_or(leading + 2)
}

/// Returns the number of columns of a text.
pub(crate) fn width(text: &str) -> usize {
    plain(text).count()
}

/// Returns the characters without the escape sequences of colours, which end with `m`.
fn plain(text: &str) -> impl Iterator<Item = char> {
    let mut is_escape = false;
    text.chars().filter(move |char| {
        let is_visible = !is_escape && *char != '\u{1b}';
        is_escape = *char == '\u{1b}' || is_escape && *char != 'm';
        is_visible
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lines_are_unchanged() {
        for line in ["", "short", &"x".repeat(WIDTH), &"x".repeat(2 * WIDTH)] {
            assert_eq!(fold(line), line);
        }
    }

    #[test]
    fn rest_is_indented_to_the_last_column() {
        let line = format!("  ✗ web-1   EP001 {}", "word ".repeat(20));
        let folded = fold(line.trim_end());
        let lines: Vec<&str> = folded.lines().collect();
        assert!(lines.len() == 2 && lines.iter().all(|line| width(line) <= WIDTH), "{folded}");
        assert!(lines[1].starts_with("            word") && !lines[0].ends_with(' '), "{folded}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&folded), words(&line));
    }

    #[test]
    fn rest_of_a_line_without_columns_is_indented_by_two() {
        let folded = fold(format!("  {}", "word ".repeat(20)).trim_end());
        assert!(folded.lines().nth(1).unwrap().starts_with("    word"), "{folded}");
    }

    #[test]
    fn colours_have_no_width() {
        let line = format!("\u{1b}[31m{}\u{1b}[0m", "x".repeat(WIDTH));
        assert_eq!((width(&line), fold(&line)), (WIDTH, line));
    }
}
