//! Incremental scanner that finds the end of a JSON value.

/// Finds the end of one JSON value that arrives in chunks. Syntax is not checked; the decoder of the value does that.
#[derive(Debug)]
pub(crate) struct ValueScanner {
    state: ScanState,
    /// Number of open objects and arrays.
    depth: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScanState {
    /// Before the first byte of an object, an array or a string.
    Start,
    /// In a number or literal, which ends before a delimiter or white space.
    Bare,
    /// In an object or array, outside of strings.
    Container,
    String,
    /// In a string, after a backslash.
    Escape,
}

impl ValueScanner {
    /// Returns a scanner for a value whose first byte is `first`. That byte must also be passed to [`end`](Self::end).
    pub(crate) fn new(first: u8) -> Self {
        let state = if matches!(first, b'{' | b'[' | b'"') { ScanState::Start } else { ScanState::Bare };
        Self { state, depth: 0 }
    }

    /// Returns how many of the next `bytes` belong to the value; `None` if it does not end in them.
    pub(crate) fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut seen = 0;
        while let rest @ [first, ..] = &bytes[seen..] {
            match self.state {
                ScanState::Bare => {
                    let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
                    return rest.iter().position(ends);
                }
                ScanState::Start => {
                    seen += 1;
                    if *first == b'"' {
                        self.state = ScanState::String;
                    } else {
                        (self.state, self.depth) = (ScanState::Container, 1);
                    }
                    continue;
                }
                ScanState::Container => seen += self.container(rest),
                ScanState::String => seen += self.string(rest),
                ScanState::Escape => {
                    seen += 1;
                    self.state = ScanState::String;
                }
            }
            if self.depth == 0 && self.state == ScanState::Container {
                return Some(seen);
            }
        }
        None
    }

    /// Reads to the end of the string, past a backslash, or to the end of `bytes`. Returns how many bytes were read.
    #[inline]
    fn string(&mut self, bytes: &[u8]) -> usize {
        match end_of_text(bytes) {
            Some(at) => {
                self.state = if bytes[at] == b'"' { ScanState::Container } else { ScanState::Escape };
                at + 1
            }
            None => bytes.len(),
        }
    }

    /// Reads past the opening quote of a string, or to the end of the value or `bytes`. Returns the number read.
    #[inline]
    fn container(&mut self, bytes: &[u8]) -> usize {
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'"' => {
                    self.state = ScanState::String;
                    return at + 1;
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return at + 1;
                    }
                }
                _ => {}
            }
        }
        bytes.len()
    }
}

/// Returns the position of the first quote or backslash. Compares eight bytes at a time.
#[inline]
fn end_of_text(bytes: &[u8]) -> Option<usize> {
    const fn all(byte: u8) -> u64 {
        u64::from_ne_bytes([byte; 8])
    }
    const fn zeros(eight: u64) -> u64 {
        eight.wrapping_sub(all(1)) & !eight & all(0x80)
    }
    let (eights, rest) = bytes.as_chunks::<8>();
    for (at, eight) in eights.iter().enumerate() {
        let eight = u64::from_le_bytes(*eight);
        let found = zeros(eight ^ all(b'"')) | zeros(eight ^ all(b'\\'));
        if found != 0 {
            return Some(at * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let at = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    Some(bytes.len() - rest.len() + at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(r#"{"a":[1,{"b":2}]},"#, 17)]
    #[case("[[],{}] ", 7)]
    #[case(r#""a\"b\\","#, 8)]
    #[case(r#"{"}":"]\"{","\\":1}x"#, 19)]
    #[case("null,", 4)]
    #[case("-1.5e3}", 6)]
    #[case("true ", 4)]
    #[case("7]", 1)]
    #[case(r#"{"a text of more than eight":"bytes, \"quoted\" and \\ escaped"}, "#, 64)]
    fn finds_the_end_with_any_chunk_size(#[case] text: &str, #[case] expect: usize) {
        let bytes = text.as_bytes();
        for step in 1..=bytes.len() {
            let mut scanner = ValueScanner::new(bytes[0]);
            let mut before = 0;
            let end = bytes.chunks(step).find_map(|chunk| {
                let end = scanner.end(chunk).map(|length| before + length);
                before += chunk.len();
                end
            });
            assert_eq!(end, Some(expect), "in steps of {step}");
        }
    }

    proptest! {
        #[test]
        fn finds_the_first_quote_or_backslash(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'"'), Just(b'#')], 0..40)) {
            let mut scanner = ValueScanner { state: ScanState::String, depth: 1 };
            let found = bytes.iter().position(|byte| matches!(byte, b'"' | b'\\'));
            prop_assert_eq!(scanner.string(&bytes), found.map_or(bytes.len(), |at| at + 1));
        }
    }
}
