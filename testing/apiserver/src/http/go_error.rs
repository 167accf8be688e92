//! Errors of Go's JSON decoder.

/// Sequences of bytes in messages of `serde_json`, and how Go says where a character is wrong.
const CONTEXTS: [(&str, &str); 6] = [
    ("expected value", "looking for beginning of value"),
    ("expected `,` or `}`", "after object key:value pair"),
    ("expected `,` or `]`", "after array element"),
    ("expected `:`", "after object key"),
    ("key must be a string", "looking for beginning of object key string"),
    ("trailing characters", "after top-level value"),
];

/// Returns Go's message about malformed JSON; that of `serde_json` for a rare error, such as a number that is too large.
pub(super) fn go_syntax_error(error: &serde_json::Error, body: &[u8]) -> String {
    let message = error.to_string();
    if error.is_eof() {
        return "unexpected end of JSON input".to_owned();
    }
    let context = CONTEXTS.iter().find(|(start, _)| message.starts_with(start)).map(|(_, context)| context);
    let line = body.split(|byte| *byte == b'\n').nth(error.line().saturating_sub(1));
    let character = line.and_then(|line| line.get(error.column().checked_sub(1)?));
    match (context, character) {
        (Some(context), Some(byte)) => format!("invalid character {} {context}", quoted(*byte)),
        _ => message,
    }
}

/// Quotes a byte as Go's `quoteChar`.
fn quoted(byte: u8) -> String {
    match byte {
        b'\'' => r"'\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        b'\\' => r"'\\'".to_owned(),
        byte => format!("'{}'", char::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::Value;

    use super::*;

    #[rstest]
    #[case::empty("", "unexpected end of JSON input")]
    #[case::open("{", "unexpected end of JSON input")]
    #[case::no_value("{\"a\":}", "invalid character '}' looking for beginning of value")]
    #[case::text("spec", "invalid character 's' looking for beginning of value")]
    #[case::second_line("{\n\"a\" 1}", "invalid character '1' after object key")]
    #[case::no_comma("{\"a\":1 \"b\":2}", "invalid character '\"' after object key:value pair")]
    #[case::no_comma_in_a_list("[1 2]", "invalid character '2' after array element")]
    #[case::no_key("{a:1}", "invalid character 'a' looking for beginning of object key string")]
    #[case::single_quotes("{'a':1}", r"invalid character '\'' looking for beginning of object key string")]
    #[case::two_values("{}x", "invalid character 'x' after top-level value")]
    fn malformed_json(#[case] text: &str, #[case] expect: &str) {
        let error = serde_json::from_str::<Value>(text).unwrap_err();
        assert_eq!(go_syntax_error(&error, text.as_bytes()), expect);
    }
}
