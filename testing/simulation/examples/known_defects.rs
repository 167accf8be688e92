//! Searches for known defects of Kubernetes and of these controllers.
//!
//! `.ci/known-defects.sh` applies the patch of each defect (`testing/simulation/defects`) to a copy of the repository and
//! runs this example there. It fails unless each named defect is found within a few schedules.
//!
//! ```console
//! .ci/known-defects.sh ghost-slice
//! ```
#![expect(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, reason = "fixtures of tests, and a report")]

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::time::Duration;

use kube_simulation::endpoints::{Options, controller_manager, scenario};
use kube_simulation::{Chaos, Disturbance, Faults, Operation, Policy, Simulation, Step};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};

const CORE: &str = "/api/v1/namespaces/default";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

fn create(resource: &str, object: Value) -> Operation {
    Operation::Create { path: format!("{CORE}/{resource}"), object }
}

fn patch(path: String, patch: Value) -> Operation {
    Operation::Patch { path, patch }
}

fn delete(path: String) -> Operation {
    Operation::Delete { path, options: Value::Null }
}

/// Returns the create of a Service. With a null selector, its Endpoints are mirrored.
fn service(name: &str, selector: &Value) -> Operation {
    let spec = json!({ "selector": selector, "ports": [{ "name": "http", "port": 80, "targetPort": 80 }] });
    create("services", json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": name }, "spec": spec }))
}

fn endpoints(last: u8) -> Operation {
    let subset = json!({ "addresses": [{ "ip": format!("10.8.0.{last}") }], "ports": [{ "port": 80 }] });
    let metadata = json!({ "name": "mirrored" });
    create("endpoints", json!({ "apiVersion": "v1", "kind": "Endpoints", "metadata": metadata, "subsets": [subset] }))
}

fn pod(number: u8) -> [Operation; 2] {
    let name = format!("pod-{number}");
    let spec = json!({ "nodeName": "node-0", "containers": [{ "name": "main", "image": "i" }] });
    let metadata = json!({ "name": &name, "labels": { "app": "web" } });
    let ip = format!("10.1.0.{}", number + 1);
    let status = json!({
        "phase": "Running", "podIP": &ip, "podIPs": [{ "ip": &ip }],
        "conditions": [{ "type": "Ready", "status": "True" }],
    });
    [
        create("pods", json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec })),
        patch(format!("{CORE}/pods/{name}/status"), json!({ "status": status })),
    ]
}

/// Returns the requests of one random act.
fn act(rng: &mut SmallRng, profile: Profile, number: u8) -> Vec<Operation> {
    let web = || service("web", &json!({ "app": "web" }));
    let kind = match profile {
        Profile::DeletedSlices => [0, 1, 3, 4][rng.random_range(0..4)],
        _ => rng.random_range(0..10_u8),
    };
    match kind {
        0 => vec![delete(format!("{SLICES}/web*0"))],
        1 => vec![delete(format!("{SLICES}/mirrored*0"))],
        2 => {
            let path = format!("{SLICES}/mirrored*0");
            let finalizers = |value: Value| patch(path.clone(), json!({ "metadata": { "finalizers": value } }));
            vec![finalizers(json!(["example.com/hold"])), delete(path.clone()), finalizers(Value::Null)]
        }
        3 => vec![delete(format!("{CORE}/endpoints/mirrored")), endpoints(number)],
        4 => vec![delete(format!("{CORE}/services/web")), web()],
        5 => vec![delete(format!("{CORE}/pods/pod-0"))],
        6 => vec![patch(
            format!("{CORE}/services/web"),
            json!({ "metadata": { "labels": { "n": number.to_string() } } }),
        )],
        7 => vec![delete(format!("{CORE}/endpoints/web"))],
        _ => pod(number).into(),
    }
}

