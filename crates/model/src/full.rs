//! Projections of complete objects.

use kube_wire::{Decode, DecodeError, DecodeProblem};
use serde::Serialize;

/// Returns the projection of a complete object, such as one of `k8s-openapi`, that is encoded to JSON for this.
///
/// # Errors
///
/// [`DecodeError`] if the object has another form than those of the API.
///
/// ```
/// use k8s_openapi::api::core::v1 as core;
/// use kube_endpoint_model::{Pod, project};
///
/// let mut full = core::Pod::default();
/// full.metadata.name = Some("web-0".to_owned());
/// let pod: Pod = project(&full)?;
/// assert_eq!(&*pod.name, "web-0");
/// # Ok::<(), kube_wire::DecodeError>(())
/// ```
pub fn project<T: Decode>(full: &impl Serialize) -> Result<T, DecodeError> {
    let json = serde_json::to_vec(full).map_err(|error| {
        let problem = DecodeProblem::Json { path: String::new(), message: error.to_string() };
        DecodeError::new(T::RESOURCE.kind, problem)
    })?;
    T::from_json(&json)
}
