//! Who wrote an object last.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_endpoint_model::last_write;

use crate::report::LastWrite;

impl LastWrite {
    /// Returns the last write of an object, from its `managedFields`; `None` without an entry that has a manager and a
    /// time.
    pub fn of(metadata: &ObjectMeta) -> Option<LastWrite> {
        let entries = metadata.managed_fields.iter().flatten();
        let managers =
            entries.map(|entry| (entry.manager.as_deref().unwrap_or_default(), entry.time.as_ref().map(|time| time.0)));
        last_write(managers).map(|(manager, time)| LastWrite { manager: manager.to_owned(), time })
    }
}
