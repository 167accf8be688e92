//! Formatting of tables as text.

use std::fmt::Write as _;

/// Difference between a row and the row with the same key in the previous table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Same,
    New,
    Changed,
}

/// Table with `N` columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table<const N: usize> {
    /// Column names.
    pub(crate) header: [&'static str; N],
    /// Rows in display order.
    pub(crate) rows: Vec<Row<N>>,
}

/// Row of a table.
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
    /// All rows.
    All,
    /// New and changed rows.
    Changed,
}

/// Output style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Without escape sequences, for files and pipes.
    Plain,
    /// With colours, for terminals.
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
}

/// SGR codes by meaning.
pub(crate) mod style {
    pub(crate) const HEADING: &str = "1";
    pub(crate) const FAINT: &str = "2";
    pub(crate) const NEW: &str = "32";
    pub(crate) const CHANGED: &str = "33";
}

/// Separator of columns.
const GAP: &str = "   ";

impl<const N: usize> Table<N> {
    /// Returns the row with this key.
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
        let mut push = |mark: char, cells: &[&str], code: Option<&str>| {
            let mut line = format!("{mark} ");
            for (at, (cell, width)) in cells.iter().zip(widths).enumerate() {
                let gap = if at == 0 { "" } else { GAP };
                // Writing to a string cannot fail.
                let _ = write!(line, "{gap}{cell:width$}");
            }
            let line = line.trim_end();
            text.push_str(&code.map_or_else(|| line.to_owned(), |code| style.paint(code, line)));
            text.push('\n');
        };
        push(' ', &self.header, Some(style::HEADING));
        for (mark, row) in selected {
            let (mark, code) = match mark {
                Mark::Same => (' ', None),
                Mark::New => ('+', Some(style::NEW)),
                Mark::Changed => ('*', Some(style::CHANGED)),
            };
            push(mark, &row.cells.each_ref().map(String::as_str), code);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(&str, &str)]) -> Table<2> {
        let row = |&(key, state): &(&str, &str)| Row { key: key.to_owned(), cells: [key.to_owned(), state.to_owned()] };
        Table { header: ["NAME", "STATE"], rows: rows.iter().map(row).collect() }
    }

    #[test]
    fn columns_have_the_width_of_their_widest_cell() {
        let text = table(&[("web", "3 ready"), ("assets", "")]).render(None, Rows::All, Style::Plain);
        assert_eq!(text, "  NAME     STATE\n  web      3 ready\n  assets\n");
    }

    #[test]
    fn width_is_counted_in_characters() {
        let text = table(&[("wéb", "x"), ("api", "y")]).render(None, Rows::All, Style::Plain);
        assert_eq!(text, "  NAME   STATE\n  wéb    x\n  api    y\n");
    }

    #[test]
    fn new_and_changed_rows_are_marked() {
        let before = table(&[("a", "1"), ("b", "1"), ("gone", "1")]);
        let text = table(&[("a", "1"), ("b", "2"), ("c", "1")]).render(Some(&before), Rows::All, Style::Plain);
        assert_eq!(text, "  NAME   STATE\n  a      1\n* b      2\n+ c      1\n");
    }

    #[test]
    fn whole_lines_are_coloured() {
        let text = table(&[("a", "1")]).render(Some(&table(&[])), Rows::All, Style::Colour);
        assert_eq!(text, "\u{1b}[1m  NAME   STATE\u{1b}[0m\n\u{1b}[32m+ a      1\u{1b}[0m\n");
    }

    #[test]
    fn only_changed_rows_are_printed_if_selected() {
        let before = table(&[("long name", "1"), ("b", "1")]);
        let text = table(&[("long name", "1"), ("b", "2")]).render(Some(&before), Rows::Changed, Style::Plain);
        assert_eq!(text, "  NAME   STATE\n* b      2\n");
    }

    #[test]
    fn table_without_rows_is_empty() {
        let same = table(&[("a", "1")]);
        assert_eq!(same.render(Some(&same), Rows::Changed, Style::Plain), "");
        assert_eq!(table(&[]).render(None, Rows::All, Style::Plain), "");
    }
}
