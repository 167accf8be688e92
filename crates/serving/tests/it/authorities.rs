//! Client certificates that are verified against the CA bundle published in the cluster.

use kube_dev_apiserver::{Fault, On};

use super::*;

const MAPS: &str = "/api/v1/namespaces/kube-system/configmaps";
const MAP: &str = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";

fn without_client_ca_file(settings: &mut ServingSettings) {
    settings.authentication.client_ca_file = None;
}

async fn serve_with_forbidden_lookup(change: impl FnOnce(&mut ServingSettings)) -> Result<TestServer, ServingError> {
    let (cluster, folder) = rbac_cluster().await;
    cluster.faults().inject(Fault::reject(403).on(On::any().resource("configmaps")).times(1));
    serve_for(cluster, folder, true, change).await
}

/// The `ConfigMap` that the API server publishes.
fn published(authority: &str) -> Value {
    json!({"metadata": {"name": "extension-apiserver-authentication"}, "data": {"client-ca-file": authority}})
}

impl TestServer {
    fn ca_certificate(&self) -> String {
        self.cluster.ca_certificate().unwrap()
    }

    /// Status of a request with a client certificate of the cluster in `system:masters`; 0 if the TLS handshake fails.
    async fn status_with_certificate(&self) -> u16 {
        let master = self.with_certificate("anyone", Some("system:masters"));
        master.send(http::Method::GET, "/metrics", "").await.map_or(0, |reply| reply.code)
    }

    async fn reload(&self) {
        self.certificates.reload().await;
    }

    async fn replace(&self, object: &Value) {
        let body = object.to_string().into_bytes();
        let (status, _) = self.client.raw(http::Method::PUT, MAP, Some("application/json"), body).await.unwrap();
        assert!(status.is_success(), "{status}");
    }
}

#[tokio::test]
async fn ca_bundle_of_the_cluster_is_used_without_a_file() {
    let (cluster, folder) = rbac_cluster().await;
    let config = Config::from_kubeconfig(&folder.path().join("kubeconfig")).await.unwrap();
    let client = Client::new(&config, ClientOptions::default()).unwrap();
    let authority = cluster.ca_certificate().unwrap();
    let body = published(&authority).to_string().into_bytes();
    client.raw(http::Method::POST, MAPS, Some("application/json"), body).await.unwrap();
    let _clock = pause_limits();
    let server = serve_for(cluster, folder, true, without_client_ca_file).await.unwrap();
    assert_eq!(server.status_with_certificate().await, 200, "looked up at start");
}

#[tokio::test]
async fn changes_of_the_ca_bundle_are_applied() {
    let server = serve(without_client_ca_file).await;
    assert_eq!(server.status_with_certificate().await, 403, "no bundle published yet");
    server.create(MAPS, &published(&server.ca_certificate())).await;
    server.reload().await;
    assert_eq!(server.status_with_certificate().await, 200);

    server.replace(&published("half a certificate")).await;
    server.reload().await;
    assert_eq!(server.status_with_certificate().await, 200, "an invalid bundle changes nothing");

    let other = rbac_cluster().await.0;
    let others = other.ca_certificate().unwrap();
    server.replace(&published(&others)).await;
    server.reload().await;
    assert_eq!(server.status_with_certificate().await, 0, "the bundle no longer contains the CA");

    server.cluster.faults().inject(Fault::reject(503).on(On::any().resource("configmaps")).times(20));
    server.reload().await;
    assert_eq!(server.status_with_certificate().await, 0, "a failed lookup changes nothing");
    server.cluster.faults().clear();

    let _ = server.client.raw(http::Method::DELETE, MAP, None, Vec::new()).await.unwrap();
    server.reload().await;
    assert_eq!(server.status_with_certificate().await, 403, "without a bundle, certificates are ignored");
}

#[tokio::test]
async fn forbidden_lookup_is_fatal_unless_tolerated() {
    let _clock = pause_limits();
    let error = serve_with_forbidden_lookup(without_client_ca_file).await.err().expect("refused").to_string();
    assert!(error.starts_with("unable to load configmap based client CA file: "), "{error}");

    let tolerant = |settings: &mut ServingSettings| {
        without_client_ca_file(settings);
        settings.authentication.tolerate_lookup_failure = true;
    };
    let server = serve_with_forbidden_lookup(tolerant).await.unwrap();
    assert_eq!(server.status_with_certificate().await, 403);
    // Later lookups are made nevertheless.
    server.create(MAPS, &published(&server.ca_certificate())).await;
    server.reload().await;
    assert_eq!(server.status_with_certificate().await, 200);
}

#[tokio::test]
async fn no_lookup_with_file_or_skip_lookup() {
    let file = serve(|_| {}).await;
    assert_eq!(file.status_with_certificate().await, 200);
    let skipped = serve(|settings| {
        without_client_ca_file(settings);
        settings.authentication.skip_lookup = true;
    });
    let skipped = skipped.await;
    skipped.create(MAPS, &published(&skipped.ca_certificate())).await;
    for server in [&file, &skipped] {
        server.reload().await;
        assert_eq!(server.cluster.requests().count(&On::any().verb("get").resource("configmaps")), 0);
    }
    assert_eq!(skipped.status_with_certificate().await, 403);
}
