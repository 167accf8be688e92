//! Proxy configuration from `proxy-url` or the environment, with the rules of Go's `http.ProxyFromEnvironment`
//! (`golang.org/x/net/http/httpproxy`).

mod no_proxy;

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderValue, Uri, uri::Scheme};
use percent_encoding::percent_decode_str;

use self::no_proxy::NoProxy;

/// A proxy. `Display` and `Debug` omit the credentials.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Proxy {
    pub(crate) kind: ProxyKind,
    /// `http://host:port`, or `https://host:port` if the connection to the proxy uses TLS.
    pub(crate) address: Uri,
    pub(crate) login: Option<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProxyKind {
    /// HTTP proxy: `CONNECT` tunnel for https servers, forwarding for http servers.
    Http,
    /// SOCKS 5 proxy, which resolves host names.
    Socks5,
}

impl Proxy {
    /// Parses a proxy URL, which must have a scheme.
    pub(crate) fn parse(text: &str) -> Result<Proxy, String> {
        // Errors do not include the URL, which may contain a password.
        let url: Uri = text.parse().map_err(|error| format!("not a URL: {error}"))?;
        let (kind, scheme, port) = match url.scheme_str() {
            Some("http") => (ProxyKind::Http, Scheme::HTTP, 80),
            Some("https") => (ProxyKind::Http, Scheme::HTTPS, 443),
            Some("socks5" | "socks5h") => (ProxyKind::Socks5, Scheme::HTTP, 1080),
            Some(scheme) => return Err(format!("scheme {scheme:?} is none of http, https, socks5 and socks5h")),
            None => return Err("no scheme: write http://, https:// or socks5://".to_owned()),
        };
        let authority = url.authority().map_or("", http::uri::Authority::as_str);
        let login = authority.rsplit_once('@').map(|(login, _)| {
            let (user, password) = login.split_once(':').unwrap_or((login, ""));
            let decoded = |text| percent_decode_str(text).decode_utf8_lossy().into_owned();
            (decoded(user), decoded(password))
        });
        let host = url.host().filter(|host| !host.is_empty()).ok_or("no host")?;
        let address = Uri::builder()
            .scheme(scheme)
            .authority(format!("{host}:{}", url.port_u16().unwrap_or(port)))
            .path_and_query("/")
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Proxy { kind, address, login })
    }

    /// Returns the proxy for a server according to the environment, or `None` for a direct connection. `variable`
    /// returns the value of an environment variable.
    ///
    /// Reads `HTTPS_PROXY` or `HTTP_PROXY`, depending on the scheme of the server, and `NO_PROXY`; the lower-case names
    /// are used if these are unset or empty. `localhost` and loopback addresses are always direct.
    pub(crate) fn from_env(variable: impl Fn(&str) -> Option<String>, server: &Uri) -> Result<Option<Proxy>, String> {
        let lookup = |name: &str| {
            let non_empty = |name: &str| variable(name).filter(|value| !value.is_empty());
            non_empty(name).or_else(|| non_empty(&name.to_lowercase()))
        };
        let (name, default_port) =
            if server.scheme() == Some(&Scheme::HTTPS) { ("HTTPS_PROXY", 443) } else { ("HTTP_PROXY", 80) };
        let (Some(text), Some(host)) = (lookup(name), server.host()) else { return Ok(None) };
        let no_proxy = NoProxy::parse(&lookup("NO_PROXY").unwrap_or_default());
        if no_proxy.matches(host, server.port_u16().unwrap_or(default_port)) {
            return Ok(None);
        }
        let full = if text.contains("://") { text } else { format!("http://{text}") };
        Proxy::parse(full.trim()).map(Some).map_err(|cause| format!("{name}: {cause}"))
    }

    /// Returns the value of the `Proxy-Authorization` header.
    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        let (user, password) = self.login.as_ref()?;
        let mut header =
            HeaderValue::try_from(format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))).ok()?;
        header.set_sensitive(true);
        Some(header)
    }
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.kind {
            ProxyKind::Http => self.address.scheme_str().unwrap_or_default(),
            ProxyKind::Socks5 => "socks5",
        };
        write!(f, "{scheme}://{}", self.address.authority().map_or("", http::uri::Authority::as_str))
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("http://proxy:3128", Ok("http://proxy:3128"))]
    #[case("http://proxy", Ok("http://proxy:80"))]
    #[case("https://proxy", Ok("https://proxy:443"))]
    #[case("socks5://[2001:db8::1]", Ok("socks5://[2001:db8::1]:1080"))]
    #[case("http://user:secret@proxy:3128/", Ok("http://proxy:3128"))]
    #[case("ftp://user:secret@proxy", Err("scheme \"ftp\" is none of http, https, socks5 and socks5h"))]
    #[case("proxy:3128", Err("no scheme: write http://, https:// or socks5://"))]
    #[case("http://user:sec ret@proxy", Err("not a URL: invalid uri character"))]
    fn display_and_debug_omit_the_password(#[case] url: &str, #[case] expect: Result<&str, &str>) {
        let parsed = Proxy::parse(url).map(|proxy| format!("{proxy} {proxy:?}"));
        assert_eq!(parsed, expect.map(|text| format!("{text} {text}")).map_err(str::to_owned));
    }

    #[rstest]
    #[case("http://proxy", None)]
    #[case("http://Aladdin:open%20sesame@proxy", Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="))]
    #[case("http://user@proxy", Some("Basic dXNlcjo="))]
    fn login_is_sent_as_basic_authorization(#[case] url: &str, #[case] expect: Option<&str>) {
        let header = Proxy::parse(url).unwrap().authorization();
        assert_eq!(header.as_ref().map(|value| value.to_str().unwrap()), expect);
    }

    // golang.org/x/net/http/httpproxy: TestProxyFromURL, TestInvalidProxy
    #[rstest]
    #[case::none(&[], "https://api.test", Ok(None))]
    #[case::https(&[("HTTPS_PROXY", "http://a:1"), ("HTTP_PROXY", "http://b:2")], "https://api.test", Ok(Some("http://a:1")))]
    #[case::http(&[("HTTPS_PROXY", "http://a:1"), ("HTTP_PROXY", "http://b:2")], "http://api.test", Ok(Some("http://b:2")))]
    #[case::other_scheme(&[("HTTP_PROXY", "http://b:2")], "https://api.test", Ok(None))]
    #[case::lower_case(&[("https_proxy", "http://a:1")], "https://api.test", Ok(Some("http://a:1")))]
    #[case::upper_case_first(&[("https_proxy", "http://a:1"), ("HTTPS_PROXY", "http://b:2")], "https://api.test", Ok(Some("http://b:2")))]
    #[case::empty_is_not_set(&[("https_proxy", "http://a:1"), ("HTTPS_PROXY", "")], "https://api.test", Ok(Some("http://a:1")))]
    #[case::no_scheme(&[("HTTPS_PROXY", "a:1")], "https://api.test", Ok(Some("http://a:1")))]
    #[case::excepted(&[("HTTPS_PROXY", "http://a:1"), ("no_proxy", "api.test")], "https://api.test", Ok(None))]
    #[case::loopback(&[("HTTPS_PROXY", "http://a:1")], "https://127.0.0.1:6443", Ok(None))]
    #[case::bad(&[("HTTPS_PROXY", "gopher://u:p@a")], "https://api.test",
        Err("HTTPS_PROXY: scheme \"gopher\" is none of http, https, socks5 and socks5h"))]
    fn proxy_is_read_from_the_environment(
        #[case] variables: &[(&str, &str)],
        #[case] server: &str,
        #[case] expect: Result<Option<&str>, &str>,
    ) {
        let variable = |name: &str| variables.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned());
        let found = Proxy::from_env(variable, &server.parse().unwrap());
        let found = found.map(|proxy| proxy.map(|proxy| proxy.to_string()));
        assert_eq!(found, expect.map(|proxy| proxy.map(str::to_owned)).map_err(str::to_owned));
    }
}
