//! Named container ports.

use crate::Text;

/// A named container port, which a Service can refer to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NamedPort {
    /// Port name.
    pub name: Text,
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: Text,
    /// `containerPort`.
    pub port: i32,
}
