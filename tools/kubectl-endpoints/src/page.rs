//! The pages that a controller manager serves.

use std::error;
use std::fmt;
use std::time::Duration;

use anyhow::{Context as _, bail};
use kube_controller_client::{Client, ClientOptions, Config, Error, Timeouts};
use tokio::time::{Instant, sleep};

use crate::args::GlobalArgs;
use crate::connection::{Connection, named, url_options};

/// Time limit of the connection.
const CONNECT: Duration = Duration::from_secs(2);

/// Time for which a page may be busy, and time between two requests.
const BUSY: Duration = Duration::from_secs(60);
const BUSY_PAUSE: Duration = Duration::from_secs(1);

/// A page of a controller manager.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    /// A long wait follows the files of its configuration.
    pub(crate) client: Client,
    path: String,
}

impl Page {
    /// Returns the page `name`, such as `/shadow`, of `--url`: at a URL, with no other credentials than `--token`, or at a path on
    /// the API server. The page is the default of the path of a URL, and of a path that ends with `/proxy`. A request to a URL
    /// may take `limit`, unless `--request-timeout` is given.
    ///
    /// Fails if there is no `--url`, if it is neither a path nor an http or https URL, if there is no kubeconfig for a path, or a
    /// token for a URL without https.
    pub(crate) async fn open(args: &GlobalArgs, name: &str, limit: Duration) -> anyhow::Result<Self> {
        let url = args.url.as_deref().context("--url names no page")?;
        if url.starts_with('/') {
            let path = url.trim_end_matches('/');
            let path = if path.ends_with("/proxy") { format!("{path}{name}") } else { url.to_owned() };
            return Ok(Self { client: Connection::open(args).await?.client, path });
        }
        let (server, path) = split(url);
        if args.token.is_some() && !server.starts_with("https://") {
            bail!("--token is only sent over https: {server} is not such an address");
        }
        let timeouts = args.timeouts(Timeouts { request: limit, connect: CONNECT, ..Timeouts::default() });
        let options = ClientOptions { qps: 0.0, burst: 1, timeouts, ..ClientOptions::default() };
        let path = if path.len() > 1 { path } else { name }.to_owned();
        let config = Config::from_url_with(server, url_options(args))?;
        Ok(Self { client: Client::new(&config, options)?, path })
    }

    /// Returns the same page with a parameter, which must need no escaping.
    pub(crate) fn with_parameter(&self, parameter: &str) -> Self {
        let separator = if self.path.contains('?') { '&' } else { '?' };
        Self { path: format!("{}{separator}{parameter}", self.path), ..self.clone() }
    }

    /// Reads the page, for a minute again if the status is 429: controller-manager reads the history for one request at a time, and
    /// bounds others. Fails with [`Refused`] if the status is not 2xx.
    pub(crate) async fn read(&self) -> anyhow::Result<Vec<u8>> {
        let end = Instant::now() + BUSY;
        loop {
            match self.read_once().await {
                Err(error) if Refused::is(429, &error) && Instant::now() < end => sleep(BUSY_PAUSE).await,
                read => return read,
            }
        }
    }

    async fn read_once(&self) -> anyhow::Result<Vec<u8>> {
        let (status, body) =
            self.client.raw("GET".parse()?, &self.path, None, Vec::new()).await.map_err(|error: Error| named(error))?;
        if !status.is_success() {
            let text = String::from_utf8_lossy(&body);
            let message = format!("{}: the server answered {status}: {}", self.path, text.trim());
            return Err(Refused::new(status.as_u16(), message).into());
        }
        Ok(body.to_vec())
    }
}

/// An answer whose status is not 2xx.
#[derive(Debug)]
pub(crate) struct Refused {
    status: u16,
    message: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl error::Error for Refused {}

impl Refused {
    pub(crate) fn new(status: u16, message: String) -> Self {
        Self { status, message }
    }

    /// Returns whether a read has failed because of this status.
    pub(crate) fn is(status: u16, error: &anyhow::Error) -> bool {
        error.downcast_ref::<Refused>().is_some_and(|it| it.status == status)
    }
}

/// Splits a URL into server and path.
fn split(url: &str) -> (&str, &str) {
    let authority = url.find("://").map_or(0, |at| at + 3);
    let end = url[authority..].find('/').map_or(url.len(), |at| authority + at);
    url.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("http://localhost:8080/metrics", "http://localhost:8080", "/metrics")]
    #[case("http://localhost:8080/", "http://localhost:8080", "/")]
    #[case("http://localhost:8080", "http://localhost:8080", "")]
    #[case("localhost:8080/a/b?c=d", "localhost:8080", "/a/b?c=d")]
    #[case("https://[::1]:10257/metrics/slis", "https://[::1]:10257", "/metrics/slis")]
    fn urls_have_a_server_and_a_path(#[case] url: &str, #[case] server: &str, #[case] path: &str) {
        assert_eq!(split(url), (server, path));
    }
}
