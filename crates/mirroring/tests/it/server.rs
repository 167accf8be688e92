//! Applies plans to slices in memory, as the API server would.

use std::num::NonZeroUsize;
use std::sync::Arc;

use kube_endpoint_model::{Cluster, EndpointSlice, Endpoints, ObjectKey, Service, Write};
use kube_endpointslice::Plan;
use kube_endpointslice_mirroring::plan;
use kube_wire::Object as _;
use serde_json::Value;

pub(crate) fn read<T: serde::de::DeserializeOwned>(object: &Value) -> T {
    serde_json::from_value(object.clone()).expect("valid object")
}

/// A mirrored Endpoints object and the slices that exist.
struct Stored<'a> {
    endpoints: &'a Endpoints,
    slices: &'a [Arc<EndpointSlice>],
}

impl Cluster for Stored<'_> {
    fn service(&self, _: &ObjectKey) -> Option<Arc<Service>> {
        Some(Arc::default())
    }

    fn endpoints(&self, _: &ObjectKey) -> Option<Arc<Endpoints>> {
        Some(Arc::new(self.endpoints.clone()))
    }

    fn slices(&self, _: &ObjectKey, _: &str) -> Vec<Arc<EndpointSlice>> {
        self.slices.to_vec()
    }
}

/// Result of a plan.
#[derive(Debug, PartialEq)]
pub(crate) struct Mirrored {
    pub(crate) plan: Plan,
    pub(crate) skipped: usize,
    pub(crate) invalid: usize,
}

pub(crate) fn mirror(endpoints: &Endpoints, existing: &[Arc<EndpointSlice>], max: usize) -> Mirrored {
    let max = NonZeroUsize::new(max).expect("not zero");
    let planned = plan(&Stored { endpoints, slices: existing }, &endpoints.key(), max).expect("mirrored");
    Mirrored { plan: planned.slices.plan, skipped: planned.skipped, invalid: planned.invalid }
}

/// Returns the slices after a plan was applied. `created` numbers the generated names.
pub(crate) fn carry_out(existing: &[Arc<EndpointSlice>], plan: &Plan, created: &mut usize) -> Vec<Arc<EndpointSlice>> {
    let mut slices = existing.to_vec();
    let deleted = plan.writes().filter(|write| write.after().is_none()).filter_map(Write::before);
    let deleted: Vec<_> = deleted.map(|slice| slice.metadata.name.clone()).collect();
    slices.retain(|slice| !deleted.contains(&slice.metadata.name));
    for plan in &plan.types {
        for slice in plan.creates() {
            let mut slice = slice.clone();
            let prefix = slice.metadata.generate_name.as_deref().unwrap_or_default().to_owned();
            slice.metadata.name = format!("{prefix}{created:05}").into();
            *created += 1;
            slices.push(Arc::new(slice));
        }
        for update in plan.updates() {
            let old = slices.iter_mut().find(|slice| slice.metadata.name == update.metadata.name);
            *old.expect("the updated slice exists") = Arc::new(update.clone());
        }
    }
    slices
}

pub(crate) fn writes(plan: &Plan) -> (usize, usize, usize) {
    let sum = |count: fn(&kube_endpointslice::TypePlan) -> usize| plan.types.iter().map(count).sum();
    (sum(|it| it.creates().count()), sum(|it| it.updates().count()), sum(|it| it.deletes().count()))
}
