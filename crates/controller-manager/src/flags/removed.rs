//! Flags of the previous release that have no effect any more.
//!
//! They are accepted with a warning for one release, so that an upgrade does not depend on the order in which image and
//! arguments change. Empty the table after that release.

/// A flag that was removed.
pub(super) struct RemovedFlag {
    pub(super) name: &'static str,
    /// Whether the value is optional.
    pub(super) is_switch: bool,
    /// What the program does now.
    pub(super) now: &'static str,
}

const GUARD: &str = "the guard against wrong lists needs no options";

/// The flags, sorted by name.
pub(super) const REMOVED: &[RemovedFlag] = &[
    RemovedFlag { name: "force", is_switch: true, now: "the controllers always write" },
    RemovedFlag { name: "guard-confirm-after", is_switch: false, now: GUARD },
    RemovedFlag { name: "guard-fraction", is_switch: false, now: GUARD },
    RemovedFlag { name: "guard-minimum", is_switch: false, now: GUARD },
    RemovedFlag { name: "on-second-writer", is_switch: false, now: "a second writer is only reported" },
    RemovedFlag {
        name: "require-clean-shadow",
        is_switch: false,
        now: "the controllers write at once; kubectl endpoints shadow --wait waits for a clean comparison before the switch",
    },
    RemovedFlag { name: "unexplained-writes-fraction", is_switch: false, now: "the first writes are not limited" },
    RemovedFlag { name: "unexplained-writes-minimum", is_switch: false, now: "the first writes are not limited" },
];

impl RemovedFlag {
    /// Returns the removed flag of this name.
    pub(super) fn find(name: &str) -> Option<&'static RemovedFlag> {
        REMOVED.iter().find(|flag| flag.name == name)
    }

    /// Returns the warning about a command line with this flag.
    pub(super) fn warning(&self) -> String {
        let RemovedFlag { name, is_switch: _, now } = self;
        format!("Flag --{name} was removed and is ignored: {now}. The next release rejects it")
    }
}
