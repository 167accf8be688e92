//! Limits of reviews, and connections that the server ends.

use futures::future::join_all;
use kube_dev_apiserver::{On, User as ServerUser};
use kube_endpoints_testing::{LIMIT, eventually, until};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::client::TlsStream;

use super::*;

impl TestServer {
    /// Returns the value of a counter or gauge of the server with one label.
    fn metric(&self, name: &str, label: &str) -> u64 {
        let family = self.registry.gather().into_iter().find(|it| it.name() == name).unwrap();
        let metrics = family.get_metric();
        let metric = metrics.iter().find(|it| it.get_label()[0].value() == label).unwrap();
        let value = metric.get_counter().get_value() + metric.get_gauge().get_value();
        format!("{value}").parse().unwrap()
    }

    fn closed(&self, reason: &str) -> u64 {
        self.metric("example_serving_connections_closed_total", reason)
    }
}

/// Sends a GET request on a connection that is kept open; returns the status line.
async fn get(stream: &mut TlsStream<TcpStream>, path: &str) -> String {
    served(stream, path).await.unwrap()
}

/// As [`get`], for a connection that the server may end.
async fn served(stream: &mut TlsStream<TcpStream>, path: &str) -> std::io::Result<String> {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: it\r\n\r\n").as_bytes()).await?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    stream.read_exact(&mut vec![0; length.parse().unwrap()]).await?;
    Ok(head.lines().next().unwrap().to_owned())
}

async fn wait_for_end(stream: &mut TlsStream<TcpStream>) {
    let mut rest = Vec::new();
    let _ = timeout(LIMIT, stream.read_to_end(&mut rest)).await.expect("an end");
    assert!(rest.is_empty(), "{}", String::from_utf8_lossy(&rest));
}

#[tokio::test]
async fn flood_of_unknown_tokens_is_answered_with_429_and_accepted_tokens_are_reviewed_at_once() {
    let server = serve(disable_caching).await;
    let token = server.cluster.token_for(ServerUser::new("alice").group("system:masters"));
    let scraper = server.with_token(&token);
    assert_eq!(scraper.get("/metrics").await.code, 200, "accepted once");

    let _clock = pause_limits();
    let (start, mut codes) = (Instant::now(), Vec::new());
    for round in 0..5 {
        let flood = (0..40).map(|number| {
            let client = server.with_token(&format!("garbage-{round}-{number}"));
            async move { client.get("/metrics").await }
        });
        let (replies, scrape) = tokio::join!(join_all(flood), scraper.get("/metrics"));
        assert_eq!(scrape.code, 200);
        for rejected in replies.iter().filter(|reply| reply.code == 429) {
            assert!(rejected.text.contains(r#""reason":"TooManyRequests""#), "{}", rejected.text);
        }
        codes.extend(replies.iter().map(|reply| reply.code));
    }
    let count = |code: u16| codes.iter().filter(|it| **it == code).count();
    let seconds = usize::try_from(start.elapsed().as_secs()).unwrap();
    assert!(count(401) >= 20 && count(401) <= 20 * (seconds + 1), "{} in {seconds} s", count(401));
    assert!(count(429) > 0 && count(401) + count(429) == codes.len(), "{codes:?}");
    let sent = server.cluster.requests().count(&On::writes().resource("tokenreviews"));
    assert_eq!(sent, count(401) + 6, "of the flood and of the scrapes");
    let rejected = server.metric("example_serving_requests_rejected_total", "token_reviews");
    assert_eq!(rejected, u64::try_from(count(429)).unwrap());
}

#[tokio::test]
async fn flood_of_unknown_paths_is_answered_with_429_and_allowed_ones_are_reviewed_at_once() {
    let server = serve(disable_caching).await;
    let token = server.token("prometheus", &[]).await;
    server.allow("ServiceAccount", "prometheus", "/metrics").await;
    let scraper = server.with_token(&token);
    assert_eq!(scraper.get("/metrics").await.code, 200, "allowed once");
    let _clock = pause_limits();
    let flood = (0..40).map(|number| {
        let client = server.anonymous();
        async move { client.get(&format!("/nothing/{number}")).await.code }
    });
    let (codes, code) = tokio::join!(join_all(flood), async { scraper.get("/metrics").await.code });
    assert_eq!(code, 200);
    assert!(codes.iter().all(|code| [403, 429].contains(code)) && codes.contains(&403) && codes.contains(&429));
    let rejected = server.metric("example_serving_requests_rejected_total", "subject_access_reviews");
    assert_eq!(rejected, u64::try_from(codes.iter().filter(|code| **code == 429).count()).unwrap());
}

#[tokio::test]
async fn connections_end_when_the_client_ca_changes() {
    let server = serve(|_| {}).await;
    let mut with_certificate = server.with_certificate("anyone", Some("system:masters")).connect().await.unwrap();
    let mut anonymous = server.anonymous().connect().await.unwrap();
    assert_eq!(get(&mut with_certificate, "/metrics").await, "http/1.1 200 ok");
    assert_eq!(get(&mut anonymous, "/livez").await, "http/1.1 200 ok");
    let h2 = HttpsClient { protocol: "h2", ..server.with_certificate("anyone", Some("system:masters")) };
    let mut idle = h2.connect().await.unwrap();
    let _clock = pause_limits();

    server.certificates.reload().await;
    assert_eq!(get(&mut with_certificate, "/metrics").await, "http/1.1 200 ok", "nothing has changed");

    let other = rbac_cluster().await.0.ca_certificate().unwrap();
    fs::write(server.folder.path().join("authority.crt"), other).unwrap();
    server.certificates.reload().await;
    wait_for_end(&mut with_certificate).await;
    wait_for_end(&mut anonymous).await;
    // HTTP/2 begins and ends with frames of the server.
    let _ = timeout(LIMIT, idle.read_to_end(&mut Vec::new())).await.expect("an end");
    until("closed connections", async || server.closed("client_ca_changed"), |count| *count == 3).await;
    assert!(server.with_certificate("anyone", None).send(http::Method::GET, "/livez", "").await.is_err());
    assert_eq!(server.anonymous().get("/livez").await.code, 200);
}

#[tokio::test]
async fn requests_are_unauthorized_once_the_client_certificate_has_expired() {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let ca_certificate = authority.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(authority, key);
    let server = serve(|settings| {
        let file = settings.authentication.client_ca_file.as_ref().unwrap();
        fs::write(file, ca_certificate).unwrap();
    })
    .await;

    let valid_until = |seconds: i64| {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "anyone");
        params.distinguished_name.push(DnType::OrganizationName, "system:masters");
        let end = Duration::from_secs(seconds.unsigned_abs());
        params.not_after = std::time::SystemTime::UNIX_EPOCH.checked_add(end).unwrap().into();
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &issuer).unwrap().pem();
        HttpsClient { certificate: Some([certificate, key.serialize_pem()]), ..server.anonymous() }
    };
    // Certificates are verified by the clock of the system. A slow machine needs more than two seconds for a request.
    let mut validity = 2;
    let (client, mut stream) = loop {
        let client = valid_until(kube_ambient::now().as_second() + validity);
        if let Ok(mut stream) = client.connect().await
            && served(&mut stream, "/metrics").await.is_ok_and(|reply| reply == "http/1.1 200 ok")
        {
            break (client, stream);
        }
        validity *= 2;
    };
    let mut reply = get(&mut stream, "/metrics").await;
    while reply == "http/1.1 200 ok" {
        reply = get(&mut stream, "/metrics").await;
    }
    assert_eq!(reply, "http/1.1 401 unauthorized");
    assert!(client.send(http::Method::GET, "/livez", "").await.is_err(), "refused by the handshake");
}

