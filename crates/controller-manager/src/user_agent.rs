//! How the program names itself to the API server.

/// The pattern of Kubernetes components (CM-27): program and version, platform, and the part that asks.
pub(crate) fn user_agent(part: &str) -> String {
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let (version, os) = (env!("CARGO_PKG_VERSION"), std::env::consts::OS);
    format!("controller-manager/v{version} ({os}/{arch}) kube-endpoints/{part}")
}
