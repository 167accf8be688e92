//! In place of the comparison, without the feature `shadow`: types without values.

use std::time::Duration;

use kube_controller::{Controller, Supervisor};
use kube_controller_client::{Client, PlannedWrite, ReviewedClient};
use kube_endpoint_model::ObjectKey;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::settings::ShadowSettings;

/// No plan is compared.
pub(crate) enum Shadow {}

impl Shadow {
    pub(crate) fn follow(&self, _: &'static str, _: &Controller<ObjectKey>) {
        match *self {}
    }

    pub(crate) fn contain_panics(&self, _: &'static str, _: Controller<ObjectKey>) -> Controller<ObjectKey> {
        match *self {}
    }

    pub(crate) fn client<T>(&self, _: Client, _: &'static str) -> ReviewedClient<T> {
        match *self {}
    }

    pub(crate) fn spawn(&self, _: &mut Supervisor, _: &ShadowSettings, _: &Client, _: &CancellationToken) {
        match *self {}
    }

    pub(crate) fn compare_plan<T>(
        &self,
        _: &'static str,
        _: &ObjectKey,
        _: &[PlannedWrite<'_, T>],
    ) -> Option<Duration> {
        match *self {}
    }

    pub(crate) fn clean_for(&self, _: Instant) -> Option<Duration> {
        match *self {}
    }

    pub(crate) fn required_period(&self, _: Instant) -> Duration {
        match *self {}
    }

    pub(crate) fn mismatches(&self) -> usize {
        match *self {}
    }

    pub(crate) fn end(&self) {
        match *self {}
    }
}
