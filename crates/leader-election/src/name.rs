//! The [`LeaseName`].

use std::fmt;

/// Namespace and name of the Lease of an election.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseName {
    /// Namespace of the Lease.
    pub namespace: String,
    /// Name of the Lease.
    pub name: String,
}

impl fmt::Display for LeaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}
