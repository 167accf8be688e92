//! Command lines of kube-controller-manager 1.28 to 1.38: each starts the program with `--allow-upstream-flags`.

use rstest::rstest;

use super::{errors, parse, settings};
use crate::feature_gates::MINORS;
use crate::flags::upstream_only::UpstreamFlag;

/// The argument list of kubeadm with `more`, and the same list without `more`.
fn lines<'a>(more: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
    let common: Vec<&str> = include_str!("../../../tests/fixtures/kcm-args.txt").lines().collect();
    let common: Vec<&str> = common.into_iter().chain(["--allow-upstream-flags"]).collect();
    (common.iter().chain(more).copied().collect(), common)
}

/// Gates at their default and not, gates that are gone or locked since, flags that are gone, and flags that are new, of each
/// release. Nothing of it changes the settings.
#[rstest]
#[case::of_1_28(&[
    "--feature-gates=APIListChunking=true,CSIMigrationRBD=true,LegacyServiceAccountTokenCleanUp=false",
    "--feature-gates=TopologyAwareHints=true,ServiceNodePortStaticSubrange=true,ProxyTerminatingEndpoints=true",
    "--horizontal-pod-autoscaler-downscale-delay=5m",
    "--horizontal-pod-autoscaler-upscale-delay",
    "3m",
    "--volume-host-cidr-denylist=10.0.0.0/8",
    "--volume-host-allow-local-loopback=false",
    "--node-monitor-grace-period=40s",
])]
#[case::of_1_29(&[
    "--feature-gates=DisableCloudProviders=false,KMSv1=true,SidecarContainers=false,CloudDualStackNodeIPs=true",
    "--volume-host-allow-local-loopback",
    "--cloud-provider=external",
])]
#[case::of_1_30(&[
    "--feature-gates=ServiceTrafficDistribution=true,AppArmorFields=false,JobSuccessPolicy=true",
    "--legacy-service-account-token-clean-up-period=8760h",
    "--volume-host-cidr-denylist",
    "10.0.0.0/8",
])]
#[case::of_1_31(&[
    "--feature-gates=ServiceTrafficDistribution=true,DRAControlPlaneController=true,MultiCIDRServiceAllocator=true",
    "--concurrent-validating-admission-policy-status-syncs=5",
])]
#[case::of_1_32(&[
    "--feature-gates=DynamicResourceAllocation=true,ComponentStatusz=true,RelaxedDNSSearchValidation=false",
    "--emulated-version=1.32",
    "--requestheader-uid-headers=X-Remote-Uid",
])]
#[case::of_1_33(&[
    "--feature-gates=PreferSameTrafficDistribution=false,TopologyAwareHints=true,StrictIPCIDRValidation=true",
    "--emulated-version=kube=1.33",
    "--min-compatibility-version=1.32",
])]
#[case::of_1_34(&[
    "--feature-gates=PreferSameTrafficDistribution=false,DRAAdminAccess=false,KubeletPSI=true,InOrderInformers=false",
    "--emulated-version=1.34",
])]
#[case::of_1_35(&[
    "--feature-gates=MaxUnavailableStatefulSet=true,ImageVolume=false,UserNamespacesSupport=false",
    "--controller-shutdown-timeout=10s",
])]
#[case::of_1_36(&[
    "--feature-gates=ControllerManagerReleaseLeaderElectionLockOnExit=true,AtomicFIFO=false",
    "--concurrent-device-taint-eviction-syncs=8",
    "--tls-curve-preferences=X25519",
])]
#[case::of_1_37(&[
    "--feature-gates=CompositePodGroup=true,HPAGeneration=false,SELinuxMount=false,DRADeviceTaints=false",
    "--concurrent-disruption-syncs=2",
])]
#[case::of_1_38(&[
    "--feature-gates=ManagedFieldsOptOut=true,CertificateSigningRequestMLDSA=true,KubeProxyIPVS=false",
    "--concurrent-disruption-syncs",
    "2",
])]
fn command_line_of_every_release_is_valid(#[case] more: &[&str]) {
    let (line, common) = lines(more);
    let parsed = parse(&line).unwrap_or_else(|error| panic!("{error}"));
    let gates = more.iter().filter_map(|it| it.strip_prefix("--feature-gates=")).flat_map(|it| it.split(','));
    for (name, value) in gates.filter_map(|it| it.split_once('=')) {
        let about = |warning: &&String| {
            warning.contains(&format!("Feature gate {name} has no effect"))
                || warning.starts_with(&format!("Feature gate {name}={value} is ignored: "))
        };
        assert!(parsed.warnings.iter().any(|it| about(&it)), "{name}: {:#?}", parsed.warnings);
    }
    for flag in more.iter().filter_map(|it| it.strip_prefix("--")).filter(|it| !it.starts_with("feature-gates")) {
        let name = flag.split('=').next().unwrap_or_default();
        assert!(parsed.warnings.iter().any(|it| it.contains(&format!("--{name}"))), "{name}: {:#?}", parsed.warnings);
    }
    // Gates without effect apart, the settings are those of the list of kubeadm.
    let mut found = parsed.settings;
    let expected = settings(&common);
    found.feature_gates = expected.feature_gates.clone();
    assert_eq!(format!("{found:?}"), format!("{expected:?}"));
}

#[test]
fn flags_of_upstream_are_sorted_and_need_the_option() {
    assert!(UpstreamFlag::all().is_sorted_by(|a, b| a.name < b.name));
    for UpstreamFlag { name, .. } in UpstreamFlag::all() {
        let rejected = errors(&[&format!("--{name}=1")]);
        assert!(rejected.len() == 1 && rejected[0].contains("--allow-upstream-flags"), "{rejected:?}");
    }
}

/// Each version whose command lines are accepted can be named in `--emulated-version`.
#[test]
fn every_emulated_version_is_accepted() {
    for minor in MINORS {
        let version = format!("--emulated-version=1.{minor}");
        assert_eq!(errors(&[&version, "--allow-upstream-flags"]), Vec::<String>::new(), "{version}");
    }
}
