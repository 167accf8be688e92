//! How long a connection may stay open, until its client is slow or idle for too long, and when a client certificate expires.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use rustls::pki_types::CertificateDer;
use tokio::time::{Instant, sleep, sleep_until};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::metrics::Closed;

/// Time limit from the handshake to the first complete request head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit between two requests of an anonymous client: more than the usual interval of probes.
const ANONYMOUS_IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit between two requests of an authenticated client; upstream's, and more than the usual interval of scrapes.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);

#[derive(Clone, Copy, Debug)]
struct Requests {
    /// Number of requests without a response.
    open: u32,
    /// Whether a request has arrived completely.
    any: bool,
    authenticated: bool,
    /// Time of the handshake, or of the last response.
    since: Instant,
}

impl Requests {
    /// Returns when the connection has to be closed, and why; `None` while there is a request to be answered.
    fn deadline(self) -> Option<(Instant, Closed)> {
        match self {
            Requests { open: 1.., .. } => None,
            Requests { any: false, since, .. } => Some((since + HEAD_TIMEOUT, Closed::HeadTimeout)),
            Requests { authenticated: false, since, .. } => Some((since + ANONYMOUS_IDLE_TIMEOUT, Closed::IdleTimeout)),
            Requests { since, .. } => Some((since + IDLE_TIMEOUT, Closed::IdleTimeout)),
        }
    }
}

/// The requests of a connection, observed to close it if it is slow or idle.
///
/// A head that arrives slowly is not a request yet, so that neither protocol needs a time limit of its own.
#[derive(Debug)]
pub(crate) struct Lifetime(Mutex<Requests>);

impl Lifetime {
    /// Begins with the end of the handshake.
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Requests { open: 0, any: false, authenticated: false, since: Instant::now() }))
    }

    /// Counts a request until the returned value is dropped.
    pub(crate) fn request(&self) -> OpenRequest<'_> {
        let mut requests = self.requests();
        requests.open += 1;
        requests.any = true;
        OpenRequest(self)
    }

    /// Allows the connection to be idle for longer.
    pub(crate) fn authenticated(&self) {
        self.requests().authenticated = true;
    }

    /// Waits until the client has been slow or idle for too long.
    pub(crate) async fn ended(&self) -> Closed {
        loop {
            let deadline = self.requests().deadline();
            match deadline {
                Some((at, reason)) if at <= Instant::now() => return reason,
                Some((at, _)) => sleep_until(at).await,
                // No deadline begins before the response, and none is shorter.
                None => sleep(HEAD_TIMEOUT).await,
            }
        }
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request without a response.
pub(crate) struct OpenRequest<'a>(&'a Lifetime);

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        let mut requests = self.0.requests();
        requests.open = requests.open.saturating_sub(1);
        requests.since = Instant::now();
    }
}

/// End of the validity of a client certificate: the earliest one in its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Expiry(Timestamp);

impl Expiry {
    /// Returns the expiry of a chain; `None` if it is empty.
    pub(crate) fn of(chain: &[CertificateDer<'_>]) -> Option<Expiry> {
        chain.iter().map(|certificate| Expiry(not_after(certificate))).min()
    }

    pub(crate) fn has_passed(self) -> bool {
        self.is_over(kube_ambient::now())
    }

    /// A certificate is valid for the whole second of its end.
    fn is_over(self, now: Timestamp) -> bool {
        now.as_second() > self.0.as_second()
    }
}

/// Returns the end of validity. A certificate that cannot be parsed has expired.
fn not_after(certificate: &CertificateDer<'_>) -> Timestamp {
    let parsed = X509Certificate::from_der(certificate).ok();
    let second = parsed.map(|(_, it)| it.validity().not_after.timestamp());
    second.map_or(Timestamp::MIN, |second| Timestamp::from_second(second).unwrap_or(Timestamp::MAX))
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};
    use rstest::rstest;
    use tokio::time::advance;

    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[rstest]
    #[case::no_request(0, false, false, Some((10, Closed::HeadTimeout)))]
    #[case::certificate_and_no_request(0, false, true, Some((10, Closed::HeadTimeout)))]
    #[case::anonymous(0, true, false, Some((30, Closed::IdleTimeout)))]
    #[case::authenticated(0, true, true, Some((90, Closed::IdleTimeout)))]
    #[case::running(1, true, false, None)]
    #[tokio::test(start_paused = true)]
    async fn deadlines(
        #[case] open: u32,
        #[case] any: bool,
        #[case] authenticated: bool,
        #[case] expect: Option<(u64, Closed)>,
    ) {
        let requests = Requests { open, any, authenticated, since: Instant::now() };
        let found = requests.deadline().map(|(at, reason)| (at.duration_since(requests.since).as_secs(), reason));
        assert_eq!(found, expect);
    }

    #[tokio::test(start_paused = true)]
    async fn connection_ends_after_its_last_response() {
        let (lifetime, start) = (Lifetime::new(), Instant::now());
        let client = async {
            for _ in 0..3 {
                sleep(seconds(9)).await;
                let request = lifetime.request();
                sleep(seconds(25)).await;
                drop(request);
            }
        };
        let (reason, ()) = tokio::join!(lifetime.ended(), client);
        assert_eq!((reason, start.elapsed().as_secs()), (Closed::IdleTimeout, 3 * (9 + 25) + 30));
    }

    #[tokio::test(start_paused = true)]
    async fn connection_without_a_request_ends_early() {
        let (lifetime, start) = (Lifetime::new(), Instant::now());
        assert_eq!((lifetime.ended().await, start.elapsed()), (Closed::HeadTimeout, HEAD_TIMEOUT));
        // A request that begins at the last moment.
        let lifetime = Lifetime::new();
        advance(seconds(9)).await;
        drop(lifetime.request());
        assert_eq!((lifetime.ended().await, start.elapsed()), (Closed::IdleTimeout, seconds(10 + 9 + 30)));
    }

    fn certificate(year: i32) -> CertificateDer<'static> {
        let mut params = CertificateParams::default();
        params.not_after = date_time_ymd(year, 1, 1);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().into()
    }

    #[test]
    fn chain_expires_with_its_first_certificate() {
        let (early, late) = (certificate(2030), certificate(2031));
        let expiry = Expiry::of(&[late, early]).unwrap();
        assert_eq!(expiry, Expiry("2030-01-01T00:00:00Z".parse().unwrap()));
        assert_eq!(Expiry::of(&[]), None);
        assert!(Expiry::of(&[CertificateDer::from(vec![1, 2, 3])]).unwrap().has_passed());
    }

    #[rstest]
    #[case::before("2029-12-31T23:59:59.5Z", false)]
    #[case::last_second("2030-01-01T00:00:00.25Z", false)]
    #[case::after("2030-01-01T00:00:01Z", true)]
    fn expiry_is_compared_with_the_clock(#[case] now: Timestamp, #[case] over: bool) {
        assert_eq!(Expiry("2030-01-01T00:00:00Z".parse().unwrap()).is_over(now), over);
    }
}
