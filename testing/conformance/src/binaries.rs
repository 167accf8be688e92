//! A real kube-apiserver with its etcd, started from binaries in a directory, as by envtest (`KUBEBUILDER_ASSETS`).

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use kube_controller_client::Config;
use kube_dev_apiserver::ReservedPort;
use tempfile::TempDir;
use tokio::{
    process::{Child, Command},
    time::{Instant, sleep},
};

use crate::{
    Api, Request,
    process::{end_of_log, spawn},
};

/// File of the signing key for service account tokens, which kube-apiserver requires.
const KEY: &str = "service-accounts.key";
/// File of static tokens.
const TOKENS: &str = "tokens.csv";
/// File of the kubeconfig with [`TOKEN`].
const KUBECONFIG: &str = "kubeconfig";
/// Token with all rights. It may be constant, since the server listens on loopback for the duration of a test.
const TOKEN: &str = "conformance";

/// Maximum time until the API is ready.
const LIMIT: Duration = Duration::from_secs(60);

/// A running kube-apiserver with its etcd. When this is dropped, both are killed and their files are removed.
#[derive(Debug)]
pub struct ControlPlane {
    _apiserver: Child,
    _etcd: Child,
    files: TempDir,
    _ports: [ReservedPort; 2],
}

impl ControlPlane {
    /// Starts `etcd` and `kube-apiserver` from `directory` on free ports of loopback, and waits until the API is ready.
    ///
    /// # Errors
    /// A binary or `openssl` is missing, a process ends, or the API is not ready within 60 s.
    pub async fn start(directory: &Path) -> Result<Self> {
        let (etcd, apiserver) = (binary(directory, "etcd")?, binary(directory, "kube-apiserver")?);
        let files = tempfile::tempdir().context("cannot create a directory for etcd and kube-apiserver")?;
        let reserved = [ReservedPort::new()?, ReservedPort::new()?];
        make_key(&files.path().join(KEY)).await?;
        eprintln!("starting {} and {} on loopback, {reserved:?}", etcd.display(), apiserver.display());
        Self::run(&etcd, &apiserver, files, reserved).await
    }

    async fn run(etcd: &Path, apiserver: &Path, files: TempDir, reserved: [ReservedPort; 2]) -> Result<Self> {
        let ports = Ports { etcd: reserved[0].port(), apiserver: reserved[1].port() };
        fs::write(files.path().join(TOKENS), format!("{TOKEN},conformance,conformance,\"system:masters\"\n"))?;
        fs::write(files.path().join(KUBECONFIG), kubeconfig(ports.apiserver).to_string())?;
        let mut etcd = spawn(etcd, "etcd", &etcd_arguments(files.path(), ports), &[], files.path())?;
        let arguments = apiserver_arguments(files.path(), ports);
        let mut apiserver = spawn(apiserver, "kube-apiserver", &arguments, &[], files.path())?;
        let config = Config::from_kubeconfig(&files.path().join(KUBECONFIG)).await?;
        let api = Api::new(&config)?;
        let start = Instant::now();
        loop {
            for (name, child) in [("etcd", &mut etcd), ("kube-apiserver", &mut apiserver)] {
                if let Some(status) = child.try_wait()? {
                    bail!("{name} ended: {status}\n{}", end_of_log(files.path(), name));
                }
            }
            match api.ok(Request::get("/readyz".to_owned())).await {
                Ok(_) => break,
                Err(error) if start.elapsed() > LIMIT => {
                    let log = end_of_log(files.path(), "kube-apiserver");
                    bail!("kube-apiserver is not ready after {} s: {error:#}\n{log}", LIMIT.as_secs());
                }
                Err(_) => sleep(Duration::from_millis(250)).await,
            }
        }
        Ok(Self { _apiserver: apiserver, _etcd: etcd, files, _ports: reserved })
    }

    /// Returns the path of a kubeconfig with all rights.
    pub fn kubeconfig(&self) -> PathBuf {
        self.files.path().join(KUBECONFIG)
    }
}

#[derive(Debug, Clone, Copy)]
struct Ports {
    etcd: u16,
    apiserver: u16,
}

fn binary(directory: &Path, name: &str) -> Result<PathBuf> {
    let path = directory.join(name);
    ensure!(path.is_file(), "KUBEBUILDER_ASSETS is {}, but there is no {name} in it", directory.display());
    Ok(path)
}

