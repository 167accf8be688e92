//! Formatting of tables as text.

use std::fmt::Write as _;

/// Difference between a row and the row with the same key in the previous table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Same,
    New,
    Changed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table<const N: usize> {
    /// Column names.
    pub(crate) header: [&'static str; N],
    /// Rows in display order.
    pub(crate) rows: Vec<Row<N>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row<const N: usize> {
    /// Identity of the row across tables: namespace and name of its object.
    pub(crate) key: String,
    /// Texts of the columns.
    pub(crate) cells: [String; N],
}

/// Selection of rows to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    All,
    Changed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Without escape sequences, for files and pipes.
    Plain,
    Colour,
}

impl Style {
    /// Returns `text` with the SGR code `code` applied, or unchanged without colours.
    pub(crate) fn paint(self, code: &str, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Colour => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }

    /// Returns `text`, a list of numbers of endpoints, with a colour for each that says whether they receive traffic.
    pub(crate) fn paint_states(self, text: &str) -> String {
        let painted =
            text.split(", ").map(|state| colour_of(state).map_or_else(|| state.to_owned(), |it| self.paint(it, state)));
        painted.collect::<Vec<_>>().join(", ")
    }
}

/// SGR codes by meaning.
pub(crate) mod style {
    pub(crate) const HEADING: &str = "1";
    pub(crate) const FAINT: &str = "2";
    /// Receives traffic.
    pub(crate) const GOOD: &str = "32";
    /// Is about to end.
    pub(crate) const ENDING: &str = "33";
    /// Receives no traffic.
    pub(crate) const BAD: &str = "31";
}

/// Returns the colour of a number of endpoints, such as `3 ready`; `None` for another text.
fn colour_of(state: &str) -> Option<&'static str> {
    let count = |suffix: &str| state.strip_suffix(suffix).is_some_and(|it| it.parse::<usize>().is_ok());
    match state {
        "none" => Some(style::BAD),
        _ if count(" ready") => Some(style::GOOD),
        _ if count(" not ready") => Some(style::BAD),
        _ if count(" draining") || count(" terminating") => Some(style::ENDING),
        _ => None,
    }
}

/// Separator of columns.
const GAP: &str = "  ";

impl<const N: usize> Table<N> {
    fn row(&self, key: &str) -> Option<&Row<N>> {
        self.rows.iter().find(|row| row.key == key)
    }

    /// Compares a row with the previous table.
    fn mark(before: Option<&Self>, row: &Row<N>) -> Mark {
        // Without a previous table, no row is marked.
        match before.map(|table| table.row(&row.key)) {
            None => Mark::Same,
            Some(None) => Mark::New,
            Some(Some(old)) if old == row => Mark::Same,
            Some(Some(_)) => Mark::Changed,
        }
    }

    /// Formats the table, one line per row after a header. Rows that differ from `before` are marked: `+` new, `*`
    /// changed. Empty if there is no row to print.
    pub(crate) fn render(&self, before: Option<&Self>, rows: Rows, style: Style) -> String {
        let selected = self.rows.iter().map(|row| (Self::mark(before, row), row));
        let selected: Vec<_> = selected.filter(|(mark, _)| rows == Rows::All || *mark != Mark::Same).collect();
        if selected.is_empty() {
            return String::new();
        }
        let mut widths = self.header.map(|name| name.chars().count());
        for (_, row) in &selected {
            for (width, cell) in widths.iter_mut().zip(&row.cells) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let mut text = String::new();
        let mut push = |mark: &str, cells: &[&str], paint: &dyn Fn(&str) -> String| {
            let mut line = format!("{mark} ");
            for (at, (cell, width)) in cells.iter().zip(widths).enumerate() {
                let gap = if at == 0 { "" } else { GAP };
                // The padding is computed before colours are added.
                let padding = " ".repeat(width - cell.chars().count());
                // Writing to a string cannot fail.
                let _ = write!(line, "{gap}{}{padding}", paint(cell));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        };
        push(" ", &self.header, &|cell| style.paint(style::HEADING, cell));
        for (mark, row) in selected {
            let mark = match mark {
                Mark::Same => " ".to_owned(),
                Mark::New => style.paint(style::HEADING, "+"),
                Mark::Changed => style.paint(style::HEADING, "*"),
            };
            push(&mark, &row.cells.each_ref().map(String::as_str), &|cell| style.paint_states(cell));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn table(rows: &[(&str, &str)]) -> Table<2> {
        let row = |&(key, state): &(&str, &str)| Row { key: key.to_owned(), cells: [key.to_owned(), state.to_owned()] };
        Table { header: ["NAME", "STATE"], rows: rows.iter().map(row).collect() }
    }

    #[test]
    fn columns_have_the_width_of_their_widest_cell() {
        let text = table(&[("web", "3 ready"), ("assets", "")]).render(None, Rows::All, Style::Plain);
        assert_eq!(text, "  NAME    STATE\n  web     3 ready\n  assets\n");
    }

    #[test]
    fn width_is_counted_in_characters() {
        let text = table(&[("wéb", "x"), ("api", "y")]).render(None, Rows::All, Style::Plain);
        assert_eq!(text, "  NAME  STATE\n  wéb   x\n  api   y\n");
    }

    #[test]
    fn new_and_changed_rows_are_marked() {
        let before = table(&[("a", "1"), ("b", "1"), ("gone", "1")]);
        let text = table(&[("a", "1"), ("b", "2"), ("c", "1")]).render(Some(&before), Rows::All, Style::Plain);
        assert_eq!(text, "  NAME  STATE\n  a     1\n* b     2\n+ c     1\n");
    }

    #[test]
    fn colours_do_not_change_the_widths() {
        let table = table(&[("a", "1 ready, 2 not ready"), ("b", "none")]);
        let coloured = table.render(None, Rows::All, Style::Colour);
        let plain: String = coloured.split('\u{1b}').map(|part| part.split_once('m').map_or(part, |it| it.1)).collect();
        assert_eq!(plain, table.render(None, Rows::All, Style::Plain));
        assert!(coloured.contains("\u{1b}[32m1 ready\u{1b}[0m, \u{1b}[31m2 not ready\u{1b}[0m"), "{coloured:?}");
    }

    #[rstest]
    #[case("3 ready", "\u{1b}[32m3 ready\u{1b}[0m")]
    #[case("1 draining, 2 terminating", "\u{1b}[33m1 draining\u{1b}[0m, \u{1b}[33m2 terminating\u{1b}[0m")]
    #[case("none", "\u{1b}[31mnone\u{1b}[0m")]
    #[case("shop/web", "shop/web")]
    fn colours_say_whether_endpoints_receive_traffic(#[case] text: &str, #[case] expect: &str) {
        assert_eq!(Style::Colour.paint_states(text), expect);
        assert_eq!(Style::Plain.paint_states(text), text);
    }

    #[test]
    fn only_changed_rows_are_printed_if_selected() {
        let before = table(&[("long name", "1"), ("b", "1")]);
        let text = table(&[("long name", "1"), ("b", "2")]).render(Some(&before), Rows::Changed, Style::Plain);
        assert_eq!(text, "  NAME  STATE\n* b     2\n");
    }

    #[test]
    fn table_without_rows_is_empty() {
        let same = table(&[("a", "1")]);
        assert_eq!(same.render(Some(&same), Rows::Changed, Style::Plain), "");
        assert_eq!(table(&[]).render(None, Rows::All, Style::Plain), "");
    }
}
