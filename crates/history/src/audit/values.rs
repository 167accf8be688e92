//! Cuts a log into JSON values.

use std::io::{self, BufRead};

use memchr::memchr3;

/// Longest value that is read, in bytes. Longer ones are skipped.
pub(super) const LONGEST: usize = 8 << 20;

/// Fields of a document with values that are read one by one: exports of Amazon and Azure, lists of kubectl, and `EventList`.
const LISTS: [&[u8]; 4] = [b"events", b"items", b"logEvents", b"records"];
const LONGEST_LIST_NAME: usize = 9;

/// What was found in a log, and the number of its first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A value, which [`Values::value`] returns.
    Value(u64),
    /// A line with something else, or a value that ends early.
    Foreign(u64),
    /// A value that is longer than [`LONGEST`].
    TooLong(u64),
}

/// The JSON objects of a log: one a line, after a prefix such as a time, or over several lines; also the elements of arrays, and of
/// the [lists](LISTS) of documents.
///
/// A document or an array is never kept as a whole. After a value that ends early, such as one that a rotation has cut off, reading
/// goes on with the next line.
pub(super) struct Values<R> {
    input: R,
    scanner: Scanner,
}

/// State between two bytes.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties")]
struct Scanner {
    value: Vec<u8>,
    /// Beginning of the last string of the object itself, which is the name before a list.
    name: Vec<u8>,
    /// Number of lines that have ended.
    lines: u64,
    /// Line on which the value began.
    began: u64,
    /// Number of open objects and arrays of the value; 0 between values.
    depth: u64,
    in_string: bool,
    is_escaped: bool,
    is_at_line_start: bool,
    is_too_long: bool,
    /// Whether the value is one of the list of a document.
    in_list: bool,
    /// Whether this is the rest of a document after its list.
    in_rest: bool,
    /// Whether the line has something that is no value.
    is_foreign: bool,
}

impl<R: BufRead> Values<R> {
    pub(super) fn new(input: R) -> Values<R> {
        Values { input, scanner: Scanner::default() }
    }

    /// Returns the value that was found last.
    pub(super) fn value(&self) -> &[u8] {
        &self.scanner.value
    }

    /// Reads on; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Found>> {
        loop {
            let bytes = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            if bytes.is_empty() {
                return Ok(self.scanner.end());
            }
            let (read, found) = self.scanner.scan(bytes);
            self.input.consume(read);
            if found.is_some() {
                return Ok(found);
            }
        }
    }
}

