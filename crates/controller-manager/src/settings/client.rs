//! Settings of the API server's clients.

use std::path::PathBuf;

use kube_controller_client::Encoding;

/// Address, credentials, rate limits and encoding of the API server's clients.
///
/// `kubeconfig` and `master` are for the binary, which makes a [`Config`](kube_controller_client::Config) of them.
/// [`run`](crate::run) gets that configuration as an argument and shows `kubeconfig` at `/configz` only.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientSettings {
    /// `--kubeconfig`: file with the address of the API server and the credentials. `None`, if `master` is `None` as
    /// well: the service account of the Pod.
    pub kubeconfig: Option<PathBuf>,
    /// `--master`: URL of the API server; overrides the one in the kubeconfig.
    pub master: Option<String>,
    /// `--kube-api-qps`: sustained requests per second of each client (one for each controller and one for the
    /// informers); 20 by default, 0 or less disables the limit.
    pub qps: f32,
    /// `--kube-api-burst`: requests that a client may send at once before `qps` applies; 30 by default.
    pub burst: u32,
    /// `--kube-api-qps=auto`: each client limits the number of its requests in flight instead, see
    /// [`ClientOptions::adaptive`](kube_controller_client::ClientOptions::adaptive). `qps` and `burst` are then ignored.
    /// The client of leader election is never limited.
    pub adaptive: bool,
    /// `--kube-api-content-type`: preferred encoding of reads and writes. Types and servers without protobuf are read and
    /// written as JSON, and patches and deletes always are.
    pub content_type: Encoding,
    /// `--use-service-account-credentials`: each controller writes as its own service account in `kube-system`
    /// (`endpoint-controller`, `endpointslice-controller`, `endpointslicemirroring-controller`), to which Kubernetes
    /// binds the roles it needs.
    pub service_account_credentials: bool,
}

impl Default for ClientSettings {
    /// Upstream's defaults: 20 requests per second, burst 30, protobuf.
    fn default() -> Self {
        ClientSettings {
            kubeconfig: None,
            master: None,
            qps: 20.0,
            burst: 30,
            adaptive: false,
            content_type: Encoding::Protobuf,
            service_account_credentials: false,
        }
    }
}
