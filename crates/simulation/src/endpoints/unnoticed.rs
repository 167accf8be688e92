//! Recorded changes that the controllers of Kubernetes do not notice.

/// A change of the phase alone wakes nothing, so that the Pod stays in or out until something else does (EC-2).
const PHASE: &str = "a change of a Pod's phase alone wakes nothing";
/// An update of Endpoints wakes nothing (EP-H5).
const ENDPOINTS_EDITED: &str = "an update of Endpoints wakes nothing";
/// A change of owners moves no generation (TR-8).
const OWNER: &str = "a change of owner references moves no generation";

/// Steps of a recorded scenario that end in a state which the controllers would not make from nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unnoticed {
    /// File and scenario, as in `core/rolling-update`.
    pub scenario: &'static str,
    /// Numbers of the steps; the first is 1.
    pub steps: &'static [usize],
    /// Why the change before them is not noticed.
    pub reason: &'static str,
}

const ALL: &[(&str, &[usize], &str)] = &[
    ("core/phase-change", &[2], PHASE),
    ("core/slice-owner-removed", &[2], OWNER),
    ("core/endpoints-edited", &[2], ENDPOINTS_EDITED),
    ("core/endpoints-labelled", &[2], ENDPOINTS_EDITED),
    ("random/random-20", &[5, 6], PHASE),
    ("random/random-30", &[4, 5, 6], PHASE),
    ("random/random-37", &[2, 3], PHASE),
    ("random/random-56", &[7, 8], PHASE),
    ("random/random-68", &[7], PHASE),
    ("random/random-93", &[3], PHASE),
    ("random/random-104", &[3], PHASE),
    ("random/random-120", &[7, 8], PHASE),
    ("random/random-133", &[5, 6, 7, 8], PHASE),
    ("random/random-143", &[4, 5], PHASE),
];

impl Unnoticed {
    /// Returns the steps of a scenario, if it has such.
    pub fn of(scenario: &str) -> Option<Unnoticed> {
        let found = ALL.iter().find(|(name, ..)| *name == scenario);
        found.map(|&(scenario, steps, reason)| Unnoticed { scenario, steps, reason })
    }
}
