//! The document at `/configz`: the fields of upstream's `KubeControllerManagerConfiguration` that this program has
//! (CM-11).

use std::time::Duration;

use kube_controller_client::Encoding;
use serde_json::{Value, json};

use crate::controllers;
use crate::go_duration::GoDuration;
use crate::settings::{ClientSettings, LeaderElection, Mode, Settings, ShadowSettings};

const GROUP: &str = "kubecontrollermanager.config.k8s.io";

pub(crate) fn configz(settings: &Settings) -> Value {
    let mut configuration = json!({
        "kind": "KubeControllerManagerConfiguration",
        "apiVersion": format!("{GROUP}/v1alpha1"),
        "Generic": {
            "Port": settings.serving.port,
            "Address": settings.serving.bind_address,
            "MinResyncPeriod": format_duration(settings.min_resync_period),
            "ClientConnection": connection(&settings.client),
            "LeaderElection": election(settings.leader_election.as_ref()),
        },
    });
    for (section, fields) in controllers::configz(settings) {
        configuration[section] = fields;
    }
    if settings.mode == Mode::Shadow {
        configuration["Shadow"] = shadow(&settings.shadow);
    }
    json!({ GROUP: configuration })
}

/// Returns the settings of shadow mode, which upstream does not have.
fn shadow(settings: &ShadowSettings) -> Value {
    let ShadowSettings { settle_period, writer_lease, compare_period } = settings;
    json!({
        "SettlePeriod": format_duration(*settle_period),
        "WriterLease": writer_lease.as_ref().map_or_else(String::new, ToString::to_string),
        "ComparePeriod": format_duration(*compare_period),
    })
}

fn format_duration(duration: Duration) -> String {
    GoDuration(duration).to_string()
}

fn connection(client: &ClientSettings) -> Value {
    let ClientSettings { kubeconfig, master: _, qps, burst, adaptive, content_type, service_account_credentials: _ } =
        client;
    let content_type = match content_type {
        Encoding::Json => "application/json",
        Encoding::Protobuf => "application/vnd.kubernetes.protobuf",
    };
    let kubeconfig = kubeconfig.as_ref().map_or_else(String::new, |path| path.display().to_string());
    // In client-go, a negative number disables the rate limiter.
    let qps = if *adaptive { -1.0 } else { *qps };
    let mut connection = json!({
        "Kubeconfig": kubeconfig, "AcceptContentTypes": "", "ContentType": content_type, "QPS": qps, "Burst": burst
    });
    if *adaptive {
        // Upstream does not have this field.
        connection["AdaptiveLimit"] = true.into();
    }
    connection
}

fn election(election: Option<&LeaderElection>) -> Value {
    let default = LeaderElection::default();
    let LeaderElection { lease, timing } = election.unwrap_or(&default);
    json!({
        "LeaderElect": election.is_some(),
        "LeaseDuration": format_duration(timing.lease_duration()),
        "RenewDeadline": format_duration(timing.renew_deadline()),
        "RetryPeriod": format_duration(timing.retry_period()),
        "ResourceLock": "leases",
        "ResourceName": lease.name,
        "ResourceNamespace": lease.namespace,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adaptive_limit_has_no_rate() {
        let adaptive = ClientSettings { adaptive: true, ..ClientSettings::default() };
        let document = connection(&adaptive);
        assert_eq!((&document["QPS"], &document["AdaptiveLimit"]), (&json!(-1.0), &json!(true)));
        assert_eq!(connection(&ClientSettings::default())["AdaptiveLimit"], Value::Null);
    }

    #[test]
    fn configz_has_upstreams_field_names_and_formats() {
        let settings = Settings { leader_election: Some(LeaderElection::default()), ..Settings::default() };
        let document = configz(&settings);
        let document = &document["kubecontrollermanager.config.k8s.io"];
        assert_eq!(document["kind"], "KubeControllerManagerConfiguration");
        assert_eq!(document["apiVersion"], "kubecontrollermanager.config.k8s.io/v1alpha1");
        let generic = &document["Generic"];
        assert_eq!(generic["MinResyncPeriod"], "12h0m0s");
        assert_eq!(generic["LeaderElection"]["LeaseDuration"], "15s");
        assert_eq!(
            (&generic["ClientConnection"]["QPS"], &generic["ClientConnection"]["Burst"]),
            (&json!(20.0), &json!(30))
        );
        #[cfg(feature = "endpointslice")]
        assert_eq!(
            document["EndpointSliceController"],
            json!({"ConcurrentServiceEndpointSyncs": 5, "MaxEndpointsPerSlice": 100, "EndpointUpdatesBatchPeriod": "0s"})
        );
    }
}
