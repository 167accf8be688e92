//! What the environment says about a run.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Result, bail};

/// Which cluster to play on, and what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The cluster.
    pub target: Target,
    /// Who is tested.
    pub controllers: Controllers,
    /// Only scenarios whose key `file/scenario` contains one of these; all if there are none.
    pub only: Vec<String>,
    /// How long nothing may be written once nothing changes; longer than the second after which the slice controller
    /// acts on events of slices, and its jitter.
    pub quiet: Duration,
    /// The audit log from which writes to a cluster other than the embedded one are counted.
    pub audit_log: Option<PathBuf>,
}

/// The default of [`Options::quiet`].
const QUIET: Duration = Duration::from_secs(3);

/// A cluster to play on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The embedded API server, one for each file.
    Embedded,
    /// A cluster that runs already; all files one after the other.
    Cluster {
        /// How to reach it.
        kubeconfig: PathBuf,
    },
    /// A real kube-apiserver with its etcd, started for each file from the binaries in this directory.
    Binaries {
        /// Holds `etcd` and `kube-apiserver`.
        directory: PathBuf,
    },
}

/// The controllers that are tested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Controllers {
    /// Ours, in the process of the test.
    InProcess,
    /// Ours, as a process for each file.
    Program {
        /// A `controller-manager`.
        path: PathBuf,
    },
    /// Those that the cluster has already.
    External,
}

impl Options {
    /// Reads the variables through `variable`; empty ones count as unset. Paths that are not absolute begin at `root`.
    pub fn read(root: &Path, variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let path = |name: &str| variable(name).map(|path| root.join(path));
        let target = match (path("CONFORMANCE_KUBECONFIG"), path("KUBEBUILDER_ASSETS")) {
            (Some(kubeconfig), _) => Target::Cluster { kubeconfig },
            (None, Some(directory)) => Target::Binaries { directory },
            (None, None) => Target::Embedded,
        };
        let controllers = match variable("CONFORMANCE_CONTROLLERS").as_deref() {
            None | Some("ours") => Controllers::InProcess,
            Some("external") if matches!(target, Target::Cluster { .. }) => Controllers::External,
            Some("external") => {
                bail!(
                    "CONFORMANCE_CONTROLLERS=external goes only with CONFORMANCE_KUBECONFIG: elsewhere there are none"
                )
            }
            Some(path) if path.contains('/') => Controllers::Program { path: root.join(path) },
            Some(other) => {
                bail!("CONFORMANCE_CONTROLLERS is {other:?}, neither \"ours\" nor \"external\" nor a path with a slash")
            }
        };
        let only = variable("CONFORMANCE_ONLY").unwrap_or_default();
        let only = only.split(',').map(str::trim).filter(|part| !part.is_empty()).map(ToOwned::to_owned).collect();
        let quiet = match variable("CONFORMANCE_QUIET") {
            None => QUIET,
            Some(seconds) => match seconds.parse() {
                Ok(seconds) => Duration::from_secs(seconds),
                Err(_) => bail!("CONFORMANCE_QUIET is {seconds:?}, not a number of seconds"),
            },
        };
        Ok(Self { target, controllers, only, quiet, audit_log: path("CONFORMANCE_AUDIT_LOG") })
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
        let variable =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Options::read(Path::new("/root"), variable)
    }

    fn cluster() -> Target {
        Target::Cluster { kubeconfig: "/root/k".into() }
    }

    #[rstest]
    #[case::default(&[], Target::Embedded)]
    #[case::empty(&[("KUBEBUILDER_ASSETS", ""), ("CONFORMANCE_KUBECONFIG", "")], Target::Embedded)]
    #[case::cluster(&[("CONFORMANCE_KUBECONFIG", "k")], cluster())]
    #[case::cluster_first(&[("CONFORMANCE_KUBECONFIG", "k"), ("KUBEBUILDER_ASSETS", "bin")], cluster())]
    #[case::binaries(&[("KUBEBUILDER_ASSETS", "/bin")], Target::Binaries { directory: "/bin".into() })]
    fn targets(#[case] variables: &[(&str, &str)], #[case] expect: Target) {
        assert_eq!(read(variables).unwrap().target, expect);
    }

    #[rstest]
    #[case::default(&[], Controllers::InProcess)]
    #[case::named(&[("CONFORMANCE_CONTROLLERS", "ours")], Controllers::InProcess)]
    #[case::external(&[("CONFORMANCE_KUBECONFIG", "k"), ("CONFORMANCE_CONTROLLERS", "external")], Controllers::External)]
    #[case::program(&[("CONFORMANCE_CONTROLLERS", "target/it")], Controllers::Program { path: "/root/target/it".into() })]
    fn controllers(#[case] variables: &[(&str, &str)], #[case] expect: Controllers) {
        assert_eq!(read(variables).unwrap().controllers, expect);
    }

    #[rstest]
    #[case(&[("CONFORMANCE_CONTROLLERS", "theirs")], "neither \"ours\" nor \"external\" nor a path")]
    #[case(&[("CONFORMANCE_CONTROLLERS", "external")], "goes only with CONFORMANCE_KUBECONFIG")]
    fn refuses(#[case] variables: &[(&str, &str)], #[case] expect: &str) {
        let error = read(variables).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    }

    #[test]
    fn quiet_and_audit_log() {
        let default = read(&[]).unwrap();
        assert_eq!((default.quiet, default.audit_log), (QUIET, None));
        let given = read(&[("CONFORMANCE_QUIET", "60"), ("CONFORMANCE_AUDIT_LOG", "audit.log")]).unwrap();
        assert_eq!((given.quiet, given.audit_log), (Duration::from_secs(60), Some("/root/audit.log".into())));
        assert!(read(&[("CONFORMANCE_QUIET", "a while")]).is_err());
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
