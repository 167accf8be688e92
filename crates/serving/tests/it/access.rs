//! Authentication and authorization of requests.

use http::Method;
use kube_dev_apiserver::{Fault, On, User};
use rstest::rstest;

use super::*;

/// Paths that need authorization.
const PROTECTED: [&str; 6] = ["/metrics", "/configz", "/flagz", "/statusz", "/livez/ping", "/nothing"];

fn reviews(server: &TestServer) -> (usize, usize) {
    let count = |resource| server.cluster.requests().count(&On::writes().resource(resource));
    (count("tokenreviews"), count("subjectaccessreviews"))
}

#[tokio::test]
async fn only_health_paths_need_no_authorization() {
    let server = serve(|_| {}).await;
    for protocol in ["http/1.1", "h2"] {
        let anonymous = HttpsClient { protocol, ..server.anonymous() };
        for path in ["/healthz", "/livez", "/readyz"] {
            let reply = anonymous.get(path).await;
            assert_eq!((reply.code, reply.text.as_str()), (200, "ok"), "{path}");
        }
        for path in PROTECTED {
            let reply = anonymous.get(path).await;
            assert_eq!((reply.code, reply.content_type.as_str()), (403, "application/json"), "{path}");
            let message = format!("forbidden: User \\\"system:anonymous\\\" cannot get path \\\"{path}\\\"");
            assert!(reply.text.contains(&message), "{}", reply.text);
        }
    }
}