/// Faults of the runs for one defect.
#[derive(Clone, Copy, Debug)]
enum Profile {
    /// Three requests are answered with 429 and a `Retry-After` of one day.
    Throttled,
    /// The response to a create of a slice is lost, and three events of slices are 5 s late.
    LostAnswers,
    /// Half of the events, and a tenth of the requests, are late or lost.
    LateEvents,
    /// The process is killed twice.
    Crashes,
    /// A policy adds a label for 60 s.
    AddLabel,
    /// The store is restored twice, and the connections are reset twice.
    Restores,
    /// The store is restored while the process is frozen, and the next write reuses the resource version of a write
    /// that the restore has removed.
    OtherPast,
    /// Two candidates for leadership, each of which is frozen once.
    TwoCandidates,
    /// No faults. All acts delete slices, or objects that own slices.
    DeletedSlices,
    /// No faults.
    Nothing,
}

/// Returns a history of twelve acts on a Service with Pods, and on a Service whose Endpoints are mirrored.
fn simulation(seed: u64, profile: Profile) -> Simulation {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut steps = vec![
        vec![service("web", &json!({ "app": "web" })), service("mirrored", &Value::Null), endpoints(1)],
        pod(0).into(),
    ];
    steps.extend((2..14).map(|number| act(&mut rng, profile, number)));
    let pauses = [0, 0, 3, 30, 400, 1_500];
    let mut step = |operation| {
        let after = Duration::from_millis(pauses[rng.random_range(0..pauses.len())]);
        Step { after, operation }
    };
    let mut steps: Vec<Step> = steps.into_iter().flatten().map(&mut step).collect();
    let end = steps.iter().map(|step| step.after).sum::<Duration>().as_millis();
    let end = u32::try_from(end).unwrap();
    let max_endpoints_per_slice = NonZeroUsize::new(2).unwrap();
    let options = Options { max_endpoints_per_slice, ..Options::default() };
    let other_past = matches!(profile, Profile::OtherPast);
    if other_past {
        let subsets = |last: u8| json!({ "subsets": [{ "addresses": [{ "ip": format!("10.8.1.{last}") }] }] });
        let step = |millis, last| Step {
            after: Duration::from_millis(millis),
            operation: patch(format!("{CORE}/endpoints/mirrored"), subsets(last)),
        };
        steps.extend([step(3_000, 1), step(500, 2)]);
    }
    let mut simulation = scenario::base(seed, steps, options);
    let mut chaos = Chaos::NONE;
    let mut disturbances = Vec::new();
    let mut rng = SmallRng::seed_from_u64(!seed);
    let within = |rng: &mut SmallRng, what| (Duration::from_millis((500 + rng.random_range(0..end)).into()), what);
    match profile {
        Profile::Throttled => {
            let points = ["create/endpoints", "update/endpoints", "create/endpointslices", "update/endpointslices"];
            let mut point =
                || format!("a/{}/{}=throttle-86400", points[rng.random_range(0..4)], rng.random_range(1..4));
            let plan = [point(), point(), point()].join(",");
            simulation.faults = Faults::Planned(plan.parse().unwrap());
            return simulation;
        }
        Profile::LostAnswers => {
            let lost = rng.random_range(1..4);
            let late = (lost..lost + 3).map(|event| format!("a/event/endpointslices/{event}=delay-5000"));
            let plan: Vec<_> = late.chain([format!("a/create/endpointslices/{lost}=lose-answer")]).collect();
            simulation.faults = Faults::Planned(plan.join(",").parse().unwrap());
            return simulation;
        }
        Profile::LateEvents => chaos = Chaos { requests: 0.1, events: 0.5, crashes: 0.0 },
        Profile::Crashes => {
            disturbances = vec![
                within(&mut rng, Disturbance::Crash("a".into(), 10)),
                within(&mut rng, Disturbance::Crash("a".into(), 10)),
            ];
        }
        Profile::AddLabel => disturbances = vec![within(&mut rng, Disturbance::Policy(Policy::AddLabel, 60_000))],
        Profile::Restores => {
            disturbances = vec![
                within(&mut rng, Disturbance::RestartServer),
                within(&mut rng, Disturbance::Rewind(1_000)),
                within(&mut rng, Disturbance::Rewind(1_000)),
                within(&mut rng, Disturbance::RestartServer),
            ];
        }
        Profile::OtherPast => {
            // The script of the user starts 500 ms after the run.
            let then = |millis: u32, what| (Duration::from_millis((500 + end + 3_000 + millis).into()), what);
            disturbances = vec![
                then(300, Disturbance::Freeze("a".into(), 2_000)),
                then(400, Disturbance::Rewind(350)),
                then(700, Disturbance::RestartServerLost),
            ];
        }
        Profile::TwoCandidates => {
            let candidate = Options { elects: true, ..options };
            simulation.processes = vec![controller_manager("a", candidate), controller_manager("b", candidate)];
            chaos = Chaos { requests: 0.05, events: 0.3, crashes: 0.0 };
            disturbances =
                ["a", "b"].map(|name| within(&mut rng, Disturbance::Freeze(name.into(), 20_000))).into_iter().collect();
        }
        Profile::DeletedSlices | Profile::Nothing => {}
    }
    disturbances.sort_by_key(|(at, _)| *at);
    simulation.faults = Faults::Drawn { chaos, disturbances };
    simulation
}

