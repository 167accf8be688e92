//! Errors of authentication, authorization and reviews.

use super::{Details, StatusError};
use crate::attributes::Attributes;

impl StatusError {
    /// Returns 401 `Unauthorized`.
    pub(crate) fn unauthorized() -> Self {
        Self { denied: true, ..Self::new(401, "Unauthorized", "Unauthorized") }
    }

    /// Returns 403 for a request that the user is not authorized to make.
    pub(crate) fn not_authorized(user: &str, attributes: &Attributes, why: &str) -> Self {
        let Attributes { verb, group, resource, namespace, name, path, .. } = attributes;
        let (subject, mut what) = if attributes.is_resource() {
            let scope = if namespace.is_empty() {
                "at the cluster scope".to_owned()
            } else {
                format!("in the namespace \"{namespace}\"")
            };
            let qualified = if group.is_empty() { resource.clone() } else { format!("{resource}.{group}") };
            let subject = if name.is_empty() { qualified } else { format!("{qualified} \"{name}\"") };
            let resource = attributes.full_resource();
            (
                format!("{subject} is forbidden"),
                format!("User \"{user}\" cannot {verb} resource \"{resource}\" in API group \"{group}\" {scope}"),
            )
        } else {
            ("forbidden".to_owned(), format!("User \"{user}\" cannot {verb} path \"{path}\""))
        };
        if !why.is_empty() {
            what = format!("{what}: {why}");
        }
        let (name, group, kind) = (name.clone(), group.clone(), resource.clone());
        let error = Self::new(403, "Forbidden", format!("{subject}: {what}"));
        Self { denied: true, ..error.detailed(Details { name, group, kind, ..Details::default() }) }
    }
}
