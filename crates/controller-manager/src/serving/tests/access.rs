//! Authentication and authorization of requests.

use http::Method;
use kube_dev_apiserver::{Fault, On, User};
use rstest::rstest;

use super::*;

/// Paths that need authorization.
const GUARDED: [&str; 6] = ["/metrics", "/configz", "/flagz", "/statusz", "/livez/ping", "/nothing"];

fn reviews(served: &Served) -> (usize, usize) {
    let count = |resource| served.cluster.requests().count(&On::writes().resource(resource));
    (count("tokenreviews"), count("subjectaccessreviews"))
}

#[tokio::test]
async fn health_is_open_to_all_and_nothing_else_is() {
    let served = serve(|_| {}).await;
    for protocol in ["http/1.1", "h2"] {
        let stranger = Caller { protocol, ..served.stranger() };
        for path in ["/healthz", "/livez", "/readyz"] {
            let reply = stranger.get(path).await;
            assert_eq!((reply.code, reply.text.as_str()), (200, "ok"), "{path}");
        }
        for path in GUARDED {
            let reply = stranger.get(path).await;
            assert_eq!((reply.code, reply.content_type.as_str()), (403, "application/json"), "{path}");
            let message = format!("forbidden: User \\\"system:anonymous\\\" cannot get path \\\"{path}\\\"");
            assert!(reply.text.contains(&message), "{}", reply.text);
        }
    }
}

