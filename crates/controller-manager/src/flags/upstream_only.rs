//! The flags of kube-controller-manager 1.28 to 1.38 that have no effect in this program.
//!
//! `upstream_only.txt` has a line for each flag, sorted by name: `s` for a switch, whose value is optional, or `v`; the
//! name; and its releases if 1.36 is none of them. Whether a flag takes a value decides where the next flag begins.

const TABLE: &str = include_str!("upstream_only.txt");

/// A flag that only kube-controller-manager has.
pub(super) struct UpstreamFlag {
    pub(super) name: &'static str,
    /// Whether the value is optional: `--profiling`, `--profiling=false`.
    pub(super) is_switch: bool,
    /// Releases that have the flag; empty if 1.36 has it.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the flag reference shows it"))]
    pub(super) releases: &'static str,
}

impl UpstreamFlag {
    /// Returns all flags, sorted by name.
    pub(super) fn all() -> impl Iterator<Item = UpstreamFlag> {
        TABLE.lines().filter_map(|line| {
            let (kind, flag) = line.split_once(' ')?;
            let (name, releases) = flag.split_once(' ').unwrap_or((flag, ""));
            Some(UpstreamFlag { name, is_switch: kind == "s", releases })
        })
    }

    pub(super) fn find(name: &str) -> Option<UpstreamFlag> {
        UpstreamFlag::all().find(|it| it.name == name)
    }
}
