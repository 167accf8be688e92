//! Flags of the program as a whole.

use std::fmt;
use std::time::Duration;

use clap::{ArgAction, Args};
use kube_controller_client::Encoding;

use super::value::{Bounds, go_bool_parser};
use crate::controllers::Controllers;
use crate::emulation::{EmulatedVersion, Requested, out_of_range};
use crate::feature_gates::FeatureGates;
use crate::go_duration::{self, GoDuration};
use crate::go_int;
use crate::settings::{ClientSettings, MIN_RESYNC_PERIOD};

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Generic flags")]
pub(super) struct Generic {
    /// Controllers to run. '*' enables all, 'foo' enables the controller named foo, '-foo' disables it. This program
    /// has endpoints-controller, endpointslice-controller and endpointslice-mirroring-controller; names of other
    /// controllers of kube-controller-manager are accepted and ignored.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "*", action = ArgAction::Append)]
    controllers: Vec<String>,

    /// Version of Kubernetes whose controllers this program behaves as, as in 1.36 or kube=1.36: one of 1.36, 1.37 and 1.38.
    /// Unlike kube-controller-manager, it emulates later versions than its own. With --allow-upstream-flags, 1.28 to 1.35
    /// are accepted and mean 1.36, with a warning.
    #[arg(long, value_name = "VERSION", value_delimiter = ',', default_values_t = [EmulatedVersion::default().to_string()], action = ArgAction::Append)]
    emulated_version: Vec<String>,

    /// Feature gates to set, as name=true or name=false. `EndpointSlice=false` disables the two slice controllers.
    /// Three gates restore earlier rules of the endpoints controller: with `LegacyTolerateUnreadyEndpoints`, the
    /// annotation service.alpha.kubernetes.io/tolerate-unready-endpoints overrides publishNotReadyAddresses; with
    /// `LegacySingleStackEndpoints`, the primary address of a Pod is published regardless of the IP families of its
    /// Service; with `LegacyRestartPolicyMembership`, the restart policy of a Pod that is not ready decides whether it
    /// is removed once it has finished. Other gates of Kubernetes 1.28 to 1.38 are accepted, with a warning that they
    /// have no effect.
    #[arg(long, value_name = "GATES", action = ArgAction::Append)]
    feature_gates: Vec<String>,

    /// Sustained requests per second to the API server, for each controller; 0 or less disables the limit. With `auto`,
    /// the number of requests in flight is limited instead: it grows while it is reached, and shrinks when the API server
    /// answers 429. Writes that remove endpoints are sent first, then those that add endpoints.
    #[arg(long, value_name = "NUMBER|auto", value_parser = Qps::parse, default_value_t = Qps::PerSecond(ClientSettings::default().qps))]
    kube_api_qps: Qps,

    /// Requests that each controller may send to the API server at once before --kube-api-qps applies; ignored with
    /// --kube-api-qps=auto.
    #[arg(long, value_name = "NUMBER", value_parser = go_int::parse, default_value_t = i64::from(ClientSettings::default().burst))]
    kube_api_burst: i64,

    /// Encoding of objects read from and written to the API server: application/vnd.kubernetes.protobuf or
    /// application/json. Objects that have no protobuf encoding or that the server does not accept in it are sent as JSON.
    #[arg(long, value_name = "TYPE", default_value = ClientSettings::default().content_type.media_type())]
    kube_api_content_type: String,

    /// Minimum resync period of informers. Each informer resyncs at a random period between this and twice this; 0
    /// disables resyncs.
    #[arg(long, value_name = "DURATION", default_value_t = GoDuration(MIN_RESYNC_PERIOD), value_parser = go_duration::value)]
    min_resync_period: GoDuration,

    /// Use a separate service account in kube-system for the writes of each controller: endpoint-controller,
    /// endpointslice-controller and endpointslicemirroring-controller. Tokens are requested from the API server.
    #[arg(long, value_name = "BOOL", value_parser = go_bool_parser, default_value = "false")]
    use_service_account_credentials: bool,
}

/// Value of `--kube-api-qps`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Qps {
    PerSecond(f32),
    Auto,
}

impl Qps {
    fn parse(text: &str) -> Result<Qps, String> {
        match text {
            "auto" => Ok(Qps::Auto),
            number => number.parse().map(Qps::PerSecond).map_err(|_| "expected a number or auto".to_owned()),
        }
    }
}

impl fmt::Display for Qps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Qps::PerSecond(number) => number.fmt(f),
            Qps::Auto => f.write_str("auto"),
        }
    }
}

/// The valid values of `--kube-api-content-type`.
const ENCODINGS: [Encoding; 2] = [Encoding::Json, Encoding::Protobuf];

impl Generic {
    pub(super) fn controllers(&self, errors: &mut Vec<String>) -> Controllers {
        Controllers::parse(&self.controllers).unwrap_or_else(|unknown| {
            errors.extend(unknown);
            Controllers::default()
        })
    }

    /// Returns the emulated version. With `allow_older`, earlier versions that kube-controller-manager emulates are
    /// replaced by the earliest one of this program.
    pub(super) fn emulated_version(
        &self,
        allow_older: bool,
        errors: &mut Vec<String>,
        warnings: &mut Vec<String>,
    ) -> EmulatedVersion {
        let default = EmulatedVersion::default();
        match EmulatedVersion::parse(&self.emulated_version) {
            Ok(Requested::Version(version)) => return version,
            Ok(Requested::Older(major, minor)) if allow_older => {
                warnings
                    .push(format!("--emulated-version={major}.{minor} is not supported here, {default} is emulated"));
            }
            Ok(Requested::Older(major, minor)) => errors.push(out_of_range(major, minor)),
            Err(error) => errors.push(error),
        }
        default
    }

    pub(super) fn feature_gates(
        &self,
        version: EmulatedVersion,
        errors: &mut Vec<String>,
        warnings: &mut Vec<String>,
    ) -> FeatureGates {
        let mut gates = FeatureGates::of_version(version);
        warnings.extend(gates.set(&self.feature_gates, errors));
        gates
    }

    pub(super) fn min_resync_period(&self) -> Duration {
        self.min_resync_period.0
    }

    /// Returns the client settings of these flags; the other fields have their defaults.
    pub(super) fn client(&self, errors: &mut Vec<String>) -> ClientSettings {
        let Generic { kube_api_qps, kube_api_burst, kube_api_content_type, use_service_account_credentials, .. } = self;
        let (qps, adaptive) = match kube_api_qps {
            Qps::PerSecond(qps) => (*qps, false),
            Qps::Auto => (ClientSettings::default().qps, true),
        };
        if !qps.is_finite() {
            errors.push(format!("kube-api-qps must be a number, but got {qps}"));
        }
        // As in client-go, a rate limit needs a burst of at least 1.
        let min = i64::from(qps > 0.0 && !adaptive);
        let burst = Bounds::new("kube-api-burst", min, i64::from(i32::MAX)).check(*kube_api_burst, errors);
        let content_type = ENCODINGS.into_iter().find(|it| it.media_type() == kube_api_content_type);
        if content_type.is_none() {
            let valid = ENCODINGS.map(Encoding::media_type).join(", ");
            errors.push(format!("kube-api-content-type must be one of {valid}, but got {kube_api_content_type:?}"));
        }
        ClientSettings {
            qps,
            burst,
            adaptive,
            content_type: content_type.unwrap_or_default(),
            service_account_credentials: *use_service_account_credentials,
            ..ClientSettings::default()
        }
    }
}
