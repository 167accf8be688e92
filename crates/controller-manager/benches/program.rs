//! Cost of the program outside of the controllers: parsing the command line, and a scrape of `/metrics`.

use std::ffi::OsString;
use std::hint::black_box;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use endpoint_controller_manager::{CertificateFiles, CommandLine, ServerCertificate, Settings, run};
use http::{Method, Request};
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::Server;
use kube_endpoints_testing::https::HttpsClient;
use kube_endpoints_testing::until;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The arguments of kube-controller-manager in a static Pod of kubeadm.
const ARGUMENTS: &str = include_str!("../tests/fixtures/kcm-args.txt");

fn command_line(c: &mut Criterion) {
    let arguments = ARGUMENTS.lines().filter(|line| line.starts_with("--")).chain(["--allow-upstream-flags"]);
    let line: Vec<OsString> = ["controller-manager"].into_iter().chain(arguments).map(OsString::from).collect();
    c.bench_function("command line", |b| b.iter(|| CommandLine::parse(black_box(&line).clone()).expect("understood")));
}

/// The controllers on an embedded API server, with `/metrics` served without authorization.
struct Program {
    sender: SendRequest<Empty<Bytes>>,
    client: Client,
    _tasks: JoinSet<()>,
    _folder: TempDir,
    _server: Server,
}

impl Program {
    async fn start() -> Program {
        let server = Server::start(kube_dev_apiserver::Config::default()).await.expect("a server");
        let config = Config::from_url(&server.url()).expect("a URL");
        let client = Client::new(&config, ClientOptions { qps: 0.0, ..ClientOptions::default() }).expect("a client");
        let folder = tempfile::tempdir().expect("a folder");
        // Another process could take the port before it is bound; accepted in a benchmark.
        let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound");
        let mut settings = Settings::default();
        settings.client.qps = 0.0;
        settings.serving.bind_address = free.ip();
        settings.serving.port = free.port();
        let files = CertificateFiles::pair(folder.path(), "kube-controller-manager");
        settings.serving.certificate = ServerCertificate::Stored(files);
        settings.serving.authorization.always_allow_paths = vec!["/metrics".to_owned()];
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { run(config, settings, CancellationToken::new()).await.expect("runs") });
        let sender = connect(&mut tasks, free, &folder).await;
        Program { sender, client, _tasks: tasks, _folder: folder, _server: server }
    }

    async fn send(&self, method: Method, path: &str, object: &Value) {
        let content_type = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
        let body = object.to_string().into_bytes();
        let (status, answer) = self.client.raw(method, path, Some(content_type), body).await.expect("an answer");
        assert!(status.is_success(), "{path}: {}", String::from_utf8_lossy(&answer));
    }

    /// Creates, changes and deletes objects for a few seconds, so that all metrics have series.
    async fn live(&mut self) {
        const PODS: &str = "/api/v1/namespaces/default/pods";
        self.send(Method::POST, "/api/v1/nodes", &json!({"metadata": {"name": "n1"}})).await;
        for number in 0..10 {
            let ports = json!([{"name": "http", "port": 80}]);
            let spec = json!({"selector": {"app": format!("a{number}")}, "ports": ports});
            let service = json!({"metadata": {"name": format!("s{number}")}, "spec": spec});
            self.send(Method::POST, "/api/v1/namespaces/default/services", &service).await;
            let spec = json!({"nodeName": "n1", "containers": [{"name": "main", "image": "registry.example/app:1"}]});
            let metadata = json!({"name": format!("p{number}"), "labels": {"app": format!("a{number}")}});
            self.send(Method::POST, PODS, &json!({"metadata": metadata, "spec": spec})).await;
            let mine = json!({"metadata": {"name": format!("m{number}")}, "spec": {"ports": ports}});
            self.send(Method::POST, "/api/v1/namespaces/default/services", &mine).await;
            let subsets = json!([{"addresses": [{"ip": "192.0.2.1"}], "ports": ports}]);
            let mine = json!({"metadata": {"name": format!("m{number}")}, "subsets": subsets});
            self.send(Method::POST, "/api/v1/namespaces/default/endpoints", &mine).await;
        }
        for (address, ready) in [("10.1.0.1", "True"), ("10.1.0.1", "False"), ("10.1.0.2", "False")] {
            for number in 0..10 {
                let condition = json!([{"type": "Ready", "status": ready}]);
                let status = json!({"podIP": address, "podIPs": [{"ip": address}], "conditions": condition});
                self.send(Method::PATCH, &format!("{PODS}/p{number}/status"), &json!({"status": status})).await;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        for number in 0..10 {
            self.send(Method::DELETE, &format!("{PODS}/p{number}?gracePeriodSeconds=0"), &json!({})).await;
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }

    /// One scrape over the open connection.
    async fn scrape(&mut self) -> Bytes {
        let request = Request::get("/metrics").header("host", "it").body(Empty::new()).expect("a request");
        self.sender.ready().await.expect("a connection");
        let answer = self.sender.send_request(request).await.expect("an answer");
        assert!(answer.status().is_success(), "{}", answer.status());
        answer.into_body().collect().await.expect("a body").to_bytes()
    }
}

async fn connect(tasks: &mut JoinSet<()>, address: SocketAddr, folder: &TempDir) -> SendRequest<Empty<Bytes>> {
    let accepted = async || {
        let authority = std::fs::read(folder.path().join("kube-controller-manager.crt"))?;
        HttpsClient::anonymous(address, authority).connect().await
    };
    let stream = until("connection", accepted, Result::is_ok).await.expect("accepted");
    let (sender, connection) = handshake(TokioIo::new(stream)).await.expect("a connection");
    tasks.spawn(async { drop(connection.await) });
    sender
}

/// A whole scrape: reading `/proc`, encoding, TLS.
fn metrics(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let mut program = runtime.block_on(async {
        let mut program = Program::start().await;
        program.live().await;
        program
    });
    let mut group = c.benchmark_group("scrape");
    let text = runtime.block_on(program.scrape());
    let series = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && line[0] != b'#').count();
    group.throughput(Throughput::Elements(series as u64));
    group.bench_function(format!("{series} series"), |b| {
        b.iter(|| runtime.block_on(program.scrape()));
    });
    group.finish();
}

criterion_group!(benches, command_line, metrics);
criterion_main!(benches);
