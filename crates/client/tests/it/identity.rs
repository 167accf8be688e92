//! Authentication and user agent headers, and warnings of the server.

use http::HeaderName;
use http::header::AUTHORIZATION;
use kube_controller_client::{Client, ClientOptions, Config, KubeconfigOptions};
use kube_endpoints_testing::LogLines;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::cluster::{client, config_map};
use crate::failures::serve;
use crate::tls;

fn header(server: &tls::Tls, name: &http::HeaderName) -> String {
    let requests = server.requests.lock().expect("lock");
    let value = requests.last().expect("no request").2.headers().get(name).expect("header is missing");
    value.to_str().expect("ASCII header").to_owned()
}

#[tokio::test]
async fn overridden_token_and_impersonation_are_sent() {
    let (server, folder) = (tls::serve(&["h2"]).await, tempfile::tempdir().expect("tempdir"));
    let options = KubeconfigOptions {
        path: Some(server.write_kubeconfig(folder.path())),
        token: Some("given".to_owned().into()),
        impersonate: Some("bob".to_owned()),
        impersonate_uid: Some("7".to_owned()),
        ..KubeconfigOptions::default()
    };
    let config = Config::from_kubeconfig_with(options).await.expect("load kubeconfig");
    let client = Client::new(&config, ClientOptions::default()).expect("create client");
    client.get_json("/version").await.expect("request");
    assert_eq!(header(&server, &AUTHORIZATION), "Bearer given");
    let [user, uid] = ["impersonate-user", "impersonate-uid"].map(HeaderName::from_static);
    assert_eq!((header(&server, &user).as_str(), header(&server, &uid).as_str()), ("bob", "7"));
}

const WITH_WARNING: &str = "HTTP/1.1 404 x\r\nwarning: 299 - \"v1 Endpoints is deprecated\"\r\ncontent-length: 2\r\n\
                      connection: close\r\n\r\n{}";

#[tokio::test]
async fn server_warning_is_logged_once() {
    let lines = LogLines::default();
    let writer = lines.clone();
    let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(move || writer.clone());
    let _logging = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
    let (url, mut server) = serve(vec![WITH_WARNING; 3]).await;
    let client = client(&url);
    for _ in 0..3 {
        client.create(&config_map("web")).await.expect_err("request succeeded");
    }
    assert_eq!(server.join_next().await.expect("task set is empty").expect("task panicked").len(), 3);
    let log = lines.text();
    let warned: Vec<&str> = log.lines().filter(|line| line.contains("v1 Endpoints is deprecated")).collect();
    assert_eq!(warned.len(), 1, "{log}");
    assert!(warned[0].contains("WARN") && warned[0].contains("create configmaps default/web"), "{log}");
}
