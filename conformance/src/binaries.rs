//! A real kube-apiserver and its etcd, from binaries that somebody put into a directory (the envtest convention).

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use kube_controller_client::Config;
use tempfile::TempDir;
use tokio::{
    process::{Child, Command},
    time::{Instant, sleep},
};

use crate::{
    Api, Request,
    process::{end_of_log, free_port, spawn},
};

/// Signing keys for service accounts are required, though nobody here uses one.
const KEY: &str = "service-accounts.key";
/// Who may do anything.
const TOKENS: &str = "tokens.csv";
/// How to reach the server.
const KUBECONFIG: &str = "kubeconfig";
/// Only for a server on loopback that lives as long as a test.
const TOKEN: &str = "conformance";

/// How long a process may take to be ready.
const LIMIT: Duration = Duration::from_secs(60);

/// A running kube-apiserver with its etcd; both are killed, and their files removed, when this is dropped.
#[derive(Debug)]
pub struct ControlPlane {
    _apiserver: Child,
    _etcd: Child,
    files: TempDir,
}

impl ControlPlane {
    /// Starts `etcd` and `kube-apiserver` from `directory` on free ports of loopback, and waits until the API is ready.
    pub async fn start(directory: &Path) -> Result<Self> {
        let (etcd, apiserver) = (binary(directory, "etcd")?, binary(directory, "kube-apiserver")?);
        let files = tempfile::tempdir().context("cannot make a directory for etcd and kube-apiserver")?;
        let ports = Ports { etcd: free_port()?, apiserver: free_port()? };
        make_key(&files.path().join(KEY)).await?;
        eprintln!("starting {} and {} on loopback, {ports:?}", etcd.display(), apiserver.display());
        Self::run(&etcd, &apiserver, files, ports).await
    }

    async fn run(etcd: &Path, apiserver: &Path, files: TempDir, ports: Ports) -> Result<Self> {
        fs::write(files.path().join(TOKENS), format!("{TOKEN},conformance,conformance,\"system:masters\"\n"))?;
        fs::write(files.path().join(KUBECONFIG), kubeconfig(ports.apiserver).to_string())?;
        let mut etcd = spawn(etcd, "etcd", &etcd_arguments(files.path(), ports), files.path())?;
        let arguments = apiserver_arguments(files.path(), ports);
        let mut apiserver = spawn(apiserver, "kube-apiserver", &arguments, files.path())?;
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
        Ok(Self { _apiserver: apiserver, _etcd: etcd, files })
    }

    /// How to reach it, with all rights.
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
        // One member talks to nobody; the default port may be taken.
        "--listen-peer-urls=http://127.0.0.1:0".to_owned(),
        // Losing the data of a test costs nothing, waiting for the disk does.
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
        // Where it puts the certificate it makes for itself.
        format!("--cert-dir={}", files.join("certificates").display()),
        format!("--token-auth-file={}", files.join(TOKENS).display()),
        "--authorization-mode=RBAC".to_owned(),
        "--service-account-issuer=https://conformance.invalid".to_owned(),
        format!("--service-account-key-file={}", key.display()),
        format!("--service-account-signing-key-file={}", key.display()),
        // Dual-stack, and large enough for all scenarios of a file.
        "--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112".to_owned(),
        // Who makes service accounts, and who takes taints off new nodes, is not there.
        "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition".to_owned(),
    ]
}

fn kubeconfig(port: u16) -> serde_json::Value {
    // The certificate is its own authority, on loopback, for a minute: nothing is gained by checking it.
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

/// Makes a key for service account tokens.
async fn make_key(path: &Path) -> Result<()> {
    let mut openssl = Command::new("openssl");
    openssl.args(["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out"]).arg(path);
    let output = openssl.output().await.context("openssl is needed for the key that signs service account tokens")?;
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
        // A flag given twice wins silently.
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
        let ports = Ports { etcd: free_port().unwrap(), apiserver: free_port().unwrap() };
        // A program that complains about its first argument and ends.
        let error = ControlPlane::run(Path::new("ls"), Path::new("ls"), files, ports).await.unwrap_err().to_string();
        assert!(error.starts_with("etcd ended: exit status: "), "{error}");
        assert!(error.contains("--data-dir="), "{error}");
    }
}
