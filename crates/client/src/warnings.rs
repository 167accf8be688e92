//! `Warning` headers of responses, deduplicated for the log.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use http::{HeaderMap, header::WARNING};

/// The distinct warnings of a client so far. The server repeats a warning in every response; each is logged once.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    seen: Mutex<HashSet<String>>,
    /// Whether all are dropped.
    ignored: bool,
}

/// Maximum number of distinct warnings remembered; later ones are dropped.
const MAX_WARNINGS: usize = 64;

impl Warnings {
    pub(crate) fn new(logged: bool) -> Self {
        Self { ignored: !logged, ..Self::default() }
    }

    pub(crate) fn new_warnings(&self, headers: &HeaderMap) -> Vec<String> {
        let mut unseen = Vec::new();
        if self.ignored {
            return unseen;
        }
        for text in headers.get_all(WARNING).iter().filter_map(|value| parse_warning(value.to_str().ok()?)) {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            if seen.len() < MAX_WARNINGS && seen.insert(text.clone()) {
                unseen.push(text);
            }
        }
        unseen
    }
}

/// Parses `299 - "text"`. Kubernetes sends the code 299 only, and client-go ignores all others.
fn parse_warning(value: &str) -> Option<String> {
    let (_agent, quoted) = value.trim().strip_prefix("299 ")?.split_once(' ')?;
    let quoted = quoted.trim_start().strip_prefix('"')?;
    let mut text = String::new();
    let mut chars = quoted.chars();
    loop {
        match chars.next()? {
            '"' => return Some(text),
            '\\' => text.push(chars.next()?),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use rstest::rstest;

    use super::*;

    // client-go: TestParseWarningHeader (apimachinery util/net/http_test.go)
    #[rstest]
    #[case::plain(r#"299 - "v1 Endpoints is deprecated""#, Some("v1 Endpoints is deprecated"))]
    #[case::agent(r#"299 kube:6443 "text""#, Some("text"))]
    #[case::quotes(r#"299 - "a \"b\" \\c""#, Some(r#"a "b" \c"#))]
    #[case::date(r#"299 - "text" "Wed, 21 Oct 2026 07:28:00 GMT""#, Some("text"))]
    #[case::empty(r#"299 - """#, Some(""))]
    #[case::another_code(r#"199 - "text""#, None)]
    #[case::no_agent(r#"299 "text""#, None)]
    #[case::no_quotes("299 - text", None)]
    #[case::no_end(r#"299 - "text"#, None)]
    #[case::nothing("", None)]
    fn warning_text_is_parsed(#[case] value: &str, #[case] expect: Option<&str>) {
        assert_eq!(parse_warning(value).as_deref(), expect);
    }

    fn headers(texts: &[String]) -> HeaderMap {
        let value = |text: &String| HeaderValue::from_str(&format!("299 - \"{text}\"")).unwrap();
        texts.iter().map(|text| (WARNING, value(text))).collect()
    }

    #[test]
    fn each_warning_is_returned_once_up_to_the_limit() {
        let warnings = Warnings::default();
        let (one, other) = ("one".to_owned(), "other".to_owned());
        assert_eq!(warnings.new_warnings(&headers(&[one.clone(), other.clone()])), [one.clone(), other]);
        assert!(warnings.new_warnings(&headers(std::slice::from_ref(&one))).is_empty());
        assert!(Warnings::new(false).new_warnings(&headers(&[one])).is_empty());
        let flood: Vec<String> = (0..2 * MAX_WARNINGS).map(|number| number.to_string()).collect();
        let returned: usize =
            flood.iter().map(|text| warnings.new_warnings(&headers(std::slice::from_ref(text))).len()).sum();
        assert_eq!(returned, MAX_WARNINGS - 2);
        assert!(warnings.new_warnings(&HeaderMap::new()).is_empty());
    }
}
