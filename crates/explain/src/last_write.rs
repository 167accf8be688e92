//! Who wrote an object last.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::report::LastWrite;

impl LastWrite {
    /// Returns the last write of an object, from the newest entry of its `managedFields`; `None` without one that has
    /// a time. Of equal times, the last entry counts.
    pub fn of(metadata: &ObjectMeta) -> Option<LastWrite> {
        let entries = metadata.managed_fields.iter().flatten();
        let dated = entries.filter_map(|entry| Some((entry.time.as_ref()?.0, entry.manager.as_deref()?)));
        dated.max_by_key(|(time, _)| *time).map(|(time, manager)| LastWrite { manager: manager.to_owned(), time })
    }
}
