//! How the API server is found and talked to.

use std::path::PathBuf;

use kube_controller_client::Encoding;

/// How the API server is found and talked to. The binary makes a configuration of `kubeconfig` and `master`; [`crate::run`]
/// is given one, and does not read these.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientSettings {
    /// `--kubeconfig`: where the API server is and how to authenticate. None, without `master`, for the service account of
    /// the Pod.
    pub kubeconfig: Option<PathBuf>,
    /// `--master`: the address of the API server, over the one in the kubeconfig.
    pub master: Option<String>,
    /// `--kube-api-qps`: requests a second of each controller, on average; 0 or less for no limit.
    pub qps: f32,
    /// `--kube-api-burst`: requests a controller may make at once before that limit is felt.
    pub burst: u32,
    /// `--kube-api-content-type`: how objects are read, where server and type have it. They are written in JSON.
    pub content_type: Encoding,
    /// `--use-service-account-credentials`: whether each controller writes as a service account of its own, in
    /// `kube-system`: `endpoint-controller`, `endpointslice-controller` and `endpointslicemirroring-controller`, to which
    /// Kubernetes binds the roles they need.
    pub service_account_credentials: bool,
}

impl Default for ClientSettings {
    /// 20 requests a second and 30 at once, and protobuf, as upstream.
    fn default() -> Self {
        ClientSettings {
            kubeconfig: None,
            master: None,
            qps: 20.0,
            burst: 30,
            content_type: Encoding::Protobuf,
            service_account_credentials: false,
        }
    }
}
