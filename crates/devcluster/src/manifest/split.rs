//! Where one document of a YAML stream ends and the next begins.

/// One document of a stream: its text, and the line of the file that its first line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    /// The first line of `text`, counted from 1.
    pub(crate) line: usize,
    /// Everything between the separators.
    pub(crate) text: &'a str,
}

/// Splits a YAML stream at its `---` and `...` lines.
///
/// A marker at the beginning of a line ends a document whatever it is inside of, block scalars included, so this needs no
/// parser; and splitting first means that a mistake in one document does not hide the number of the next.
/// Documents without content (comments, blank lines, directives only) are left out, as kubectl does.
pub(crate) fn documents(stream: &str) -> Vec<Piece<'_>> {
    let stream = stream.strip_prefix('\u{feff}').unwrap_or(stream);
    let mut pieces = Vec::new();
    // Where the current document begins: offset and line.
    let (mut from, mut from_line) = (0, 1);
    let mut offset = 0;
    let mut lines = 0;
    for (at, line) in stream.split_inclusive('\n').enumerate() {
        if let Some(marker) = Marker::of(line) {
            pieces.push(Piece { line: from_line, text: &stream[from..offset] });
            // What follows `---` on its line belongs to the document it begins.
            let (skipped, first) = match marker {
                Marker::Begin => (3, at + 1),
                Marker::End => (line.len(), at + 2),
            };
            (from, from_line) = (offset + skipped, first);
        }
        offset += line.len();
        lines = at + 1;
    }
    debug_assert!(from_line <= lines + 1, "a document begins within the stream or right after it");
    pieces.push(Piece { line: from_line, text: &stream[from..] });
    pieces.retain(has_content);
    pieces
}

enum Marker {
    Begin,
    End,
}

impl Marker {
    fn of(line: &str) -> Option<Self> {
        let (marker, rest) = if let Some(rest) = line.strip_prefix("---") {
            (Self::Begin, rest)
        } else {
            (Self::End, line.strip_prefix("...")?)
        };
        rest.is_empty().then_some(()).or_else(|| rest.starts_with([' ', '\t', '\r', '\n']).then_some(()))?;
        Some(marker)
    }
}

fn has_content(piece: &Piece<'_>) -> bool {
    piece.text.lines().map(str::trim).any(|line| !line.is_empty() && !line.starts_with(['#', '%']))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::nothing("", &[])]
    #[case::comments("# a\n---\n# b\n", &[])]
    #[case::one("a: 1\n", &[(1, "a: 1\n")])]
    #[case::two("a: 1\n---\nb: 2\n", &[(1, "a: 1\n"), (2, "\nb: 2\n")])]
    #[case::leading_separator("---\na: 1\n", &[(1, "\na: 1\n")])]
    #[case::empty_between("a: 1\n---\n---\nb: 2\n", &[(1, "a: 1\n"), (3, "\nb: 2\n")])]
    #[case::content_after_the_marker("--- {a: 1}\n--- # note\nb: 2", &[(1, " {a: 1}\n"), (2, " # note\nb: 2")])]
    #[case::end_marker("a: 1\n...\n# over\n---\nb: 2\n", &[(1, "a: 1\n"), (4, "\nb: 2\n")])]
    #[case::longer_dashes_are_text("a: |\n  x\n----\n", &[(1, "a: |\n  x\n----\n")])]
    #[case::indented_is_text("a: |\n  ---\n  x\n", &[(1, "a: |\n  ---\n  x\n")])]
    #[case::windows("a: 1\r\n---\r\nb: 2\r\n", &[(1, "a: 1\r\n"), (2, "\r\nb: 2\r\n")])]
    #[case::byte_order_mark("\u{feff}a: 1\n", &[(1, "a: 1\n")])]
    fn splits(#[case] stream: &str, #[case] expect: &[(usize, &str)]) {
        let got: Vec<_> = documents(stream).iter().map(|piece| (piece.line, piece.text)).collect();
        assert_eq!(got, expect);
    }
}
