//! Proxy configuration from `proxy-url` or the environment, with the parser and matcher of hyper-util.

use std::fmt;

use http::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

/// A proxy. `Display` and `Debug` omit the credentials.
#[derive(Clone)]
pub(crate) struct Proxy {
    intercept: Intercept,
    /// `http://host:port`, or `https://host:port` if the connection to the proxy uses TLS.
    pub(crate) address: Uri,
}

impl Proxy {
    /// Parses a proxy URL, which must have a scheme.
    pub(crate) fn parse(url: &str) -> Result<Proxy, String> {
        let (scheme, default_port) = match url.split_once("://") {
            Some(("http", _)) => ("http", 80),
            Some(("https", _)) => ("https", 443),
            Some(("socks5" | "socks5h", _)) => ("http", 1080),
            Some((scheme, _)) => return Err(format!("scheme {scheme:?} is none of http, https, socks5 and socks5h")),
            None => return Err("no scheme: write http://, https:// or socks5://".to_owned()),
        };
        // Errors do not include the URL, which may contain a password.
        let intercept = Matcher::builder().all(url).build().intercept(&Uri::from_static("https://server"));
        let intercept = intercept.ok_or("not a URL")?;
        let host = intercept.uri().host().filter(|host| !host.is_empty()).ok_or("no host")?;
        let port = intercept.uri().port_u16().unwrap_or(default_port);
        let address = Uri::builder().scheme(scheme).authority(format!("{host}:{port}")).path_and_query("/").build();
        Ok(Proxy { address: address.map_err(|error| error.to_string())?, intercept })
    }

    /// Returns the proxy for a server according to the environment, or `None` for a direct connection. `variable`
    /// returns the value of an environment variable.
    ///
    /// Reads `HTTPS_PROXY` or `HTTP_PROXY`, depending on the scheme of the server, and `NO_PROXY`; the lower-case names
    /// are used if these are unset or empty. `localhost` and loopback addresses are always direct, as in Go.
    pub(crate) fn from_env(variable: impl Fn(&str) -> Option<String>, server: &Uri) -> Result<Option<Proxy>, String> {
        let lookup = |name: &str| {
            let non_empty = |name: &str| variable(name).filter(|value| !value.is_empty());
            non_empty(name).or_else(|| non_empty(&name.to_lowercase()))
        };
        let (name, port) = match server.scheme_str() {
            Some("https") => ("HTTPS_PROXY", server.port_u16().unwrap_or(443)),
            _ => ("HTTP_PROXY", server.port_u16().unwrap_or(80)),
        };
        let Some(url) = lookup(name) else { return Ok(None) };
        let url = if url.contains("://") { url } else { format!("http://{url}") };
        let proxy = Proxy::parse(url.trim()).map_err(|cause| format!("{name}: {cause}"))?;
        let no_proxy = no_proxy(&lookup("NO_PROXY").unwrap_or_default(), port);
        let matcher = Matcher::builder().all("http://proxy").no(no_proxy).build();
        Ok(matcher.intercept(server).is_some().then_some(proxy))
    }

    /// Returns whether this is a SOCKS 5 proxy, which resolves host names. Otherwise it is an HTTP proxy.
    pub(crate) fn is_socks(&self) -> bool {
        self.intercept.uri().scheme_str().is_some_and(|scheme| scheme.starts_with("socks"))
    }

    pub(crate) fn login(&self) -> &Intercept {
        &self.intercept
    }
}

