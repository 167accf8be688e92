//! What the environment says about a run.

use std::path::PathBuf;

use anyhow::{Result, bail};

/// Which cluster to play on, and what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The cluster.
    pub target: Target,
    /// Only scenarios whose key `file/scenario` contains one of these; all if there are none.
    pub only: Vec<String>,
}

/// A cluster to play on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The embedded API server, one for each file.
    Embedded,
    /// A cluster that runs already; all files one after the other.
    Cluster {
        /// How to reach it.
        kubeconfig: PathBuf,
        /// Its own controllers are to be tested, so ours are not started.
        external_controllers: bool,
    },
    /// A real kube-apiserver with its etcd, started for each file from the binaries in this directory.
    Binaries {
        /// Holds `etcd` and `kube-apiserver`.
        directory: PathBuf,
    },
}

impl Options {
    /// Reads the variables through `variable`; empty ones count as unset.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let external_controllers = match variable("CONFORMANCE_CONTROLLERS").as_deref() {
            None | Some("ours") => false,
            Some("external") => true,
            Some(other) => bail!("CONFORMANCE_CONTROLLERS is {other:?}, neither \"ours\" nor \"external\""),
        };
        let target = match (variable("CONFORMANCE_KUBECONFIG"), variable("KUBEBUILDER_ASSETS")) {
            (Some(kubeconfig), _) => Target::Cluster { kubeconfig: kubeconfig.into(), external_controllers },
            _ if external_controllers => {
                bail!(
                    "CONFORMANCE_CONTROLLERS=external goes only with CONFORMANCE_KUBECONFIG: elsewhere there are none"
                )
            }
            (None, Some(directory)) => Target::Binaries { directory: directory.into() },
            (None, None) => Target::Embedded,
        };
        let only = variable("CONFORMANCE_ONLY").unwrap_or_default();
        let only = only.split(',').map(str::trim).filter(|part| !part.is_empty()).map(ToOwned::to_owned).collect();
        Ok(Self { target, only })
    }

    /// Whether a scenario is to be played.
    pub fn includes(&self, file: &str, scenario: &str) -> bool {
        let key = format!("{file}/{scenario}");
        self.only.is_empty() || self.only.iter().any(|part| key.contains(part.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Options> {
        Options::read(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    fn cluster(external_controllers: bool) -> Target {
        Target::Cluster { kubeconfig: "k".into(), external_controllers }
    }

    #[rstest]
    #[case::default(&[], Target::Embedded)]
    #[case::empty(&[("KUBEBUILDER_ASSETS", ""), ("CONFORMANCE_KUBECONFIG", "")], Target::Embedded)]
    #[case::cluster(&[("CONFORMANCE_KUBECONFIG", "k")], cluster(false))]
    #[case::cluster_first(&[("CONFORMANCE_KUBECONFIG", "k"), ("KUBEBUILDER_ASSETS", "bin")], cluster(false))]
    #[case::external(&[("CONFORMANCE_KUBECONFIG", "k"), ("CONFORMANCE_CONTROLLERS", "external")], cluster(true))]
    #[case::binaries(&[("KUBEBUILDER_ASSETS", "bin")], Target::Binaries { directory: "bin".into() })]
    fn targets(#[case] variables: &[(&str, &str)], #[case] expect: Target) {
        assert_eq!(read(variables).unwrap().target, expect);
    }

    #[rstest]
    #[case(&[("CONFORMANCE_CONTROLLERS", "theirs")], "neither \"ours\" nor \"external\"")]
    #[case(&[("CONFORMANCE_CONTROLLERS", "external")], "goes only with CONFORMANCE_KUBECONFIG")]
    fn refuses(#[case] variables: &[(&str, &str)], #[case] expect: &str) {
        let error = read(variables).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    }

    #[test]
    fn only() {
        let all = read(&[]).unwrap();
        assert!(all.includes("core", "mirror"));
        let some = read(&[("CONFORMANCE_ONLY", "core/mirror, random-1,")]).unwrap();
        assert!(some.includes("core", "mirror-dual") && some.includes("random", "random-11"));
        assert!(!some.includes("core", "labels"));
    }
}
