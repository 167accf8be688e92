//! Syntax of names, labels and annotations, and generation of names.

use std::collections::BTreeMap;

use rand::{Rng, RngExt as _};

use crate::field::FieldErrors;

const LABEL_MAX: usize = 63;
const SUBDOMAIN_MAX: usize = 253;
const PORT_NAME_MAX: usize = 15;
/// Maximum length of the base of a generated name: 63 bytes minus the suffix.
const GENERATED_BASE_MAX: usize = 58;
const GENERATED_SUFFIX: usize = 5;
/// As upstream's `rand.String`: without vowels and ambiguous characters, to avoid words.
const GENERATED_ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// Maximum size of all annotations of an object in bytes, keys included.
const ANNOTATIONS_MAX: usize = 256 * 1024;

const SUBDOMAIN_MESSAGE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_1123_MESSAGE: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035_MESSAGE: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED_MESSAGE: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_MESSAGE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const PORT_NAME_MESSAGE: &str = "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)";

/// Syntax of the names of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// RFC 1123 subdomain of at most 253 bytes; most kinds.
    Subdomain,
    /// RFC 1123 label of at most 63 bytes; namespaces, hostnames and ports.
    Label,
    /// RFC 1035 label of at most 63 bytes, which cannot start with a digit; Services. Upstream's feature gate
    /// `RelaxedServiceNameValidation` is not implemented.
    Label1035,
    /// Any string that is valid as a path segment; Events and RBAC kinds.
    PathSegment,
}

impl NameRule {
    pub(crate) fn check(self, field: &str, name: &str, errors: &mut FieldErrors) {
        match self {
            Self::Subdomain => check_length_and(field, name, SUBDOMAIN_MAX, is_subdomain, SUBDOMAIN_MESSAGE, errors),
            Self::Label => check_length_and(field, name, LABEL_MAX, is_label, LABEL_1123_MESSAGE, errors),
            Self::Label1035 => check_length_and(field, name, LABEL_MAX, is_label_1035, LABEL_1035_MESSAGE, errors),
            Self::PathSegment => {
                if name == "." || name == ".." {
                    errors.invalid(field, name, format_args!("may not be '{name}'"));
                } else if let Some(bad) = ["/", "%"].into_iter().find(|bad| name.contains(bad)) {
                    errors.invalid(field, name, format_args!("may not contain '{bad}'"));
                }
            }
        }
    }
}

fn check_length_and(
    field: &str,
    text: &str,
    max: usize,
    is: impl Fn(&str) -> bool,
    message: &str,
    errors: &mut FieldErrors,
) {
    if text.len() > max {
        errors.invalid(field, text, format_args!("must be no more than {max} bytes"));
    } else if !is(text) {
        errors.invalid(field, text, message);
    }
}

fn is_label(text: &str) -> bool {
    let edge = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    enclosed(text, edge, |b| edge(b) || b == b'-')
}

fn is_label_1035(text: &str) -> bool {
    is_label(text) && text.starts_with(|c: char| c.is_ascii_lowercase())
}

/// Reports a text that is no domain of at least two labels, with or without a dot at the end (Go:
/// `IsFullyQualifiedDomainName`).
pub(crate) fn check_domain_name(field: &str, text: &str, errors: &mut FieldErrors) {
    let name = text.strip_suffix('.').unwrap_or(text);
    if text.is_empty() {
        errors.required(field, "");
    } else if name.len() > SUBDOMAIN_MAX || !is_subdomain(name) {
        NameRule::Subdomain.check(field, name, errors);
    } else if !name.contains('.') {
        errors.invalid(field, name, "should be a domain with at least two segments separated by dots");
    } else if let Some(label) = name.split('.').find(|label| label.len() > LABEL_MAX) {
        NameRule::Label.check(field, label, errors);
    }
}

/// Returns `true` for an RFC 1123 subdomain of any length.
fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_qualified_part(text: &str) -> bool {
    let edge = |b: u8| b.is_ascii_alphanumeric();
    enclosed(text, edge, |b| edge(b) || matches!(b, b'-' | b'_' | b'.'))
}

/// Returns `true` for a non-empty string whose first and last bytes satisfy `edge` and all others `inner`.
fn enclosed(text: &str, edge: impl Fn(u8) -> bool, inner: impl Fn(u8) -> bool) -> bool {
    match text.as_bytes() {
        [] => false,
        [only] => edge(*only),
        [first, middle @ .., last] => edge(*first) && edge(*last) && middle.iter().all(|b| inner(*b)),
    }
}

/// Reports an invalid qualified name (`prefix/name` or `name`), the syntax of label and annotation keys and finalizers.
pub(crate) fn check_qualified_name(field: &str, key: &str, errors: &mut FieldErrors) {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    match prefix {
        Some("") => errors.invalid(field, key, "prefix part must be non-empty"),
        Some(prefix) if prefix.len() > SUBDOMAIN_MAX => {
            errors.invalid(field, key, format_args!("prefix part must be no more than {SUBDOMAIN_MAX} bytes"));
        }
        Some(prefix) if !is_subdomain(prefix) => {
            errors.invalid(field, key, format_args!("prefix part {SUBDOMAIN_MESSAGE}"));
        }
        _ => {}
    }
    if name.is_empty() {
        errors.invalid(field, key, "name part must be non-empty");
    } else if name.len() > LABEL_MAX {
        errors.invalid(field, key, format_args!("name part must be no more than {LABEL_MAX} bytes"));
    } else if !is_qualified_part(name) {
        errors.invalid(field, key, QUALIFIED_MESSAGE);
    }
}

