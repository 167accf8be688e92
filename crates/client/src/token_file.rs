//! Bearer token from a file that is rotated, such as the projected service account token of a Pod.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use display_full_error::DisplayFullErrorExt as _;
use http::{HeaderValue, StatusCode, header::AUTHORIZATION};
use tokio::time::Instant;
use tower::{BoxError, ServiceExt as _, service_fn, util::BoxCloneSyncService};

use crate::service::Service;

/// Age at which the file is read again: client-go's period of 1 min less its leeway of 10 s.
const MAX_AGE: Duration = Duration::from_secs(50);

/// A token file and the token last read from it. Clones share the token.
#[derive(Clone)]
pub(crate) struct TokenFile {
    path: Arc<PathBuf>,
    token: Arc<Mutex<CachedToken>>,
}

/// The token last read.
#[derive(Debug)]
struct CachedToken {
    header: HeaderValue,
    read_at: Instant,
    /// Whether the server returned 401 for this token.
    rejected: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("token file {path}", path = path.display())]
pub(crate) struct TokenFileError {
    path: PathBuf,
    source: BoxError,
}

impl CachedToken {
    fn is_stale(&self, now: Instant) -> bool {
        self.rejected || now.saturating_duration_since(self.read_at) >= MAX_AGE
    }
}

impl TokenFile {
    /// Reads the file. Fails if it cannot be read, is empty, or is not a valid header value.
    pub(crate) fn open(path: PathBuf) -> Result<TokenFile, TokenFileError> {
        let token = CachedToken { header: read_token(&path)?, read_at: Instant::now(), rejected: false };
        Ok(TokenFile { path: Arc::new(path), token: Arc::new(Mutex::new(token)) })
    }

    /// Wraps a service so that every request carries the token.
    pub(crate) fn authenticate(&self, inner: Service) -> Service {
        let file = self.clone();
        BoxCloneSyncService::new(service_fn(move |mut request: http::Request<_>| {
            let (file, inner) = (file.clone(), inner.clone());
            async move {
                let header = file.header(Instant::now());
                request.headers_mut().insert(AUTHORIZATION, header.clone());
                let response = inner.oneshot(request).await?;
                if response.status() == StatusCode::UNAUTHORIZED {
                    file.mark_rejected(&header);
                }
                Ok(response)
            }
        }))
    }

    /// Returns the `Authorization` header; reads the file if the token is stale. If that fails, the last token stays in
    /// use, since some programs remove the file after it was read (kubernetes/kubernetes#68164).
    fn header(&self, now: Instant) -> HeaderValue {
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if token.is_stale(now) {
            (token.read_at, token.rejected) = (now, false);
            match read_token(&self.path) {
                Ok(header) => token.header = header,
                Err(error) => {
                    let err = error.to_string_full();
                    tracing::warn!(err, "Token file cannot be used, sending the token read before");
                }
            }
        }
        token.header.clone()
    }

    /// Marks the token stale after a 401, unless it has been replaced since the request was sent.
    fn mark_rejected(&self, header: &HeaderValue) {
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        token.rejected |= token.header == header;
    }
}

fn read_token(path: &Path) -> Result<HeaderValue, TokenFileError> {
    let failed = |source: BoxError| TokenFileError { path: path.to_owned(), source };
    let text = fs::read_to_string(path).map_err(|error| failed(error.into()))?;
    let token = text.trim();
    if token.is_empty() {
        return Err(failed("the file is empty".into()));
    }
    bearer(token).map_err(|error| failed(error.into()))
}

pub(crate) fn bearer(token: &str) -> Result<HeaderValue, &'static str> {
    let header = HeaderValue::try_from(format!("Bearer {token}"));
    let mut header = header.map_err(|_| "the token is not a valid header value")?;
    header.set_sensitive(true);
    Ok(header)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn open(content: &str) -> (tempfile::TempDir, Result<TokenFile, TokenFileError>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, content).unwrap();
        (folder, TokenFile::open(path))
    }

    #[tokio::test(start_paused = true)]
    async fn file_is_reread_after_50_seconds_or_a_401() {
        let (folder, file) = open("one\n");
        let (file, start) = (file.unwrap(), Instant::now());
        let at = |seconds| file.header(start + Duration::from_secs(seconds));
        fs::write(folder.path().join("token"), "two").unwrap();
        assert_eq!(at(49), "Bearer one");
        assert_eq!(at(50), "Bearer two");
        fs::write(folder.path().join("token"), "three").unwrap();
        // The response to a request that was sent with the previous token.
        file.mark_rejected(&HeaderValue::from_static("Bearer one"));
        assert_eq!(at(51), "Bearer two");
        file.mark_rejected(&at(51));
        assert_eq!(at(51), "Bearer three");
        fs::remove_file(folder.path().join("token")).unwrap();
        assert_eq!(at(500), "Bearer three");
    }

    #[rstest]
    #[case::empty(" \n", "the file is empty")]
    #[case::two_lines("a\nb", "the token is not a valid header value")]
    fn error_contains_the_path(#[case] content: &str, #[case] expect: &str) {
        let (folder, file) = open(content);
        let expect = format!("token file {}: {expect}", folder.path().join("token").display());
        assert_eq!(file.err().map(|error| error.to_string_full()), Some(expect));
    }
}
