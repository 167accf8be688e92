//! Recorded changes that trigger no sync in Kubernetes.

/// If only the phase of a Pod changes, its endpoint stays present or absent until the next sync (EC-2).
const PHASE: &str = "a change of only a Pod's phase triggers no sync";
/// Updates of Endpoints are not watched (EP-H5).
const ENDPOINTS_EDITED: &str = "an update of Endpoints triggers no sync";
/// Upstream compares the generations of slices (TR-8).
const OWNER: &str = "a change of owner references does not change the generation";

/// Steps of a recorded scenario after which the state differs from what the controllers would create from scratch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unnoticed {
    /// Name of the file and of the scenario, such as `core/rolling-update`.
    pub scenario: &'static str,
    /// Numbers of the steps, starting at 1.
    pub steps: &'static [usize],
    /// Why the preceding change triggers no sync.
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
    /// Returns the steps of a recorded scenario that trigger no sync, given as `file/scenario`; `None` if it has none.
    pub fn of(scenario: &str) -> Option<Unnoticed> {
        let found = ALL.iter().find(|(name, ..)| *name == scenario);
        found.map(|&(scenario, steps, reason)| Unnoticed { scenario, steps, reason })
    }
}
