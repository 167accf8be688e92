//! The request that a fault selector matches.

/// Attributes of a request that [`On`](super::On) matches.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RequestFields<'a> {
    pub(crate) verb: &'a str,
    pub(crate) group: &'a str,
    pub(crate) resource: &'a str,
    pub(crate) subresource: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    pub(crate) user: &'a str,
    pub(crate) user_agent: &'a str,
}