/// A former defect of Kubernetes or of these controllers: `defects/NAME.patch` has it.
struct Defect {
    name: &'static str,
    profile: Profile,
    /// Maximum number of schedules until it is found; `None` if it was not found within 60 seconds.
    within: Option<u64>,
}

const fn found(name: &'static str, profile: Profile) -> Defect {
    found_within(16, name, profile)
}

const fn found_within(schedules: u64, name: &'static str, profile: Profile) -> Defect {
    Defect { name, profile, within: Some(schedules) }
}

const fn not_found(name: &'static str, profile: Profile) -> Defect {
    Defect { name, profile, within: None }
}

const DEFECTS: &[Defect] = &[
    found("long-retry-after", Profile::Throttled),
    found("altered-write-repeated", Profile::AddLabel),
    found("terminating-mirror-ignored", Profile::Nothing),
    found("own-writes-not-cached", Profile::LateEvents),
    found("new-name-for-retry", Profile::LostAnswers),
    // Later schedules of this profile fail without a defect, too: after a restore that a client cannot detect, because the
    // server has passed the versions that the client has seen.
    found_within(2, "watch-not-verified", Profile::Restores),
    found("no-op-update-stays-stale", Profile::AddLabel),
    found("ghost-slice", Profile::DeletedSlices),
    found("untracked-mirror-ignored", Profile::Crashes),
    not_found("equal-versions-equal-content", Profile::OtherPast),
    not_found("leader-with-old-caches", Profile::TwoCandidates),
];

/// Number of schedules that are tried for a defect that was not found so far.
const LONG: u64 = 600;

/// Returns the first schedule that fails because of a defect, with its violation.
fn find(profile: Profile, schedules: u64) -> Option<(u64, String)> {
    (0..schedules).find_map(|seed| Some((seed, simulation(seed, profile).run().violations.into_iter().next()?)))
}

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let mut code = ExitCode::SUCCESS;
    for name in &names {
        let Some(Defect { profile, within, .. }) = DEFECTS.iter().find(|defect| defect.name == name) else {
            eprintln!("{name}: no such defect");
            return ExitCode::FAILURE;
        };
        let schedules = within.unwrap_or(LONG);
        if let Some((seed, violation)) = find(*profile, schedules) {
            println!("{name}: found with schedule {}: {violation}", seed + 1);
            continue;
        }
        println!("{name}: not found within {schedules} schedules");
        if within.is_some() {
            code = ExitCode::FAILURE;
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use rstest::rstest;

    use super::*;

    /// The schedules that find the defects pass without them, so that it is the defects which are found.
    #[rstest]
    fn schedules_pass_without_the_defects(#[values(0, 1, 2, 3, 4, 5, 6, 7, 8)] number: usize) {
        let Defect { name, profile, within } = DEFECTS[number];
        let failed = find(profile, within.expect("these are found"));
        assert!(failed.is_none(), "schedules of {name}: {failed:?}");
    }

    #[test]
    fn each_defect_has_a_patch() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("defects");
        let files = folder.read_dir().unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        let expected = DEFECTS.iter().map(|defect| format!("{}.patch", defect.name));
        assert_eq!(files.collect::<BTreeSet<_>>(), expected.collect());
    }
}