#[tokio::test]
async fn a_token_that_is_nobodys_is_refused() {
    let served = serve(forgetful).await;
    let deleted = served.token("deleted", &[]).await;
    assert_eq!(served.holder(&deleted).get("/metrics").await.code, 403, "valid token, not authorized");
    let path = "/api/v1/namespaces/default/serviceaccounts/deleted";
    let _ = served.client.raw(Method::DELETE, path, None, Vec::new()).await.unwrap();
    let expired = served.token("expired", &[]).await;
    assert_eq!(served.holder(&expired).get("/metrics").await.code, 403, "valid token, not authorized");
    served.cluster.expire_tokens();
    let elsewhere = served.token("elsewhere", &["vault"]).await;
    for (token, why) in [
        ("garbage", "garbage"),
        (&deleted, "deleted service account"),
        (&expired, "expired"),
        (&elsewhere, "other audience"),
    ] {
        for path in GUARDED {
            let reply = served.holder(token).get(path).await;
            assert_eq!(reply.code, 401, "{why}, {path}");
            assert!(reply.text.contains(r#""reason":"Unauthorized""#), "{}", reply.text);
        }
        // As upstream, an invalid token is rejected on always allowed paths, too.
        assert_eq!(served.holder(token).get("/healthz").await.code, 401, "{why}");
    }
}

#[tokio::test]
async fn a_token_with_rights_sees_what_they_are_for() {
    let served = serve(|_| {}).await;
    let token = served.token("prometheus", &[]).await;
    served.allow("ServiceAccount", "prometheus", "/metrics").await;
    let prometheus = served.holder(&token);
    let reply = prometheus.get("/metrics").await;
    assert_eq!((reply.code, reply.content_type.as_str()), (200, "text/plain; version=0.0.4; charset=utf-8"));
    assert!(reply.text.contains("\nthings_total 0\n"), "{}", reply.text);
    assert_eq!(prometheus.get("/flagz").await.code, 403);
    assert_eq!(prometheus.ask(Method::DELETE, "/metrics", "").await.unwrap().code, 403);
}

#[rstest]
#[case::masters("anyone", Some("system:masters"), 200)]
#[case::with_rights("watcher", None, 200)]
#[case::without_rights("other", None, 403)]
#[tokio::test]
async fn a_client_certificate_is_a_user(#[case] user: &str, #[case] group: Option<&str>, #[case] code: u16) {
    let served = serve(|_| {}).await;
    served.allow("User", "watcher", "/metrics").await;
    assert_eq!(served.certified(user, group).get("/metrics").await.code, code);
    assert_eq!(reviews(&served).0, 0, "no TokenReview for a client certificate");
}

#[tokio::test]
async fn certificates_of_other_authorities_are_refused() {
    let (served, other) = (serve(|_| {}).await, serve(|_| {}).await);
    let certificate = other.certified("anyone", Some("system:masters")).certificate;
    let liar = Caller { certificate, ..served.stranger() };
    assert!(liar.ask(Method::GET, "/metrics", "").await.is_err());
    assert_eq!(served.stranger().get("/livez").await.code, 200);
}

#[tokio::test]
async fn without_an_authority_certificates_say_nothing() {
    let served = serve(|settings| settings.authentication.client_ca_file = None).await;
    assert_eq!(served.certified("anyone", Some("system:masters")).get("/metrics").await.code, 403);
}

#[tokio::test]
async fn what_was_reviewed_is_remembered() {
    let served = serve(|_| {}).await;
    let token = served.cluster.token_for(User::new("alice").group("system:masters"));
    let other = served.cluster.token_for(User::new("bob"));
    for _ in 0..3 {
        assert_eq!(served.holder(&token).get("/metrics").await.code, 200);
        assert_eq!(served.holder(&other).get("/metrics").await.code, 403);
        assert_eq!(served.holder("garbage").get("/metrics").await.code, 401);
    }
    assert_eq!(reviews(&served), (3, 1), "no SubjectAccessReview for system:masters");
}

#[tokio::test]
async fn what_is_good_for_no_time_is_asked_each_time() {
    let served = serve(forgetful).await;
    let token = served.cluster.token_for(User::new("alice"));
    for _ in 0..3 {
        assert_eq!(served.holder(&token).get("/metrics").await.code, 403);
    }
    assert_eq!(reviews(&served), (3, 3));
}

#[tokio::test]
async fn without_reviewers_tokens_say_nothing_and_nothing_is_allowed() {
    let served = serve_with(false, |_| {}).await;
    let token = served.cluster.token_for(User::new("alice").group("system:masters"));
    assert_eq!(served.holder(&token).get("/metrics").await.code, 403);
    assert_eq!(served.holder(&token).get("/livez").await.code, 200);
    assert_eq!(served.certified("anyone", Some("system:masters")).get("/metrics").await.code, 200);
    assert_eq!(reviews(&served), (0, 0));
}

#[tokio::test]
async fn an_api_server_that_cannot_review_opens_nothing() {
    let served = serve(|_| {}).await;
    let token = served.cluster.token_for(User::new("alice"));
    for resource in ["tokenreviews", "subjectaccessreviews"] {
        let fault = Fault::internal_error().on(On::any().resource(resource)).times(1);
        served.cluster.faults().inject(fault);
    }
    assert_eq!(served.holder(&token).get("/metrics").await.code, 401);
    let reply = served.holder(&token).get("/metrics").await;
    assert_eq!(reply.code, 500);
    assert!(reply.text.contains("InternalError"), "{}", reply.text);
    // Failed reviews are not cached.
    assert_eq!(served.holder(&token).get("/metrics").await.code, 403);
}

#[tokio::test]
async fn other_paths_can_be_opened() {
    let paths = ["/metrics", "/livez/*"].map(str::to_owned).to_vec();
    let served = serve(|settings| settings.authorization.always_allow_paths = paths).await;
    let stranger = served.stranger();
    assert_eq!(stranger.get("/metrics").await.code, 200);
    assert_eq!(stranger.get("/livez/ping").await.code, 200);
    assert_eq!(stranger.get("/flagz").await.code, 403);
    assert_eq!(stranger.ask(Method::POST, "/metrics", "").await.unwrap().code, 405);
}

#[tokio::test]
async fn checks_are_counted_until_they_are_reset() {
    let served = serve(|_| {}).await;
    let master = served.certified("anyone", Some("system:masters"));
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
    assert_eq!(served.stranger().get("/metrics/slis").await.code, 403);
    assert_eq!(master.ask(Method::DELETE, "/metrics/slis", "").await.unwrap().text, "metrics reset\n");
    assert!(!master.get("/metrics/slis").await.text.contains("ping"));
    assert_eq!(master.ask(Method::DELETE, "/metrics", "").await.unwrap().code, 405);
}

#[tokio::test]
async fn the_pages_are_there_for_masters() {
    let served = serve(|_| {}).await;
    let master = served.certified("anyone", Some("system:masters"));
    let flagz = master.get("/flagz").await.text;
    assert!(
        flagz.starts_with("\nendpoint-controller-manager flagz\nWarning: ") && flagz.ends_with("\nsecure-port=0\n"),
        "{flagz}"
    );
    let flagz = master.get_as("/flagz", "application/json;g=config.k8s.io;v=v1beta1;as=Flagz").await.text;
    assert_eq!(serde_json::from_str::<Value>(&flagz).unwrap()["flags"], json!({"secure-port": "0"}));
    assert_eq!(master.get_as("/flagz", "application/json").await.code, 406);
    let statusz = master.get_as("/statusz", "application/yaml;g=config.k8s.io;v=v1beta1;as=Statusz").await;
    assert_eq!((statusz.code, statusz.content_type.as_str()), (200, "application/yaml"));
    assert!(statusz.text.contains("\nkind: Statusz\n"), "{}", statusz.text);
    assert!(master.get("/statusz").await.text.contains("Paths: /configz /flagz /healthz"));
    assert_eq!(master.get("/configz").await.content_type, "application/json");
    assert_eq!(master.get("/nothing").await.code, 404);
    let open = master.get_as("/metrics", "application/openmetrics-text;version=1.0.0").await;
    assert!(open.content_type.starts_with("application/openmetrics-text") && open.text.ends_with("# EOF\n"));
}
