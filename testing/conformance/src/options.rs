//! Options of a run, from environment variables.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Result, bail};

/// Options of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Cluster on which scenarios are played.
    pub target: Target,
    /// Controllers under test.
    pub controllers: Controllers,
    /// Substrings of `file/scenario` that select the scenarios; empty for all scenarios.
    pub only: Vec<String>,
    /// Time without writes at the end of a scenario; 3 s by default. It must be longer than the delay with which the
    /// slice controller acts on events of slices: one second, and its jitter.
    pub quiet: Duration,
    /// Audit log from which writes are counted on clusters other than the embedded one.
    pub audit_log: Option<PathBuf>,
}

/// Default of [`Options::quiet`].
const QUIET: Duration = Duration::from_secs(3);

/// Cluster on which scenarios are played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The embedded API server, one for each file.
    Embedded,
    /// An existing cluster, for all files one after the other.
    Cluster {
        /// Path of the kubeconfig.
        kubeconfig: PathBuf,
    },
    /// A real kube-apiserver with its etcd, started for each file from binaries.
    Binaries {
        /// Directory with `etcd` and `kube-apiserver`.
        directory: PathBuf,
    },
}

/// Controllers under test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Controllers {
    /// The controllers of this repository, in the process of the test.
    InProcess,
    /// The program `controller-manager`, started for each file.
    Program {
        /// Path of the program.
        path: PathBuf,
    },
    /// The controllers of an existing cluster.
    External,
}

impl Options {
    /// Reads environment variables through `variable`. Empty values count as unset. Relative paths start at `root`.
    ///
    /// # Errors
    /// The value of `CONFORMANCE_CONTROLLERS` or `CONFORMANCE_QUIET` is invalid.
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
                    "CONFORMANCE_CONTROLLERS=external requires CONFORMANCE_KUBECONFIG: other targets have no controllers"
                )
            }
            Some(path) if path.contains('/') => Controllers::Program { path: root.join(path) },
            Some(other) => {
                bail!("CONFORMANCE_CONTROLLERS is {other:?}, expected \"ours\", \"external\" or a path with a slash")
            }
        };
        let only = variable("CONFORMANCE_ONLY").unwrap_or_default();
        let only = only.split(',').map(str::trim).filter(|part| !part.is_empty()).map(ToOwned::to_owned).collect();
        let quiet = match variable("CONFORMANCE_QUIET") {
            None => QUIET,
            Some(seconds) => match seconds.parse() {
                Ok(seconds) => Duration::from_secs(seconds),
                Err(_) => bail!("CONFORMANCE_QUIET is {seconds:?}, expected a number of seconds"),
            },
        };
        Ok(Self { target, controllers, only, quiet, audit_log: path("CONFORMANCE_AUDIT_LOG") })
    }

    /// Returns whether a scenario is selected.
    pub fn includes(&self, file: &str, scenario: &str) -> bool {
        self.includes_key(&format!("{file}/{scenario}"))
    }

    /// Returns whether the scenario with this key, `file/scenario`, is selected.
    pub fn includes_key(&self, key: &str) -> bool {
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
    #[case(&[("CONFORMANCE_CONTROLLERS", "theirs")], "expected \"ours\", \"external\" or a path")]
    #[case(&[("CONFORMANCE_CONTROLLERS", "external")], "requires CONFORMANCE_KUBECONFIG")]
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
