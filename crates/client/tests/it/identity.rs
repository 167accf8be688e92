//! Authentication and user agent headers, and warnings of the server.

use std::fs;
use std::io::Write;
use std::sync::{Arc, Mutex};

use display_full_error::DisplayFullErrorExt as _;
use http::HeaderName;
use http::header::{AUTHORIZATION, USER_AGENT};
use kube_controller_client::{Client, ClientOptions, Config, KubeconfigOptions};
use tracing_subscriber::layer::SubscriberExt as _;

use crate::cluster::{client, config_map};
use crate::failures::serve;
use crate::tls;

/// Returns a client with a token file and its own user agent.
pub(crate) async fn with_token_file(folder: &std::path::Path, server: &tls::Tls, token: &str) -> Client {
    let file = folder.join("token");
    fs::write(&file, token).expect("write token");
    // Writes the kubeconfig of other tests, in which the token is then replaced.
    drop(tls::client(folder, server).await);
    let kubeconfig = fs::read_to_string(folder.join("admin.conf")).expect("read kubeconfig");
    let kubeconfig = kubeconfig.replace("token: a-token", &format!("tokenFile: {}", file.display()));
    fs::write(folder.join("admin.conf"), kubeconfig).expect("write kubeconfig");
    let config = Config::from_kubeconfig(&folder.join("admin.conf")).await.expect("load kubeconfig");
    let options = ClientOptions { user_agent: "part/v1 (os/arch) of/test".to_owned(), ..ClientOptions::default() };
    Client::new(&config, options).expect("create client")
}

pub(crate) fn header(server: &tls::Tls, name: &http::HeaderName) -> String {
    let requests = server.requests.lock().expect("lock");
    let value = requests.last().expect("no request").2.headers().get(name).expect("header is missing");
    value.to_str().expect("ASCII header").to_owned()
}

#[tokio::test]
async fn sends_authorization_and_user_agent() {
    let (server, folder) = (tls::serve(&["h2"]).await, tempfile::tempdir().expect("tempdir"));
    let client = with_token_file(folder.path(), &server, "from-a-file").await;
    client.get_json("/version").await.expect("request");
    assert_eq!(header(&server, &AUTHORIZATION), "Bearer from-a-file");
    assert_eq!(header(&server, &USER_AGENT), "part/v1 (os/arch) of/test");
}

#[tokio::test]
async fn overridden_token_and_impersonation_are_sent() {
    let (server, folder) = (tls::serve(&["h2"]).await, tempfile::tempdir().expect("tempdir"));
    drop(tls::client(folder.path(), &server).await);
    let options = KubeconfigOptions {
        path: Some(folder.path().join("admin.conf")),
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

#[tokio::test]
async fn credential_plugin_that_is_not_installed_is_named() {
    let (server, folder) = (tls::serve(&["h2"]).await, tempfile::tempdir().expect("tempdir"));
    drop(tls::client(folder.path(), &server).await);
    let path = folder.path().join("admin.conf");
    let plugin = "exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-plugin, interactiveMode: Never, \
                  installHint: 'See example.com.'}";
    let kubeconfig = fs::read_to_string(&path).expect("read kubeconfig").replace("token: a-token", plugin);
    fs::write(&path, kubeconfig).expect("write kubeconfig");
    let config = Config::from_kubeconfig(&path).await.expect("load kubeconfig");
    let error = Client::new(&config, ClientOptions::default()).expect_err("no plugin").to_string_full();
    let expect = format!(
        "cannot set up the connection to {}/: cannot start the credential plugin \"no-such-plugin\" of the kubeconfig (See \
         example.com.): No such file",
        server.url
    );
    assert!(error.starts_with(&expect), "{error}");
}

const WITH_WARNING: &str = "HTTP/1.1 404 x\r\nwarning: 299 - \"v1 Endpoints is deprecated\"\r\ncontent-length: 2\r\n\
                      connection: close\r\n\r\n{}";

#[derive(Clone, Default)]
struct LogBuffer(Arc<Mutex<Vec<u8>>>);

impl Write for LogBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("lock").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn server_warning_is_logged_once() {
    let buffer = LogBuffer::default();
    let writer = buffer.clone();
    let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(move || writer.clone());
    let _logging = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
    let (url, mut server) = serve(vec![WITH_WARNING; 3]).await;
    let client = client(&url);
    for _ in 0..3 {
        client.create(&config_map("web")).await.expect_err("request succeeded");
    }
    assert_eq!(server.join_next().await.expect("task set is empty").expect("task panicked"), 3);
    let log = String::from_utf8(buffer.0.lock().expect("lock").clone()).expect("UTF-8");
    let warned: Vec<&str> = log.lines().filter(|line| line.contains("v1 Endpoints is deprecated")).collect();
    assert_eq!(warned.len(), 1, "{log}");
    assert!(warned[0].contains("WARN") && warned[0].contains("create configmaps default/web"), "{log}");
}