fn etcd_arguments(files: &Path, Ports { etcd, .. }: Ports) -> Vec<String> {
    vec![
        format!("--data-dir={}", files.join("etcd").display()),
        format!("--listen-client-urls=http://127.0.0.1:{etcd}"),
        format!("--advertise-client-urls=http://127.0.0.1:{etcd}"),
        // A single member has no peers, and the default port may be in use.
        "--listen-peer-urls=http://127.0.0.1:0".to_owned(),
        // Test data need not survive a crash.
        "--unsafe-no-fsync=true".to_owned(),
    ]
}

fn apiserver_arguments(files: &Path, Ports { etcd, apiserver }: Ports) -> Vec<String> {
    let key = files.join(KEY);
    vec![
        format!("--etcd-servers=http://127.0.0.1:{etcd}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--advertise-address=127.0.0.1".to_owned(),
        format!("--secure-port={apiserver}"),
        // Directory of the self-signed certificate.
        format!("--cert-dir={}", files.join("certificates").display()),
        format!("--token-auth-file={}", files.join(TOKENS).display()),
        "--authorization-mode=RBAC".to_owned(),
        "--service-account-issuer=https://conformance.invalid".to_owned(),
        format!("--service-account-key-file={}", key.display()),
        format!("--service-account-signing-key-file={}", key.display()),
        // Dual-stack, and large enough for all scenarios of a file.
        "--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112".to_owned(),
        // The controllers that create service accounts and remove the taints of new Nodes do not run.
        "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition".to_owned(),
    ]
}

fn kubeconfig(port: u16) -> serde_json::Value {
    // The certificate is self-signed and the server listens on loopback, so it is not verified.
    let cluster =
        serde_json::json!({ "server": format!("https://127.0.0.1:{port}"), "insecure-skip-tls-verify": true });
    serde_json::json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": "c", "cluster": cluster }],
        "users": [{ "name": "u", "user": { "token": TOKEN } }],
        "contexts": [{ "name": "c", "context": { "cluster": "c", "user": "u" } }],
        "current-context": "c",
    })
}

/// Generates the signing key for service account tokens, with openssl.
async fn make_key(path: &Path) -> Result<()> {
    let mut openssl = Command::new("openssl");
    openssl.args(["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out"]).arg(path);
    let output = openssl.output().await.context("cannot run openssl to generate the key for service account tokens")?;
    ensure!(output.status.success(), "openssl: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORTS: Ports = Ports { etcd: 1, apiserver: 2 };

    #[test]
    fn processes_find_each_other_and_their_files() {
        let files = Path::new("/f");
        let etcd = etcd_arguments(files, PORTS);
        assert!(etcd.contains(&"--listen-client-urls=http://127.0.0.1:1".to_owned()), "{etcd:?}");
        let apiserver = apiserver_arguments(files, PORTS);
        for expect in [
            "--etcd-servers=http://127.0.0.1:1",
            "--secure-port=2",
            "--token-auth-file=/f/tokens.csv",
            "--service-account-key-file=/f/service-accounts.key",
            "--service-account-signing-key-file=/f/service-accounts.key",
        ] {
            assert!(apiserver.iter().any(|argument| argument == expect), "no {expect} in {apiserver:?}");
        }
        // Of two equal flags, the last one silently wins.
        let mut flags: Vec<_> = apiserver.iter().filter_map(|argument| argument.split('=').next()).collect();
        flags.sort_unstable();
        flags.dedup();
        assert_eq!(flags.len(), apiserver.len());
    }

    #[tokio::test]
    async fn says_which_binary_is_missing() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("etcd"), "").unwrap();
        let error = ControlPlane::start(directory.path()).await.unwrap_err().to_string();
        assert!(error.ends_with("but there is no kube-apiserver in it"), "{error}");
    }

    #[tokio::test]
    async fn shows_the_log_of_a_process_that_ends() {
        let files = tempfile::tempdir().unwrap();
        let ports = [ReservedPort::new().unwrap(), ReservedPort::new().unwrap()];
        // `ls` rejects its first argument and exits.
        let error = ControlPlane::run(Path::new("ls"), Path::new("ls"), files, ports).await.unwrap_err().to_string();
        assert!(error.starts_with("etcd ended: exit status: "), "{error}");
        assert!(error.contains("--data-dir="), "{error}");
    }
}
