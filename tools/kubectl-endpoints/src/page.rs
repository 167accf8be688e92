//! The page of shadow mode that a controller manager serves.

use std::time::Duration;

use kube_controller_client::{Client, ClientOptions, Config, ConfigError, Error, Timeouts};

use crate::connection::named;

/// Time limit of one request.
const LIMIT: Duration = Duration::from_secs(2);

/// The path of a URL without one.
const DEFAULT: &str = "/shadow";

/// A page of a controller manager.
#[derive(Debug)]
pub(crate) struct Page {
    client: Client,
    path: String,
}

impl Page {
    /// Returns the page at a URL, read without credentials, or at a path on the API server, read with `api`. Fails with
    /// [`ConfigError::Server`] if `url` is neither a path nor an http or https URL.
    pub(crate) fn new(url: &str, api: &Client) -> Result<Self, ConfigError> {
        if url.starts_with('/') {
            return Ok(Self { client: api.clone(), path: url.to_owned() });
        }
        let (server, path) = split(url);
        let timeouts = Timeouts { request: LIMIT, connect: LIMIT, ..Timeouts::default() };
        let options = ClientOptions { qps: 0.0, burst: 1, timeouts, ..ClientOptions::default() };
        Ok(Self { client: Client::new(&Config::from_url(server)?, options)?, path: path.to_owned() })
    }

    /// Returns the same page with a parameter, which must need no escaping.
    pub(crate) fn with_parameter(&self, parameter: &str) -> Self {
        let separator = if self.path.contains('?') { '&' } else { '?' };
        Self { path: format!("{}{separator}{parameter}", self.path), client: self.client.clone() }
    }

    /// Reads the page once, without retries. Fails if the status is not 2xx.
    pub(crate) async fn read(&self) -> anyhow::Result<Vec<u8>> {
        let (status, body) =
            self.client.raw("GET".parse()?, &self.path, None, Vec::new()).await.map_err(|error: Error| named(error))?;
        if !status.is_success() {
            let text = String::from_utf8_lossy(&body);
            anyhow::bail!("{}: the server answered {status}: {}", self.path, text.trim());
        }
        Ok(body.to_vec())
    }
}

/// Splits a URL into server and path.
fn split(url: &str) -> (&str, &str) {
    let authority = url.find("://").map_or(0, |at| at + 3);
    let end = url[authority..].find('/').map_or(url.len(), |at| authority + at);
    let (server, path) = url.split_at(end);
    (server, if path.len() > 1 { path } else { DEFAULT })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("http://localhost:8080/metrics", "http://localhost:8080", "/metrics")]
    #[case("http://localhost:8080/", "http://localhost:8080", "/shadow")]
    #[case("http://localhost:8080", "http://localhost:8080", "/shadow")]
    #[case("localhost:8080/a/b?c=d", "localhost:8080", "/a/b?c=d")]
    #[case("https://[::1]:10257/metrics/slis", "https://[::1]:10257", "/metrics/slis")]
    fn urls_have_a_server_and_a_path(#[case] url: &str, #[case] server: &str, #[case] path: &str) {
        assert_eq!(split(url), (server, path));
    }
}