#[tokio::test]
async fn silent_connections_displace_each_other_and_not_those_of_clients_that_are_served() {
    let server = serve(|_| {}).await;
    let mut scraper = server.with_certificate("anyone", Some("system:masters")).connect().await.unwrap();
    let mut probe = server.anonymous().connect().await.unwrap();
    assert_eq!(get(&mut scraper, "/metrics").await, "http/1.1 200 ok");
    assert_eq!(get(&mut probe, "/livez").await, "http/1.1 200 ok");
    let _clock = pause_limits();
    let mut silent = Vec::new();
    for _ in 0..400 {
        silent.push(TcpStream::connect(server.address).await.unwrap());
    }
    let waiting = async || server.metric("example_serving_connections", "waiting");
    eventually("displaced and waiting connections", &(400 - 128, 128), async || {
        (server.closed("displaced"), waiting().await)
    })
    .await;
    assert_eq!(get(&mut scraper, "/metrics").await, "http/1.1 200 ok");
    assert_eq!(get(&mut probe, "/livez").await, "http/1.1 200 ok");
    assert_eq!(server.anonymous().get("/livez").await.code, 200);
    // A displaced connection is reset, one that waits is open.
    assert!(silent[0].read_u8().await.is_err());
    assert!(timeout(Duration::from_millis(10), silent[399].read_u8()).await.is_err());
    drop(silent);
    until("no silent connection", waiting, |count| *count == 0).await;
}

/// The same for handshakes that are not completed: the server has answered, and waits for the client.
#[tokio::test]
async fn half_finished_handshakes_displace_no_authenticated_connection() {
    let server = serve(|_| {}).await;
    let mut scraper = server.with_certificate("anyone", Some("system:masters")).connect().await.unwrap();
    // Without a request, it would end after 10 s.
    assert_eq!(get(&mut scraper, "/metrics").await, "http/1.1 200 ok");
    let _clock = pause_limits();
    let mut half = Vec::new();
    for _ in 0..300 {
        let mut stream = server.anonymous().connect().await.unwrap();
        stream.write_all(b"GET /livez HTTP/1.1\r\nx: ").await.unwrap();
        half.push(stream);
    }
    until("displaced connections", async || server.closed("displaced"), |count| *count == 300 - 256).await;
    assert_eq!(get(&mut scraper, "/metrics").await, "http/1.1 200 ok");
    assert_eq!(server.anonymous().get("/livez").await.code, 200);
}
