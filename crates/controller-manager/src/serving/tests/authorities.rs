//! Client certificates that are verified against the CA bundle published in the cluster.

use kube_dev_apiserver::{Fault, On};

use super::*;

const MAPS: &str = "/api/v1/namespaces/kube-system/configmaps";
const MAP: &str = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";

/// Settings without `--client-ca-file`.
fn looked_up(settings: &mut ServingSettings) {
    settings.authentication.client_ca_file = None;
}

async fn serve_refused(change: impl FnOnce(&mut ServingSettings)) -> Result<Served, ServingError> {
    let (cluster, folder) = guarded_cluster().await;
    cluster.faults().inject(Fault::refuse(403).on(On::any().resource("configmaps")).times(1));
    serve_for(cluster, folder, true, change).await
}

/// The `ConfigMap` that the API server publishes.
fn published(authority: &str) -> Value {
    json!({"metadata": {"name": "extension-apiserver-authentication"}, "data": {"client-ca-file": authority}})
}

impl Served {
    fn own_authority(&self) -> String {
        self.cluster.ca_certificate().unwrap()
    }

    /// Status of a request with a client certificate of the cluster in `system:masters`; 0 if the TLS handshake fails.
    async fn certified_sees(&self) -> u16 {
        let master = self.certified("anyone", Some("system:masters"));
        master.ask(http::Method::GET, "/metrics", "").await.map_or(0, |reply| reply.code)
    }

    async fn look_again(&self) {
        Arc::clone(&self.tls).look_again().await;
    }

    async fn replace(&self, object: &Value) {
        let body = object.to_string().into_bytes();
        let (status, _) = self.client.raw(http::Method::PUT, MAP, Some("application/json"), body).await.unwrap();
        assert!(status.is_success(), "{status}");
    }
}

#[tokio::test]
async fn the_cluster_names_the_authorities_where_no_file_does() {
    let (cluster, folder) = guarded_cluster().await;
    let config = Config::from_kubeconfig(&folder.path().join("kubeconfig")).await.unwrap();
    let client = Client::new(&config, ClientOptions::default()).unwrap();
    let authority = cluster.ca_certificate().unwrap();
    let body = published(&authority).to_string().into_bytes();
    client.raw(http::Method::POST, MAPS, Some("application/json"), body).await.unwrap();
    let served = serve_for(cluster, folder, true, looked_up).await.unwrap();
    assert_eq!(served.certified_sees().await, 200, "looked up at start");
}

#[tokio::test]
async fn what_the_cluster_says_is_followed() {
    let served = serve(looked_up).await;
    assert_eq!(served.certified_sees().await, 403, "no bundle published yet");
    served.create(MAPS, &published(&served.own_authority())).await;
    served.look_again().await;
    assert_eq!(served.certified_sees().await, 200);

    served.replace(&published("half a certificate")).await;
    served.look_again().await;
    assert_eq!(served.certified_sees().await, 200, "an invalid bundle changes nothing");

    let other = guarded_cluster().await.0;
    let others = other.ca_certificate().unwrap();
    served.replace(&published(&others)).await;
    served.look_again().await;
    assert_eq!(served.certified_sees().await, 0, "the bundle no longer contains the CA");

    served.cluster.faults().inject(Fault::refuse(503).on(On::any().resource("configmaps")).times(20));
    served.look_again().await;
    assert_eq!(served.certified_sees().await, 0, "a failed lookup changes nothing");
    served.cluster.faults().clear();

    let _ = served.client.raw(http::Method::DELETE, MAP, None, Vec::new()).await.unwrap();
    served.look_again().await;
    assert_eq!(served.certified_sees().await, 403, "without a bundle, certificates are ignored");
}

#[tokio::test]
async fn a_cluster_that_refuses_to_say_ends_it_unless_that_is_tolerated() {
    let error = serve_refused(looked_up).await.err().expect("refused").to_string();
    assert!(error.starts_with("unable to load configmap based client CA file: "), "{error}");

    let tolerant = |settings: &mut ServingSettings| {
        looked_up(settings);
        settings.authentication.tolerate_lookup_failure = true;
    };
    let served = serve_refused(tolerant).await.unwrap();
    assert_eq!(served.certified_sees().await, 403);
    // Later lookups are made nevertheless.
    served.create(MAPS, &published(&served.own_authority())).await;
    served.look_again().await;
    assert_eq!(served.certified_sees().await, 200);
}

#[tokio::test]
async fn nobody_is_asked_who_need_not_or_must_not_be() {
    let file = serve(|_| {}).await;
    assert_eq!(file.certified_sees().await, 200);
    let skipped = serve(|settings| {
        looked_up(settings);
        settings.authentication.skip_lookup = true;
    });
    let skipped = skipped.await;
    skipped.create(MAPS, &published(&skipped.own_authority())).await;
    for served in [&file, &skipped] {
        served.look_again().await;
        assert_eq!(served.cluster.requests().count(&On::any().verb("get").resource("configmaps")), 0);
    }
    assert_eq!(skipped.certified_sees().await, 403);
}
