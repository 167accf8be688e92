//! `--url` with https: the pages of a controller-manager in shadow mode, which need authorization.

use std::ffi::OsString;
use std::fs;

use endpoint_controller_manager::{CommandLine, RunError, run};
use kube_controller_client::Config;
use kube_dev_apiserver::{Authorization, ReservedPort, Transport, User};
use kube_endpoints_history::Archive;
use kube_endpoints_testing::https::HttpsClient;
use kube_endpoints_testing::until;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::cluster::{Cluster, Run};

/// A cluster with RBAC, whose kubeconfig is that of an administrator, and the program in shadow mode.
struct Shadow {
    cluster: Cluster,
    port: ReservedPort,
    stop: CancellationToken,
    program: JoinSet<Result<(), RunError>>,
}

impl Shadow {
    async fn start() -> Shadow {
        let (authorization, transport) = (Authorization::Rbac, Transport::Tls);
        let cluster =
            Cluster::start_with(kube_dev_apiserver::Config { authorization, transport, ..Default::default() }, [])
                .await;
        let port = ReservedPort::new().expect("a free port");
        let (folder, kubeconfig) = (cluster.folder().display(), cluster.kubeconfig());
        let mut flags = vec!["controller-manager".to_owned(), "--mode=shadow".to_owned()];
        flags.push("--bind-address=127.0.0.1".to_owned());
        flags.extend([format!("--cert-dir={folder}"), format!("--secure-port={}", port.port())]);
        flags.extend(
            ["authentication-", "authorization-"].map(|of| format!("--{of}kubeconfig={}", kubeconfig.display())),
        );
        let settings = CommandLine::parse(flags.into_iter().map(OsString::from)).expect("flags").settings;
        let config = Config::from_kubeconfig(&kubeconfig).await.expect("a kubeconfig");
        let (stop, mut program) = (CancellationToken::new(), JoinSet::new());
        program.spawn(Box::pin(run(config, settings, stop.clone())));
        Shadow { cluster, port, stop, program }
    }

    fn master(&self) -> String {
        self.cluster.server.token_for(User::new("master").group("system:masters"))
    }

    /// Waits for the pages, and returns the end of the history.
    async fn wait(&self) -> String {
        until("connection", || TcpStream::connect(self.port.address()), Result::is_ok).await.expect("accepted");
        let certificate = fs::read(self.cluster.folder().join("kube-controller-manager.crt")).expect("a certificate");
        let token = Some(self.master());
        let client = HttpsClient { token, ..HttpsClient::anonymous(self.port.address(), certificate) };
        until("page", || client.get("/shadow"), |reply| reply.code == 200).await;
        let history = until("page", || client.get("/history"), |reply| reply.code == 200).await;
        let end = Archive::from_buffers([history.body]).expect("a history").end().expect("readable");
        end.expect("a record").to_string()
    }

    /// Runs the program with this address; `AUTHORITY` and `TOKEN` in the flags are those of the page and of an
    /// administrator.
    async fn run(&self, command: &str, flags: &str) -> Run {
        let certificate = self.cluster.folder().join("kube-controller-manager.crt");
        let flags = flags
            .replace("AUTHORITY", &format!("--certificate-authority={}", certificate.display()))
            .replace("TOKEN", &self.master());
        let server =
            format!("--request-timeout=5m --url=https://127.0.0.1:{} --tls-server-name=localhost", self.port.port());
        self.cluster.run(&format!("{command} {server} {flags}")).await
    }

    async fn stop(mut self) {
        self.stop.cancel();
        self.program.join_next().await.expect("a task").expect("no panic").expect("a clean end");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_is_the_only_credential() {
    let shadow = Shadow::start().await;
    let end = shadow.wait().await;
    let alice = shadow.cluster.server.token_for(User::new("alice"));
    let at = format!("explain svc/web -n shop --at={end}");
    let answers = [
        ("history web -n shop", "No change of the endpoints of shop/web from "),
        ("history --summary -A", ": 2 Services, 0 changes of endpoints."),
        (&at, "web-0"),
        ("shadow -o json", "openMismatches"),
    ];
    for (command, expect) in answers {
        let run = shadow.run(command, "AUTHORITY --token=TOKEN").await;
        assert!(format!("{}{}", run.stdout, run.stderr).contains(expect), "{command}: {run:?}");
        // The kubeconfig of the environment is that of an administrator.
        for (flags, expect) in [
            ("AUTHORITY", "403"),
            (&*format!("AUTHORITY --token={alice}"), "403"),
            ("AUTHORITY --token=garbage", "401"),
            ("--token=TOKEN", "certificate"),
        ] {
            let run = shadow.run(command, flags).await;
            assert!(run.stdout.is_empty() && run.status != 0, "{command} {flags}: {run:?}");
            assert!(run.stderr.contains(expect), "{command} {flags}: {run:?}");
        }
    }
    shadow.stop().await;
}

#[tokio::test]
async fn a_token_is_not_sent_without_tls() {
    let cluster = Cluster::start().await;
    let run = cluster.run("history web -n shop --token=secret --url=http://127.0.0.1:1").await;
    let expected = "error: --token is only sent over https: http://127.0.0.1:1 is not such an address\n";
    assert_eq!((run.status, run.stderr.as_str()), (1, expected));
}