impl Scanner {
    /// Reads bytes until something is found. Returns the number of bytes.
    fn scan(&mut self, bytes: &[u8]) -> (usize, Option<Found>) {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let (read, found) = match (self.depth, self.in_string) {
                (0, _) => (1, self.between(rest[0])),
                (_, true) => self.string(rest),
                (_, false) if self.begins_another(rest[0]) => (0, Some(self.cut_off())),
                (_, false) => (1, self.structure(rest[0])),
            };
            at += read;
            if found.is_some() {
                return (at, found);
            }
        }
        (at, None)
    }

    /// Returns what the end of the file makes of what was read.
    fn end(&mut self) -> Option<Found> {
        if self.depth > 0 {
            let is_rest = self.in_rest;
            let found = self.cut_off();
            return (!is_rest).then_some(found);
        }
        std::mem::take(&mut self.is_foreign).then_some(Found::Foreign(self.lines + 1))
    }

    /// Reads a byte between values.
    fn between(&mut self, byte: u8) -> Option<Found> {
        match byte {
            b'{' => {
                self.value.clear();
                self.name.clear();
                (self.depth, self.began) = (1, self.lines + 1);
                (self.is_foreign, self.is_at_line_start) = (false, false);
                self.keep(b"{");
            }
            b']' if self.in_list => {
                (self.in_list, self.in_rest) = (false, true);
                (self.depth, self.began) = (1, self.lines + 1);
            }
            b'\n' => {
                self.lines += 1;
                return std::mem::take(&mut self.is_foreign).then_some(Found::Foreign(self.lines));
            }
            b' ' | b'\t' | b'\r' | b',' | b'[' | b']' => {}
            _ => self.is_foreign = true,
        }
        None
    }

    /// Reads a part of a string, which begins with `rest`.
    fn string(&mut self, rest: &[u8]) -> (usize, Option<Found>) {
        if std::mem::take(&mut self.is_escaped) && rest[0] != b'\n' {
            self.keep(&rest[..1]);
            return (1, None);
        }
        let end = memchr3(b'"', b'\\', b'\n', rest);
        let run = &rest[..end.unwrap_or(rest.len())];
        if self.depth == 1 {
            let space = LONGEST_LIST_NAME + 1 - self.name.len();
            self.name.extend_from_slice(&run[..run.len().min(space)]);
        }
        self.keep(run);
        let Some(byte) = end.and_then(|end| rest.get(end..=end)) else { return (run.len(), None) };
        match byte {
            // No string has a line feed.
            b"\n" => return (run.len(), Some(self.cut_off())),
            b"\"" => self.in_string = false,
            _ => self.is_escaped = true,
        }
        self.keep(byte);
        (run.len() + 1, None)
    }

    /// Reads a byte of a value that is not in a string.
    fn structure(&mut self, byte: u8) -> Option<Found> {
        match byte {
            b'"' => {
                self.in_string = true;
                if self.depth == 1 {
                    self.name.clear();
                }
            }
            b'[' if self.depth == 1 && !self.in_rest && LISTS.contains(&&*self.name) => {
                (self.depth, self.in_list, self.is_too_long) = (0, true, false);
                return None;
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth -= 1,
            b'\n' => {
                self.lines += 1;
                self.is_at_line_start = true;
            }
            _ => {}
        }
        self.keep(&[byte]);
        if self.depth > 0 || std::mem::take(&mut self.in_rest) {
            return None;
        }
        Some(if std::mem::take(&mut self.is_too_long) { Found::TooLong(self.began) } else { Found::Value(self.began) })
    }

    /// Returns whether a byte begins a line that does not continue the value: lines of values that have several are indented, or
    /// end something.
    fn begins_another(&mut self, byte: u8) -> bool {
        let continues = matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'}' | b']' | b',' | b':' | b'"');
        std::mem::take(&mut self.is_at_line_start) && !continues
    }

    /// Gives up a value that ends early.
    fn cut_off(&mut self) -> Found {
        (self.depth, self.in_string, self.is_escaped) = (0, false, false);
        (self.in_rest, self.is_at_line_start) = (false, false);
        let is_too_long = std::mem::take(&mut self.is_too_long);
        if is_too_long { Found::TooLong(self.began) } else { Found::Foreign(self.began) }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.in_rest || self.is_too_long {
            return;
        }
        if self.value.len() + bytes.len() > LONGEST {
            self.is_too_long = true;
            self.value.clear();
        } else {
            self.value.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use rstest::rstest;

    use super::*;

    /// Returns what is found: values as they are, other things as `foreign`, each after its line.
    fn found(log: &[u8], buffer: usize) -> Vec<String> {
        let mut values = Values::new(BufReader::with_capacity(buffer, log));
        let mut all = Vec::new();
        while let Some(found) = values.next().unwrap() {
            all.push(match found {
                Found::Value(line) => format!("{line} {}", String::from_utf8_lossy(values.value()).replace('\n', "")),
                Found::Foreign(line) => format!("{line} foreign"),
                Found::TooLong(line) => format!("{line} too long"),
            });
        }
        all
    }

    #[rstest]
    #[case::lines("{\"a\":1}\n\n{\"b\":{}}\r\n", &["1 {\"a\":1}", "3 {\"b\":{}}"])]
    #[case::no_end_of_line("{}", &["1 {}"])]
    #[case::after_a_time("2026-11-27T14:00:00.000Z {\"a\":\"}\"}\n", &["1 {\"a\":\"}\"}"])]
    #[case::escapes(r#"{"a":"\"{\\"}{}"#, &[r#"1 {"a":"\"{\\"}"#, "1 {}"])]
    #[case::over_lines("{\n  \"a\": [\n    1\n  ]\n}\n{}", &["1 {  \"a\": [    1  ]}", "6 {}"])]
    #[case::array("[{\"a\":1},\n{\"b\":2}\n]\n", &["1 {\"a\":1}", "2 {\"b\":2}"])]
    #[case::indented_array("[\n  {\n    \"a\": 1\n  }\n]", &["2 {    \"a\": 1  }"])]
    #[case::list("{\"records\":[{\"a\":1},{\"b\":2}],\"c\":{\"d\":[{}]}}\n{}", &["1 {\"a\":1}", "1 {\"b\":2}", "2 {}"])]
    #[case::list_at_the_end("{\"kind\":\"EventList\",\"metadata\":{},\"items\": [{\"a\":1}]}", &["1 {\"a\":1}"])]
    #[case::empty_list("{\"events\": []}\n{}", &["2 {}"])]
    #[case::inner_list("{\"a\":{\"events\":[1]}}", &["1 {\"a\":{\"events\":[1]}}"])]
    #[case::other_list("{\"recordsets\":[1]}", &["1 {\"recordsets\":[1]}"])]
    #[case::text("I1127 started\n{}\n", &["1 foreign", "2 {}"])]
    #[case::last_text("{}\nend", &["1 {}", "2 foreign"])]
    #[case::cut_off_in_a_string("{\"a\":\"b\n{\"c\":1}\n", &["1 foreign", "2 {\"c\":1}"])]
    #[case::cut_off_after_an_escape("{\"a\":\"b\\\n{\"c\":1}\n", &["1 foreign", "2 {\"c\":1}"])]
    #[case::cut_off_between("{\"a\":[1,\n{\"c\":1}\n", &["1 foreign", "2 {\"c\":1}"])]
    #[case::cut_off_before_a_time("{\"a\":{\n2026-11-27T14:00:00Z {}\n", &["1 foreign", "2 {}"])]
    #[case::cut_off_at_the_end("{}\n{\"a\":", &["1 {}", "2 foreign"])]
    #[case::cut_off_list("{\"records\":[{\"a\":1},{\"b\"", &["1 {\"a\":1}", "1 foreign"])]
    #[case::cut_off_after_a_list("{\"records\":[{\"a\":1}],\"b", &["1 {\"a\":1}"])]
    #[case::too_many_ends("}}]]\n{}", &["1 foreign", "2 {}"])]
    fn values_are_found(#[case] log: &str, #[case] expected: &[&str]) {
        for buffer in [1, 2, 3, 7, 64 << 10] {
            assert_eq!(found(log.as_bytes(), buffer), expected, "with a buffer of {buffer} bytes");
        }
    }

    #[test]
    fn long_values_are_skipped() {
        let long = |length: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(length - 8));
        let log = format!("{}\n{}\n{{}}\n{}", long(LONGEST), long(LONGEST + 1), &long(LONGEST + 9)[..=LONGEST]);
        let all = found(log.as_bytes(), 64 << 10);
        let lengths: Vec<usize> = all.iter().map(String::len).collect();
        assert_eq!(lengths, [LONGEST + 2, 10, 4, 10]);
        assert_eq!((&*all[1], &*all[3]), ("2 too long", "4 too long"));
    }

    #[test]
    fn any_bytes_and_any_depth_are_read() {
        let bytes: Vec<u8> = (0..=255).chain([0xff, b'\n', b'{', 0xc3, 0x28, b'}']).collect();
        assert_eq!(found(&bytes, 16).last().unwrap().split(' ').next(), Some("3"));
        let deep = ["[".repeat(100_000), "{\"a\":".repeat(100_000), "}".repeat(100_000)].concat();
        assert_eq!(found(deep.as_bytes(), 64 << 10).len(), 1);
    }
}
