//! Markdown tables with aligned columns.

use indicatif::HumanCount;

/// Formats a Markdown table; columns are padded to equal width.
pub(crate) fn table(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let rows: Vec<Vec<String>> = rows.collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([header[column].len(), 3]).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!(" {cell:width$} "));
        format!("|{}|\n", cells.collect::<Vec<_>>().join("|"))
    };
    let rules: Vec<String> = widths.iter().map(|width| "-".repeat(width + 2)).collect();
    let rule = format!("|{}|\n", rules.join("|"));
    let body = rows.iter().map(|row| line(row.iter().map(String::as_str).collect()));
    line(header.to_vec()) + &rule + &body.collect::<String>()
}

/// Formats a number with commas as thousands separators.
pub(crate) fn number(number: u64) -> String {
    HumanCount(number).to_string()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows = [vec!["start".to_owned(), "1".to_owned()], vec!["a".to_owned(), "2,000".to_owned()]];
        let expect = "\
| Work  | CPU   |
|-------|-------|
| start | 1     |
| a     | 2,000 |
";
        assert_eq!(table(&["Work", "CPU"], rows.into_iter()), expect);
    }

    #[rstest]
    #[case(0, "0")]
    #[case(999, "999")]
    #[case(1_000, "1,000")]
    #[case(1_234_567, "1,234,567")]
    fn thousands(#[case] value: u64, #[case] expect: &str) {
        assert_eq!(number(value), expect);
    }
}
