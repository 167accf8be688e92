//! What concerns the program as a whole.

use std::time::Duration;

use clap::{ArgAction, Args};
use kube_controller_client::Encoding;

use super::{Bounds, go_bool_parser};
use crate::controllers::Controllers;
use crate::feature_gates::FeatureGates;
use crate::go_duration::{self, GoDuration};
use crate::go_int;
use crate::settings::{ClientSettings, MIN_RESYNC_PERIOD};

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Generic flags")]
pub(super) struct Generic {
    /// Controllers to run. '*' stands for all, 'foo' runs the controller named foo, '-foo' does not. Those here are
    /// endpoints-controller, endpointslice-controller and endpointslice-mirroring-controller; other controllers of
    /// kube-controller-manager may be named and nothing comes of it.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "*", action = ArgAction::Append)]
    controllers: Vec<String>,

    /// Feature gates to set, as name=true or name=false. `EndpointSlice=false` keeps the two slice controllers from
    /// starting. Three bring back older rules of the endpoints controller: with `LegacyTolerateUnreadyEndpoints`, an
    /// annotation overrides publishNotReadyAddresses; with `LegacySingleStackEndpoints`, the primary address of a Pod is
    /// published whatever the families of its Service; with `LegacyRestartPolicyMembership`, Pods that are not ready leave
    /// by their restart policy. Gates of Kubernetes 1.36 are known; one that changes nothing here says so in the log.
    #[arg(long, value_name = "GATES", action = ArgAction::Append)]
    feature_gates: Vec<String>,

    /// Requests a second to the API server, for each controller; 0 or less for no limit.
    #[arg(long, value_name = "NUMBER", default_value_t = ClientSettings::default().qps)]
    kube_api_qps: f32,

    /// Requests to the API server that each controller may make at once.
    #[arg(long, value_name = "NUMBER", value_parser = go_int::parse, default_value_t = i64::from(ClientSettings::default().burst))]
    kube_api_burst: i64,

    /// How objects are read from the API server, where it has them so: application/vnd.kubernetes.protobuf or
    /// application/json. They are written in JSON.
    #[arg(long, value_name = "TYPE", default_value = ClientSettings::default().content_type.media_type())]
    kube_api_content_type: String,

    /// Everything is looked at again after this long, or up to twice as long; 0 for never.
    #[arg(long, value_name = "DURATION", default_value_t = GoDuration(MIN_RESYNC_PERIOD), value_parser = go_duration::value)]
    min_resync_period: GoDuration,

    /// Write as a service account of its own for each controller: endpoint-controller, endpointslice-controller and
    /// endpointslicemirroring-controller in kube-system, with tokens that the API server is asked for.
    #[arg(
        long, value_name = "BOOL", value_parser = go_bool_parser, num_args = 0..=1, require_equals = true,
        default_value = "false", default_missing_value = "true"
    )]
    use_service_account_credentials: bool,
}

/// The ways to read objects.
const ENCODINGS: [Encoding; 2] = [Encoding::Json, Encoding::Protobuf];

impl Generic {
    pub(super) fn controllers(&self, mistakes: &mut Vec<String>) -> Controllers {
        Controllers::parse(&self.controllers).unwrap_or_else(|unknown| {
            mistakes.extend(unknown.iter().map(ToString::to_string));
            Controllers::default()
        })
    }

    pub(super) fn feature_gates(&self, mistakes: &mut Vec<String>, warnings: &mut Vec<String>) -> FeatureGates {
        let (mut gates, mut errors) = (FeatureGates::default(), Vec::new());
        warnings.extend(gates.set(&self.feature_gates, &mut errors));
        mistakes.extend(errors.iter().map(ToString::to_string));
        gates
    }

    pub(super) fn min_resync_period(&self) -> Duration {
        self.min_resync_period.0
    }

    /// The limits, and the rest of what concerns the client as it is by default.
    pub(super) fn client(&self, mistakes: &mut Vec<String>) -> ClientSettings {
        let Generic { kube_api_qps, kube_api_burst, kube_api_content_type, use_service_account_credentials, .. } = self;
        if !kube_api_qps.is_finite() {
            mistakes.push(format!("kube-api-qps must be a number, but got {kube_api_qps}"));
        }
        // With a limit, client-go wants a burst, too.
        let least = i64::from(*kube_api_qps > 0.0);
        let burst = Bounds::new("kube-api-burst", least, i64::from(i32::MAX)).check(*kube_api_burst, mistakes);
        let content_type = ENCODINGS.into_iter().find(|it| it.media_type() == kube_api_content_type);
        if content_type.is_none() {
            let known = ENCODINGS.map(Encoding::media_type).join(", ");
            mistakes.push(format!("kube-api-content-type must be one of {known}, but got {kube_api_content_type:?}"));
        }
        ClientSettings {
            qps: *kube_api_qps,
            burst,
            content_type: content_type.unwrap_or_default(),
            service_account_credentials: *use_service_account_credentials,
            ..ClientSettings::default()
        }
    }
}
