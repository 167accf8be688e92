//! Settings of the mode in which the program runs, and of the comparison of shadow mode.

use std::time::Duration;

use kube_lease_election::LeaseName;

use super::Settings;
use crate::error::RunError;

/// Whether the controllers write, `--mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The controllers write EndpointSlices and Endpoints.
    #[default]
    Active,
    /// The controllers compare what they would write with what another program has written, and write nothing: neither
    /// objects nor events, and no Lease, since there is no leader election. Needs the feature `shadow`.
    Shadow,
}

impl Mode {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Mode::Active => "active",
            Mode::Shadow => "shadow",
        }
    }
}

impl Settings {
    /// Returns the settings as they apply to the mode: shadow mode has neither leader election nor credentials of the
    /// controllers.
    ///
    /// # Errors
    ///
    /// [`RunError::ShadowNotCompiledIn`].
    pub(crate) fn for_mode(mut self) -> Result<Self, RunError> {
        if self.mode == Mode::Shadow {
            if !cfg!(feature = "shadow") {
                return Err(RunError::ShadowNotCompiledIn);
            }
            self.leader_election = None;
            self.client.service_account_credentials = false;
        }
        Ok(self)
    }
}

/// Settings of the comparison of plans with the objects that another program writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShadowSettings {
    /// `--shadow-settle-period`: minimum time for which a difference must last, without a change of the objects of its
    /// Service, before it is a mismatch. 30 s by default.
    pub settle_period: Duration,
    /// `--shadow-writer-lease`: Lease whose renewal shows that the writer runs. While it is not renewed, no difference
    /// becomes a mismatch. `None`: time alone decides. `kube-system/kube-controller-manager` by default.
    pub writer_lease: Option<LeaseName>,
    /// Period in which every Service is compared at least once; 10 min by default. No flag sets it.
    pub compare_period: Duration,
}

pub(crate) const SETTLE_PERIOD: Duration = Duration::from_secs(30);
pub(crate) const WRITER_LEASE: &str = "kube-system/kube-controller-manager";
const COMPARE_PERIOD: Duration = Duration::from_secs(600);

impl Default for ShadowSettings {
    fn default() -> Self {
        let settle_period = SETTLE_PERIOD;
        ShadowSettings { settle_period, writer_lease: lease_name(WRITER_LEASE), compare_period: COMPARE_PERIOD }
    }
}

/// Parses `NAMESPACE/NAME`; `None` if a part is missing or empty.
pub(crate) fn lease_name(text: &str) -> Option<LeaseName> {
    let (namespace, name) = text.split_once('/')?;
    let is_valid = !namespace.is_empty() && !name.is_empty() && !name.contains('/');
    is_valid.then(|| LeaseName { namespace: namespace.to_owned(), name: name.to_owned() })
}
