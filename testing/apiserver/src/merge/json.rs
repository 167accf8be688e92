//! JSON patches with upstream's departures from RFC 6902 (Go: `evanphx/json-patch`).

use json_patch::{AddOperation, PatchError, PatchOperation};
use serde_json::Value;

/// Applies a patch. As upstream, an absent member equals null in a test, and can be replaced. Fails if an operation
/// does; those before it have been applied.
pub(crate) fn apply_json_patch(value: &mut Value, patch: &json_patch::Patch) -> Result<(), PatchError> {
    for operation in &patch.0 {
        let operation = match operation {
            PatchOperation::Test(test) if test.value.is_null() && is_absent(value, test.path.as_str()) => continue,
            PatchOperation::Replace(replace) if is_absent(value, replace.path.as_str()) => {
                PatchOperation::Add(AddOperation { path: replace.path.clone(), value: replace.value.clone() })
            }
            other => other.clone(),
        };
        json_patch::patch(value, &[operation])?;
    }
    Ok(())
}

/// Returns whether a path names a member that an object lacks.
fn is_absent(value: &Value, path: &str) -> bool {
    let parent = path.rsplit_once('/').map(|(parent, _)| parent);
    value.pointer(path).is_none() && parent.and_then(|parent| value.pointer(parent)).is_some_and(Value::is_object)
}
