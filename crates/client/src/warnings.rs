//! `Warning` headers of responses, deduplicated for the log.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use http::{HeaderMap, header::WARNING};

/// The distinct warnings of a client so far. The server repeats a warning in every response; each is logged once.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    heard: Mutex<HashSet<String>>,
}

/// Maximum number of distinct warnings remembered; later ones are dropped.
const MOST: usize = 64;

impl Warnings {
    /// Returns the warnings of a response that have not been returned before.
    pub(crate) fn news(&self, headers: &HeaderMap) -> Vec<String> {
        let mut news = Vec::new();
        for text in headers.get_all(WARNING).iter().filter_map(|value| text(value.to_str().ok()?)) {
            let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
            if heard.len() < MOST && heard.insert(text.clone()) {
                news.push(text);
            }
        }
        news
    }
}

/// Parses `299 - "text"`. Kubernetes sends the code 299 only, and client-go ignores all others.
fn text(value: &str) -> Option<String> {
    let (_agent, quoted) = value.trim().strip_prefix("299 ")?.split_once(' ')?;
    let quoted = quoted.trim_start().strip_prefix('"')?;
    let mut text = String::new();
    let mut letters = quoted.chars();
    loop {
        match letters.next()? {
            '"' => return Some(text),
            '\\' => text.push(letters.next()?),
            letter => text.push(letter),
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
    fn texts(#[case] value: &str, #[case] expect: Option<&str>) {
        assert_eq!(text(value).as_deref(), expect);
    }

    fn headers(texts: &[String]) -> HeaderMap {
        let value = |text: &String| HeaderValue::from_str(&format!("299 - \"{text}\"")).unwrap();
        texts.iter().map(|text| (WARNING, value(text))).collect()
    }

    #[test]
    fn each_is_news_once_and_not_for_ever() {
        let warnings = Warnings::default();
        let (one, other) = ("one".to_owned(), "other".to_owned());
        assert_eq!(warnings.news(&headers(&[one.clone(), other.clone()])), [one.clone(), other]);
        assert!(warnings.news(&headers(&[one])).is_empty());
        let flood: Vec<String> = (0..2 * MOST).map(|number| number.to_string()).collect();
        let heard: usize = flood.iter().map(|text| warnings.news(&headers(std::slice::from_ref(text))).len()).sum();
        assert_eq!(heard, MOST - 2);
        assert!(warnings.news(&HeaderMap::new()).is_empty());
    }
}
