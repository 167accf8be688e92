//! The user agent of the program.

/// Name of the program. The API server also takes it as the field manager of the program's writes.
pub(crate) const PROGRAM: &str = "controller-manager";

/// Returns the user agent in the pattern of Kubernetes components (CM-27):
/// `controller-manager/v<version> (<os>/<arch>) kube-endpoints/<part>`. `part` is the component that sends the request.
pub(crate) fn user_agent(part: &str) -> String {
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let (version, os) = (env!("CARGO_PKG_VERSION"), std::env::consts::OS);
    format!("{PROGRAM}/v{version} ({os}/{arch}) kube-endpoints/{part}")
}

#[cfg(test)]
mod tests {
    use super::*;

    // CM-27, except that `kube-endpoints` replaces the commit of Kubernetes.
    #[test]
    fn user_agent_has_the_format_of_kubernetes_components() {
        let agent = user_agent("leader-election");
        let (program, rest) = agent.split_once(" (").expect("a platform");
        let (platform, part) = rest.split_once(") ").expect("a part");
        let (name, version) = program.split_once("/v").expect("a version");
        assert_eq!((name, part), ("controller-manager", "kube-endpoints/leader-election"));
        assert!(version.split('.').count() == 3 && version.starts_with(|it: char| it.is_ascii_digit()), "{agent}");
        let (os, arch) = platform.split_once('/').expect("an architecture");
        assert_eq!(os, std::env::consts::OS);
        // Go's names: `amd64`, `arm64`.
        assert!(!["x86_64", "aarch64"].contains(&arch), "{agent}");
    }
}
