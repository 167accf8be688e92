//! The flag `--emulated-version`.

use std::fmt;

use crate::feature_gates::MINORS;

/// Version of Kubernetes whose controllers the program behaves as.
///
/// The book lists [what the later ones change](https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/emulated-version.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EmulatedVersion {
    /// Kubernetes 1.36, the default.
    #[default]
    V1_36,
    /// Kubernetes 1.37. These controllers behave as those of 1.36.
    V1_37,
    /// Kubernetes 1.38, as of v1.38.0-alpha.1.
    V1_38,
}

/// Component of the flag, as in `kube=1.36`.
const COMPONENT: &str = "kube";
/// Minor versions of Kubernetes 1 that kube-controller-manager emulates and this program does not: those from which command
/// lines are accepted.
const UPSTREAM_ONLY: std::ops::Range<u64> = *MINORS.start()..EmulatedVersion::V1_36.minor();

/// A value of the flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requested {
    Version(EmulatedVersion),
    /// A version that kube-controller-manager emulates and this program does not: major and minor.
    Older(u64, u64),
}

impl EmulatedVersion {
    const ALL: [EmulatedVersion; 3] = [EmulatedVersion::V1_36, EmulatedVersion::V1_37, EmulatedVersion::V1_38];

    pub(crate) const fn minor(self) -> u64 {
        match self {
            EmulatedVersion::V1_36 => 36,
            EmulatedVersion::V1_37 => 37,
            EmulatedVersion::V1_38 => 38,
        }
    }

    /// Parses the values of the flag: `1.36` or `kube=1.36`, once. The messages of errors are upstream's.
    pub(crate) fn parse(entries: &[String]) -> Result<Requested, String> {
        let mut requested: Option<(u64, u64)> = None;
        for entry in entries {
            let (component, version) = match entry.split_once('=') {
                Some((component, version)) => (component.trim(), version.trim()),
                None => (COMPONENT, entry.trim()),
            };
            let (major, minor) = parse_version(component, version)?;
            if component != COMPONENT {
                return Err(format!("component not registered: {component}"));
            }
            if let Some((first_major, first_minor)) = requested {
                return Err(format!(
                    "duplicate version flag, {COMPONENT}={first_major}.{first_minor} and {COMPONENT}={major}.{minor}"
                ));
            }
            requested = Some((major, minor));
        }
        let Some((major, minor)) = requested else { return Ok(Requested::Version(EmulatedVersion::default())) };
        let version = EmulatedVersion::ALL.into_iter().find(|it| (major, minor) == (1, it.minor()));
        match version {
            Some(version) => Ok(Requested::Version(version)),
            None if major == 1 && UPSTREAM_ONLY.contains(&minor) => Ok(Requested::Older(major, minor)),
            None => Err(out_of_range(major, minor)),
        }
    }
}

pub(crate) fn out_of_range(major: u64, minor: u64) -> String {
    let [first, .., last] = EmulatedVersion::ALL;
    format!("emulation version {major}.{minor} is not between [{first}, {last}]")
}

/// Parses `1.36`, with an optional `v` before it and `.0` after it.
fn parse_version(component: &str, text: &str) -> Result<(u64, u64), String> {
    let malformed = || format!("could not parse {text:?} as version");
    let parts: Option<Vec<u64>> =
        text.strip_prefix('v').unwrap_or(text).split('.').map(|part| part.parse().ok()).collect();
    match parts.as_deref() {
        Some([major, minor] | [major, minor, 0]) => Ok((*major, *minor)),
        Some([_, _, _]) => Err(format!("patch version not allowed, got: {component}={text}")),
        _ => Err(malformed()),
    }
}

impl fmt::Display for EmulatedVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.minor())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::none(&[], Ok(Requested::Version(EmulatedVersion::V1_36)))]
    #[case::plain(&["1.36"], Ok(Requested::Version(EmulatedVersion::V1_36)))]
    #[case::component(&["kube=1.37"], Ok(Requested::Version(EmulatedVersion::V1_37)))]
    #[case::spaces(&[" kube = v1.38.0 "], Ok(Requested::Version(EmulatedVersion::V1_38)))]
    #[case::older(&["1.33"], Ok(Requested::Older(1, 33)))]
    #[case::oldest(&["1.28"], Ok(Requested::Older(1, 28)))]
    #[case::too_old(&["1.27"], Err("emulation version 1.27 is not between [1.36, 1.38]"))]
    #[case::newest(&["1.39"], Err("emulation version 1.39 is not between [1.36, 1.38]"))]
    #[case::patch(&["1.38.1"], Err("patch version not allowed, got: kube=1.38.1"))]
    #[case::other_component(&["wardle=1.2"], Err("component not registered: wardle"))]
    #[case::twice(&["1.36", "kube=1.38"], Err("duplicate version flag, kube=1.36 and kube=1.38"))]
    #[case::major_alone(&["1"], Err("could not parse \"1\" as version"))]
    #[case::text(&["latest"], Err("could not parse \"latest\" as version"))]
    #[case::empty(&[""], Err("could not parse \"\" as version"))]
    fn values_of_the_flag(#[case] entries: &[&str], #[case] expect: Result<Requested, &str>) {
        let entries: Vec<String> = entries.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(EmulatedVersion::parse(&entries), expect.map_err(str::to_owned));
    }
}