#[tokio::test]
async fn invalid_tokens_are_rejected() {
    let server = serve(disable_caching).await;
    let deleted = server.token("deleted", &[]).await;
    assert_eq!(server.with_token(&deleted).get("/metrics").await.code, 403, "valid token, not authorized");
    let path = "/api/v1/namespaces/default/serviceaccounts/deleted";
    let _ = server.client.raw(Method::DELETE, path, None, Vec::new()).await.unwrap();
    let expired = server.token("expired", &[]).await;
    assert_eq!(server.with_token(&expired).get("/metrics").await.code, 403, "valid token, not authorized");
    server.cluster.expire_tokens();
    let other_audience = server.token("elsewhere", &["vault"]).await;
    for (token, why) in [
        ("garbage", "garbage"),
        (&deleted, "deleted service account"),
        (&expired, "expired"),
        (&other_audience, "other audience"),
    ] {
        for path in PROTECTED {
            let reply = server.with_token(token).get(path).await;
            assert_eq!(reply.code, 401, "{why}, {path}");
            assert!(reply.text.contains(r#""reason":"Unauthorized""#), "{}", reply.text);
        }
        // As upstream, an invalid token is rejected on always allowed paths, too.
        assert_eq!(server.with_token(token).get("/healthz").await.code, 401, "{why}");
    }
}

#[tokio::test]
async fn token_may_read_authorized_paths_only() {
    let server = serve(|_| {}).await;
    let token = server.token("prometheus", &[]).await;
    server.allow("ServiceAccount", "prometheus", "/metrics").await;
    let prometheus = server.with_token(&token);
    let reply = prometheus.get("/metrics").await;
    assert_eq!((reply.code, reply.content_type.as_str()), (200, "text/plain; version=0.0.4; charset=utf-8"));
    assert!(reply.text.contains("\nthings_total 0\n"), "{}", reply.text);
    assert_eq!(prometheus.get("/flagz").await.code, 403);
    assert_eq!(prometheus.send(Method::DELETE, "/metrics", "").await.unwrap().code, 403);
}

#[rstest]
#[case::masters("anyone", Some("system:masters"), 200)]
#[case::with_rights("watcher", None, 200)]
#[case::without_rights("other", None, 403)]
#[tokio::test]
async fn client_certificate_identifies_a_user(#[case] user: &str, #[case] group: Option<&str>, #[case] code: u16) {
    let server = serve(|_| {}).await;
    server.allow("User", "watcher", "/metrics").await;
    assert_eq!(server.with_certificate(user, group).get("/metrics").await.code, code);
    assert_eq!(reviews(&server).0, 0, "no TokenReview for a client certificate");
}

#[tokio::test]
async fn certificates_of_other_cas_are_rejected() {
    let (server, other) = (serve(|_| {}).await, serve(|_| {}).await);
    let certificate = other.with_certificate("anyone", Some("system:masters")).certificate;
    let client = HttpsClient { certificate, ..server.anonymous() };
    assert!(client.send(Method::GET, "/metrics", "").await.is_err());
    assert_eq!(server.anonymous().get("/livez").await.code, 200);
}

#[tokio::test]
async fn without_ca_bundle_certificates_are_ignored() {
    let server = serve(|settings| settings.authentication.client_ca_file = None).await;
    assert_eq!(server.with_certificate("anyone", Some("system:masters")).get("/metrics").await.code, 403);
}

#[tokio::test]
async fn reviews_are_cached() {
    let server = serve(|_| {}).await;
    let _clock = pause_limits();
    let token = server.cluster.token_for(User::new("alice").group("system:masters"));
    let other = server.cluster.token_for(User::new("bob"));
    for _ in 0..3 {
        assert_eq!(server.with_token(&token).get("/metrics").await.code, 200);
        assert_eq!(server.with_token(&other).get("/metrics").await.code, 403);
        assert_eq!(server.with_token("garbage").get("/metrics").await.code, 401);
    }
    assert_eq!(reviews(&server), (3, 1), "no SubjectAccessReview for system:masters");
}

#[tokio::test]
async fn zero_ttl_disables_caching() {
    let server = serve(disable_caching).await;
    let token = server.cluster.token_for(User::new("alice"));
    for _ in 0..3 {
        assert_eq!(server.with_token(&token).get("/metrics").await.code, 403);
    }
    assert_eq!(reviews(&server), (3, 3));
}

#[tokio::test]
async fn without_reviewers_tokens_are_ignored_and_requests_forbidden() {
    let server = serve_with(false, |_| {}).await;
    let token = server.cluster.token_for(User::new("alice").group("system:masters"));
    assert_eq!(server.with_token(&token).get("/metrics").await.code, 403);
    assert_eq!(server.with_token(&token).get("/livez").await.code, 200);
    assert_eq!(server.with_certificate("anyone", Some("system:masters")).get("/metrics").await.code, 200);
    assert_eq!(reviews(&server), (0, 0));
}

#[tokio::test]
async fn failed_reviews_deny_access_and_are_not_cached() {
    let server = serve(|_| {}).await;
    let token = server.cluster.token_for(User::new("alice"));
    for resource in ["tokenreviews", "subjectaccessreviews"] {
        let fault = Fault::internal_error().on(On::any().resource(resource)).times(1);
        server.cluster.faults().inject(fault);
    }
    assert_eq!(server.with_token(&token).get("/metrics").await.code, 401);
    let reply = server.with_token(&token).get("/metrics").await;
    assert_eq!(reply.code, 500);
    assert!(reply.text.contains("InternalError"), "{}", reply.text);
    // Failed reviews are not cached.
    assert_eq!(server.with_token(&token).get("/metrics").await.code, 403);
}

#[tokio::test]
async fn always_allow_paths_are_configurable() {
    let paths = ["/metrics", "/livez/*"].map(str::to_owned).to_vec();
    let server = serve(|settings| settings.authorization.always_allow_paths = paths).await;
    let anonymous = server.anonymous();
    assert_eq!(anonymous.get("/metrics").await.code, 200);
    assert_eq!(anonymous.get("/livez/ping").await.code, 200);
    assert_eq!(anonymous.get("/flagz").await.code, 403);
    assert_eq!(anonymous.send(Method::POST, "/metrics", "").await.unwrap().code, 405);
}

#[tokio::test]
async fn health_checks_are_counted_until_reset() {
    let server = serve(|_| {}).await;
    let master = server.with_certificate("anyone", Some("system:masters"));
    for _ in 0..2 {
        master.get("/livez").await;
    }
    let counted = "# HELP kubernetes_healthcheck [STABLE] This metric records the result of a single healthcheck.\n\
                   # TYPE kubernetes_healthcheck gauge\n\
                   kubernetes_healthcheck{name=\"ping\",type=\"livez\"} 1\n\
                   # HELP kubernetes_healthchecks_total [STABLE] This metric records the results of all healthcheck.\n\
                   # TYPE kubernetes_healthchecks_total counter\n\
                   kubernetes_healthchecks_total{name=\"ping\",status=\"success\",type=\"livez\"} 2\n";
    assert_eq!(master.get("/metrics/slis").await.text, counted);
    assert_eq!(server.anonymous().get("/metrics/slis").await.code, 403);
    assert_eq!(master.send(Method::DELETE, "/metrics/slis", "").await.unwrap().text, "metrics reset\n");
    assert!(!master.get("/metrics/slis").await.text.contains("ping"));
    assert_eq!(master.send(Method::DELETE, "/metrics", "").await.unwrap().code, 405);
}

#[tokio::test]
async fn masters_may_read_all_pages() {
    let server = serve(|_| {}).await;
    let master = server.with_certificate("anyone", Some("system:masters"));
    let page = master.get("/configz?output=json").await;
    assert_eq!(
        (page.code, page.content_type.as_str(), page.text.as_str()),
        (200, "application/json", r#"{"query":"output=json"}"#)
    );
    assert_eq!(master.send(Method::PUT, "/configz", "").await.unwrap().code, 405);
    assert_eq!(master.get("/nothing").await.code, 404);
}
