//! Splitting of YAML streams into documents.

/// Document of a YAML stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    /// Line number of the first line of `text`, from 1.
    pub(crate) line: usize,
    /// Text between the separators.
    pub(crate) text: &'a str,
}

/// Splits a YAML stream at its `---` and `...` lines.
///
/// In YAML, a marker at the beginning of a line ends the document even within a block scalar, so no parser is needed.
/// Splitting before parsing keeps document numbers correct after a syntax error. Documents without content (only
/// comments, blank lines or directives) are skipped, as in kubectl.
pub(crate) fn documents(stream: &str) -> Vec<Piece<'_>> {
    let stream = stream.strip_prefix('\u{feff}').unwrap_or(stream);
    let mut pieces = Vec::new();
    // Offset and line of the beginning of the current document.
    let (mut from, mut from_line) = (0, 1);
    let mut offset = 0;
    let mut lines = 0;
    for (at, line) in stream.split_inclusive('\n').enumerate() {
        if let Some(marker) = Marker::of(line) {
            pieces.push(Piece { line: from_line, text: &stream[from..offset] });
            // The rest of a `---` line belongs to the next document.
            let (skipped, first) = match marker {
                Marker::Begin => (3, at + 1),
                Marker::End => (line.len(), at + 2),
            };
            (from, from_line) = (offset + skipped, first);
        }
        offset += line.len();
        lines = at + 1;
    }
    debug_assert!(from_line <= lines + 1, "the last document begins after the end of the stream");
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
    fn documents_are_split_with_their_lines(#[case] stream: &str, #[case] expect: &[(usize, &str)]) {
        let got: Vec<_> = documents(stream).iter().map(|piece| (piece.line, piece.text)).collect();
        assert_eq!(got, expect);
    }
}
