//! Names of Event objects.

use jiff::Timestamp;
use uuid::Builder;

/// Returns `<object>.<nanoseconds since 1970 in hex>`, or a random UUID if that is not a valid name.
pub(super) fn event_name(object: &str, at: Timestamp) -> String {
    let name = format!("{object}.{:x}", at.as_nanosecond());
    if is_dns_subdomain(&name) {
        name
    } else {
        Builder::from_random_bytes(kube_ambient::random()).into_uuid().to_string()
    }
}

/// Whether `name` is an RFC 1123 subdomain, as the API server requires for names.
fn is_dns_subdomain(name: &str) -> bool {
    let alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_label = |label: &str| {
        let bytes = label.as_bytes();
        bytes.first().is_some_and(|byte| alphanumeric(*byte))
            && bytes.last().is_some_and(|byte| alphanumeric(*byte))
            && bytes.iter().all(|byte| alphanumeric(*byte) || *byte == b'-')
    };
    name.len() <= 253 && name.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    // client-go: TestGenerateEventName (tools/internal/events)
    #[rstest]
    #[case::plain("web", Some("web.17b0f3d2a1c00000"))]
    #[case::dotted("web.shop", Some("web.shop.17b0f3d2a1c00000"))]
    #[case::upper("Web", None)]
    #[case::colon("system:node", None)]
    #[case::empty("", None)]
    #[case::long(&"a".repeat(250), None)]
    fn invalid_event_name_is_replaced_by_a_uuid(#[case] object: &str, #[case] expect: Option<&str>) {
        let at = Timestamp::from_nanosecond(0x17b0_f3d2_a1c0_0000).unwrap();
        let name = event_name(object, at);
        match expect {
            Some(expect) => assert_eq!(name, expect),
            None => assert!(uuid::Uuid::parse_str(&name).is_ok(), "{name}"),
        }
    }
}
