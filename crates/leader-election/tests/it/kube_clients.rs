//! Clients of `kube`, as an operator creates them.

use kube::config::{KubeConfigOptions, Kubeconfig};

pub(crate) async fn kube_config(kubeconfig: &str) -> kube::Config {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).expect("a kubeconfig");
    kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.expect("a configuration")
}

pub(crate) async fn kube_client(kubeconfig: &str) -> kube::Client {
    kube::Client::try_from(kube_config(kubeconfig).await).expect("a client")
}