/// Reports invalid keys and values of labels or of an equality-based selector.
pub(crate) fn check_labels(field: &str, labels: &BTreeMap<String, String>, errors: &mut FieldErrors) {
    for (key, value) in labels {
        check_qualified_name(field, key, errors);
        check_label_value(field, value, errors);
    }
}

pub(crate) fn check_label_value(field: &str, value: &str, errors: &mut FieldErrors) {
    if value.len() > LABEL_MAX {
        errors.invalid(field, value, format_args!("must be no more than {LABEL_MAX} bytes"));
    } else if !value.is_empty() && !is_qualified_part(value) {
        errors.invalid(field, value, LABEL_VALUE_MESSAGE);
    }
}

/// Reports invalid annotation keys (lower-cased first, as upstream) and annotations of more than 256 KiB in total.
pub(crate) fn check_annotations(field: &str, annotations: &BTreeMap<String, String>, errors: &mut FieldErrors) {
    for key in annotations.keys() {
        check_qualified_name(field, &key.to_lowercase(), errors);
    }
    let size: usize = annotations.iter().map(|(key, value)| key.len() + value.len()).sum();
    if size > ANNOTATIONS_MAX {
        errors.too_long(field, ANNOTATIONS_MAX);
    }
}

/// Reports an invalid container port name: at most 15 bytes of `a-z`, `0-9` and `-`, with at least one letter.
pub(crate) fn check_container_port_name(field: &str, name: &str, errors: &mut FieldErrors) {
    if name.len() > PORT_NAME_MAX {
        errors.invalid(field, name, "must be no more than 15 characters");
    } else if !name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') {
        errors.invalid(field, name, PORT_NAME_MESSAGE);
    } else if !name.bytes().any(|b| b.is_ascii_lowercase()) {
        errors.invalid(field, name, "must contain at least one letter (a-z)");
    } else if name.contains("--") {
        errors.invalid(field, name, "must not contain consecutive hyphens");
    } else if name.starts_with('-') || name.ends_with('-') {
        errors.invalid(field, name, "must not begin or end with a hyphen");
    }
}

/// Returns `base` (a `generateName`, cut to 58 bytes) with five random characters appended.
pub(crate) fn generate(base: &str, rng: &mut impl Rng) -> String {
    let cut = (0..=GENERATED_BASE_MAX.min(base.len())).rev().find(|at| base.is_char_boundary(*at)).unwrap_or(0);
    let mut name = base[..cut].to_owned();
    for _ in 0..GENERATED_SUFFIX {
        name.push(char::from(GENERATED_ALPHABET[rng.random_range(0..GENERATED_ALPHABET.len())]));
    }
    name
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand::rngs::StdRng;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(NameRule::Subdomain, "web-0.example", true)]
    #[case(NameRule::Subdomain, "Bad_Name", false)]
    #[case(NameRule::Subdomain, "", false)]
    #[case(NameRule::Subdomain, "a..b", false)]
    #[case(NameRule::Subdomain, "-a", false)]
    #[case(NameRule::Label, "0web", true)]
    #[case(NameRule::Label, "a.b", false)]
    #[case(NameRule::Label1035, "0web", false)]
    #[case(NameRule::Label1035, "web-0", true)]
    #[case(NameRule::PathSegment, "web.17f:Odd", true)]
    #[case(NameRule::PathSegment, "a/b", false)]
    #[case(NameRule::PathSegment, "..", false)]
    fn names_are_validated(#[case] rule: NameRule, #[case] name: &str, #[case] valid: bool) {
        let mut errors = FieldErrors::default();
        rule.check("metadata.name", name, &mut errors);
        assert_eq!(errors.is_empty(), valid, "{name}: {errors}");
    }

    #[rstest]
    #[case("app", "web", true)]
    #[case("app.kubernetes.io/name", "", true)]
    #[case("/name", "x", false)]
    #[case("a/b/c", "x", false)]
    #[case("app", "-x", false)]
    #[case("app", "x y", false)]
    fn labels_are_validated(#[case] key: &str, #[case] value: &str, #[case] valid: bool) {
        let mut errors = FieldErrors::default();
        let labels = BTreeMap::from([(key.to_owned(), value.to_owned())]);
        check_labels("metadata.labels", &labels, &mut errors);
        assert_eq!(errors.is_empty(), valid, "{errors}");
    }

    #[rstest]
    #[case("web-", 4)]
    #[case(&"x".repeat(80), 58)]
    fn generated_names_have_the_base_as_prefix(#[case] base: &str, #[case] prefix_length: usize) {
        let name = generate(base, &mut StdRng::seed_from_u64(7));
        assert!(name.starts_with(&base[..prefix_length]) && name.len() == prefix_length + 5, "{name}");
        assert!(name[prefix_length..].bytes().all(|b| GENERATED_ALPHABET.contains(&b)), "{name}");
    }
}
