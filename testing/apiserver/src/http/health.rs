//! The endpoints `/livez`, `/readyz` and `/healthz`, and their checks.

use std::fmt::Write as _;

use http::Uri;

/// Checks of each endpoint. This server passes them as soon as it answers.
const CHECKS: [&str; 3] = ["ping", "log", "etcd"];

/// Returns the paths of the endpoints and of their checks.
pub(super) fn paths() -> impl Iterator<Item = String> {
    ["/healthz", "/livez", "/readyz"].into_iter().flat_map(|endpoint| {
        let checks = CHECKS.into_iter().map(move |check| format!("{endpoint}/{check}"));
        std::iter::once(endpoint.to_owned()).chain(checks)
    })
}

/// Returns the text of the response; `None` for a check that does not exist.
///
/// As upstream, `/readyz/ping` is one check, and `?verbose` lists all.
pub(super) fn text(uri: &Uri) -> Option<String> {
    let mut segments = uri.path().split('/').filter(|it| !it.is_empty());
    let (endpoint, check) = (segments.next().unwrap_or_default(), segments.next());
    if let Some(check) = check {
        let exists = CHECKS.contains(&check) && segments.next().is_none();
        return exists.then(|| "ok".to_owned());
    }
    if !uri.query().unwrap_or_default().split('&').any(|it| it.split('=').next() == Some("verbose")) {
        return Some("ok".to_owned());
    }
    let mut text = String::new();
    for check in CHECKS {
        let _ = writeln!(text, "[+]{check} ok");
    }
    let _ = writeln!(text, "{endpoint} check passed");
    Some(text)
}