/// Returns the entries of `NO_PROXY` for a server port, as hyper-util reads them. It does not read ports and stars.
fn no_proxy(text: &str, port: u16) -> String {
    let mut entries = vec!["localhost", "127.0.0.0/8", "::1"];
    for entry in text.split(',').map(str::trim) {
        if entry == "*" {
            entries.extend(["*", "0.0.0.0/0", "::/0"]);
        }
        let entry = entry.strip_prefix('*').unwrap_or(entry);
        entries.push(match entry.rsplit_once(':') {
            // An IPv6 address with a port has brackets.
            Some((host, number)) if !host.contains(':') || host.ends_with(']') => {
                if number.parse() != Ok(port) {
                    continue;
                }
                host.trim_matches(['[', ']'])
            }
            _ => entry,
        });
    }
    entries.join(",")
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_socks() { "socks5" } else { self.address.scheme_str().unwrap_or_default() };
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
    #[case("http://user:sec ret@proxy", Err("not a URL"))]
    fn display_and_debug_omit_the_password(#[case] url: &str, #[case] expect: Result<&str, &str>) {
        let parsed = Proxy::parse(url).map(|proxy| format!("{proxy} {proxy:?}"));
        assert_eq!(parsed, expect.map(|text| format!("{text} {text}")).map_err(str::to_owned));
    }

    #[rstest]
    #[case("http://proxy", None)]
    #[case("http://Aladdin:open%20sesame@proxy", Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="))]
    #[case("http://user@proxy", Some("Basic dXNlcjo="))]
    fn login_is_sent_as_basic_authorization(#[case] url: &str, #[case] expect: Option<&str>) {
        let proxy = Proxy::parse(url).unwrap();
        assert_eq!(proxy.login().basic_auth().map(|value| value.to_str().unwrap()), expect);
    }

    /// Returns the proxy for a server in an environment.
    fn found(variables: &[(&str, &str)], server: &str) -> Result<Option<String>, String> {
        let variable = |name: &str| variables.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned());
        Proxy::from_env(variable, &server.parse().unwrap()).map(|proxy| proxy.map(|proxy| proxy.to_string()))
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
        assert_eq!(found(variables, server), expect.map(|proxy| proxy.map(str::to_owned)).map_err(str::to_owned));
    }

    // golang.org/x/net/http/httpproxy: UseProxyTests. Here `.example.com` matches `example.com`, too, as in curl.
    #[rstest]
    #[case("", "api.test", false)]
    #[case("", "localhost", true)]
    #[case("", "LOCALHOST", true)]
    #[case("", "127.9.9.9", true)]
    #[case("", "[::1]", true)]
    #[case("", "127.example.com", false)]
    #[case("*", "api.test", true)]
    #[case("x, *", "10.1.2.3", true)]
    #[case("*", "[2001:db8::7]", true)]
    #[case("10.0.0.0/8", "10.1.2.3", true)]
    #[case("10.0.0.0/8", "11.1.2.3", false)]
    #[case("2001:db8::/32", "[2001:db8::7]", true)]
    #[case("10.1.2.3", "10.1.2.3", true)]
    #[case("10.1.2.3:6443", "10.1.2.3", true)]
    #[case("10.1.2.3:443", "10.1.2.3", false)]
    #[case("[2001:db8::7]:6443", "[2001:db8::7]", true)]
    #[case("2001:db8::7", "[2001:db8::7]", true)]
    #[case("example.com", "example.com", true)]
    #[case("example.com", "API.Example.com", true)]
    #[case("example.com", "notexample.com", false)]
    #[case(".example.com", "api.example.com", true)]
    #[case("*.example.com", "api.example.com", true)]
    #[case("*.example.com", "notexample.com", false)]
    #[case(" example.com:6443 ,other", "api.example.com", true)]
    #[case("example.com:443", "api.example.com", false)]
    #[case("example.com:x,,:,*.", "api.example.com", false)]
    fn no_proxy_entries_match_as_in_go(#[case] no_proxy: &str, #[case] host: &str, #[case] is_direct: bool) {
        let variables = [("HTTPS_PROXY", "http://a:1"), ("NO_PROXY", no_proxy)];
        let expect = (!is_direct).then(|| "http://a:1".to_owned());
        assert_eq!(found(&variables, &format!("https://{host}:6443")), Ok(expect));
    }
}
