//! Fields that all new slices of a plan share.

use kube_endpoint_model::Labels;

use crate::options::Options;
use crate::owner::Owner;
use crate::slice_labels::WrittenLabels;

/// Fields that all new slices of a plan share.
pub(crate) struct Builder<'a> {
    pub(crate) owner: &'a Owner,
    pub(crate) labels: WrittenLabels<'a>,
    pub(crate) annotations: &'a Labels,
    pub(crate) options: &'a Options,
}
