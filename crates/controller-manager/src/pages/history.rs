//! The page `/history`.

use std::sync::{Arc, Mutex, OnceLock, TryLockError};

use display_full_error::DisplayFullErrorExt as _;
use jiff::Timestamp;
use kube_controller_serving::Routes;
use kube_controller_serving::response::{self, Response, StatusCode};
use kube_endpoint_model::ObjectKey;
use kube_endpoints_history::{Archive, ExcerptError, Select};

use crate::history::Place;

/// Maximum size of the page, in bytes.
const MAX_SIZE: usize = 16 << 20;
/// Maximum size of a segment, in bytes: most end at 16 MiB. The server keeps at most eight responses that are not read.
const MAX_SEGMENT: usize = 24 << 20;

const PARAMETERS: &str = "namespace, service, since, until, segment or segments";

/// The page, which exists once its history is set. Clones share the history.
#[derive(Clone, Default)]
pub(crate) struct HistoryPage {
    place: Arc<OnceLock<Place>>,
    /// Held while a page is made, which takes memory and time.
    one: Arc<Mutex<()>>,
}

/// The part of the history that a request asks for.
#[derive(Debug, PartialEq)]
enum Wanted {
    /// The selected objects, from a time until another.
    Excerpt(Select, Timestamp, Timestamp),
    /// Times at which the segments begin.
    Segments,
    /// The segment that begins at a time.
    Segment(Timestamp),
}

impl HistoryPage {
    /// Sets the history. Later calls have no effect.
    pub(crate) fn set(&self, place: Place) {
        let _ = self.place.set(place);
    }

    pub(crate) fn add(self, routes: Routes) -> Routes {
        routes.slow_page("/history", move |request| self.respond(request.query))
    }

    /// Returns a part of the history as a file of a history: of `namespace`, or its Service `service`, from `since` until
    /// `until`. Each is optional. The number of objects of such a part is limited, that of a whole `segment` is not: `segments`
    /// returns the times at which they begin, one a line.
    fn respond(&self, query: &str) -> Response {
        let error = |code, message: &str| response::text(code, format!("{message}\n"));
        let Some(place) = self.place.get() else { return response::not_found() };
        let wanted = match wanted(query) {
            Ok(wanted) => wanted,
            Err(message) => return error(StatusCode::BAD_REQUEST, &message),
        };
        let lock = self.one.try_lock();
        if matches!(lock, Err(TryLockError::WouldBlock)) {
            return error(StatusCode::TOO_MANY_REQUESTS, "another request reads the history: try again later");
        }
        let archive = place.archive().map_err(ExcerptError::from);
        let read = archive.and_then(|mut archive| match wanted {
            Wanted::Excerpt(select, since, until) => archive.excerpt(select, since, until, MAX_SIZE),
            Wanted::Segment(started) => archive.segment(started, MAX_SEGMENT),
            Wanted::Segments => Ok(starts(&archive).into_bytes()),
        });
        match read {
            Ok(read) => response::of(StatusCode::OK, "application/octet-stream", read),
            Err(failed) => {
                let code = match failed {
                    ExcerptError::Empty | ExcerptError::Outside { .. } | ExcerptError::NoSegment { .. } => {
                        StatusCode::NOT_FOUND
                    }
                    ExcerptError::TooLong { .. } | ExcerptError::TooManyObjects { .. } => StatusCode::PAYLOAD_TOO_LARGE,
                    _ => StatusCode::INTERNAL_SERVER_ERROR,
                };
                error(code, &failed.display_full().to_string())
            }
        }
    }
}

/// Returns the times at which the segments begin, one a line.
fn starts(archive: &Archive) -> String {
    let mut starts: Vec<Timestamp> = archive.headers().map(|header| header.started).collect();
    starts.dedup();
    starts.iter().map(Timestamp::to_string).collect::<Vec<_>>().join("\n")
}

fn wanted(query: &str) -> Result<Wanted, String> {
    let (mut namespace, mut service, mut since, mut until) = (None, None, Timestamp::MIN, Timestamp::MAX);
    let mut whole = None;
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let time = || value.parse().map_err(|error| format!("{name}={value}: {error}"));
        match &*name {
            "namespace" => namespace = Some(value.into_owned()),
            "service" => service = Some(value.into_owned()),
            "since" => since = time()?,
            "until" => until = time()?,
            "segment" => whole = Some(Wanted::Segment(time()?)),
            "segments" => whole = Some(Wanted::Segments),
            _ => return Err(format!("unknown parameter {name:?}: expected {PARAMETERS}")),
        }
    }
    if let Some(whole) = whole {
        let is_alone = !query.contains('&');
        return is_alone.then_some(whole).ok_or_else(|| "segment and segments exclude other parameters".to_owned());
    }
    if since > until {
        return Err("since is later than until".to_owned());
    }
    let select = match (namespace, service) {
        (Some(namespace), Some(service)) => Select::Service(ObjectKey::new(namespace.as_str(), service.as_str())),
        (Some(namespace), None) => Select::Namespace(namespace.as_str().into()),
        (None, None) => Select::All,
        (None, Some(_)) => return Err("service needs namespace".to_owned()),
    };
    Ok(Wanted::Excerpt(select, since, until))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::history::History;
    use crate::settings::HistorySettings;

    #[rstest]
    #[case::all("", Select::All)]
    #[case::namespace("namespace=shop", Select::Namespace("shop".into()))]
    #[case::service("service=web&namespace=shop", Select::Service(ObjectKey::new("shop", "web")))]
    fn queries_select(#[case] query: &str, #[case] select: Select) {
        assert_eq!(wanted(query), Ok(Wanted::Excerpt(select, Timestamp::MIN, Timestamp::MAX)));
    }

    #[test]
    fn queries_have_times() {
        let wanted = wanted("since=2026-11-27T14:02:00.5Z&until=2026-11-27T16:02:00%2B01:00").unwrap();
        let [since, until] = ["2026-11-27T14:02:00.5Z", "2026-11-27T15:02:00Z"].map(|time| time.parse().unwrap());
        assert_eq!(wanted, Wanted::Excerpt(Select::All, since, until));
    }

    #[rstest]
    #[case::unknown(
        "pod=web-0",
        "unknown parameter \"pod\": expected namespace, service, since, until, segment or segments"
    )]
    #[case::without_namespace("service=web", "service needs namespace")]
    #[case::reversed("since=2026-11-27T14:02:00Z&until=2026-11-27T14:01:00Z", "since is later than until")]
    #[case::no_time("since=noon", "since=noon: ")]
    #[case::part_of_a_segment("segments&namespace=shop", "segment and segments exclude other parameters")]
    fn other_queries_are_rejected(#[case] query: &str, #[case] expected: &str) {
        let message = wanted(query).unwrap_err();
        assert!(message.starts_with(expected), "{message}");
    }

    #[test]
    fn there_is_a_page_once_there_is_a_history() {
        let page = HistoryPage::default();
        assert_eq!(page.respond("").status(), StatusCode::NOT_FOUND);
        let history = History::new(&HistorySettings::default(), true, None);
        page.set(history.place());
        assert_eq!(page.respond("pod=x").status(), StatusCode::BAD_REQUEST);
        assert_eq!(page.respond("").status(), StatusCode::NOT_FOUND, "nothing is recorded yet");
        let _one = page.one.lock().unwrap();
        assert_eq!(page.respond("").status(), StatusCode::TOO_MANY_REQUESTS);
    }
}
