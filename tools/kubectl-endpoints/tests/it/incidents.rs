//! Incidents of which the test knows the cause: `history` finds it in what `record` has written while the controllers ran.

mod cases;
mod hints;
mod objects;
mod write;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use endpoint_controller_manager::{ClientSettings, RunError, Settings, run};
use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use kube_controller_client::Config;
use kube_dev_apiserver::{Clock, Fault, FieldTracking, History, On, Server};
use kube_endpoint_model::{EndpointSlice, Endpoints, Node, ObjectKey, Pod, Service};
use kube_endpoints_explain::{Kind, World};
use kube_endpoints_history::timeline::{Cause, Entry};
use kube_endpoints_history::{Archive, Select, Timeline};
use kube_endpoints_testing::book::assert_table;
use kube_endpoints_testing::until;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::cases::{Effect, Incident};
use crate::cluster::Cluster;
use crate::record::Recorder;

/// A cluster with controllers and a recorder, and a namespace for each incident.
struct Scene {
    cluster: Cluster,
    stop: CancellationToken,
    controllers: JoinSet<Result<(), RunError>>,
    recorder: Recorder,
}

/// What `history` has found, in the order of the incidents.
type Found = Vec<Entry>;

impl Scene {
    /// Starts a cluster with the objects before the incidents, and waits until the controllers have written all of them.
    async fn start(nodes: Vec<Value>, incidents: &[Incident]) -> Scene {
        let is_long_ago = Arc::new(AtomicBool::new(true));
        let past = is_long_ago.clone();
        let hours = move || SignedDuration::from_hours(i64::from(past.load(Ordering::Relaxed)));
        let clock = Clock::new(move || kube_ambient::now() - hours());
        let (field_tracking, garbage_collection) = (FieldTracking::Always, true);
        let config = kube_dev_apiserver::Config { field_tracking, garbage_collection, clock, ..Default::default() };
        let cluster = Cluster::empty(config).await;
        let objects = incidents.iter().enumerate().flat_map(|(at, incident)| {
            let own = incident.before.iter().cloned();
            std::iter::once(objects::namespace(&namespace(at))).chain(own).map(move |object| (namespace(at), object))
        });
        let nodes = nodes.into_iter().map(|node| (String::new(), node));
        write::set_up(&cluster, nodes.chain(objects)).await;
        let (stop, mut controllers) = (CancellationToken::new(), JoinSet::new());
        let config = Config::from_kubeconfig(&cluster.kubeconfig()).await.expect("a kubeconfig");
        let client = ClientSettings { qps: 0.0, ..ClientSettings::default() };
        let settings = Settings { client, ..Settings::default() };
        controllers.spawn(Box::pin(run(config, settings, stop.clone())));
        until("settled cluster", async || unsettled(&cluster.server), Vec::is_empty).await;
        is_long_ago.store(false, Ordering::Relaxed);
        let recorder = Recorder::start_in(&cluster, "-A", "all namespaces").await;
        Scene { cluster, stop, controllers, recorder }
    }

    async fn inject(&self, at: usize, incident: &Incident) -> Timestamp {
        let (cause, before) = incident.writes.split_last().expect("a write");
        for write in before {
            write.send(&self.cluster, &namespace(at)).await;
        }
        let start = kube_ambient::now();
        cause.send(&self.cluster, &namespace(at)).await;
        // Records have whole milliseconds.
        start - SignedDuration::from_millis(1)
    }

    /// Waits until `history` names the causes of all incidents from the first one on.
    async fn explained(&self, incidents: &[Incident], first: usize, starts: &[Timestamp]) -> Found {
        let find = async || {
            let numbered = (first..).zip(incidents);
            let found =
                numbered.zip(starts).map(|((at, incident), start)| find(&self.recorder.path, at, incident, *start));
            let (found, missing): (Vec<_>, Vec<_>) = found.partition(Result::is_ok);
            let found: Found = found.into_iter().filter_map(Result::ok).collect();
            (found, missing.into_iter().filter_map(Result::err).collect::<Vec<String>>())
        };
        until("cause of each incident", find, |(_, missing)| missing.is_empty()).await.0
    }

    async fn stop_controllers(&mut self) {
        self.stop.cancel();
        while let Some(ended) = self.controllers.join_next().await {
            ended.expect("no panic").expect("no error");
        }
    }

    /// Ends the recorder. The history says the same afterwards, and the command prints it.
    async fn end(mut self, incidents: &[Incident], starts: &[Timestamp], commands: &[usize]) {
        self.stop_controllers().await;
        let path = self.recorder.path.clone();
        assert_eq!(self.recorder.stop("TERM").await.0, 0);
        for (at, (incident, start)) in incidents.iter().zip(starts).enumerate() {
            let found = find(&path, at, incident, *start).unwrap_or_else(|other| panic!("{other}"));
            if commands.contains(&at) {
                let line = format!("history web --all -n {} --history {}", namespace(at), path.display());
                let run = self.cluster.run(&line).await;
                let Cause { object, reason, manager, .. } = &found.cause;
                let code = reason.as_ref().map_or("", |reason| reason.code.as_str());
                let by = manager.as_ref().map(|manager| format!(" by {manager}")).unwrap_or_default();
                let is_told =
                    |line: &str| line.contains(code) && line.contains(&object.to_string()) && line.contains(&by);
                assert!(run.stdout.lines().any(is_told), "{}: {run:?}", incident.title);
            }
        }
        self.cluster.server.shutdown().await;
    }
}

fn namespace(at: usize) -> String {
    format!("incident-{at}")
}

/// Returns what the controllers still have to write.
fn unsettled(server: &Server) -> Vec<String> {
    fn of<T: DeserializeOwned>(server: &Server, group: &str, plural: &str) -> Vec<Arc<T>> {
        let objects = server.objects(group, plural);
        objects.into_iter().map(|object| Arc::new(serde_json::from_value(object).expect("an object"))).collect()
    }
    let mut world = World::default();
    world.add_services(of::<Service>(server, "", "services"));
    world.add_pods(of::<Pod>(server, "", "pods"));
    world.add_nodes(of::<Node>(server, "", "nodes"));
    world.add_endpoints(of::<Endpoints>(server, "", "endpoints"));
    world.add_slices(of::<EndpointSlice>(server, "discovery.k8s.io", "endpointslices"));
    world.changes().iter().map(|change| format!("{} {:?}", change.object, change.reasons)).collect()
}

/// Returns the first entry with an effect of the expected kind, if it names the true cause; otherwise what it says.
fn find(path: &Path, at: usize, incident: &Incident, start: Timestamp) -> Result<Entry, String> {
    let web = ObjectKey::new(namespace(at).as_str(), "web");
    let mut archive = Archive::open(path).expect("a history");
    let mut replay = archive.replay(Select::Service(web.clone()), start).expect("readable");
    let settings = kube_endpoints_explain::Settings::default();
    let timeline = Timeline::of_service(&web, settings, &mut replay, Timestamp::MAX).expect("readable");
    let is_of_effect = |entry: &&Entry| match incident.effect {
        Effect::Address | Effect::Later | Effect::Unwritten => entry.endpoint.is_some(),
        Effect::Hints => entry.hints.is_some(),
        Effect::None => true,
    };
    let Some(entry) = timeline.entries.iter().find(is_of_effect) else {
        return Err(format!("{}: nothing", incident.title));
    };
    let Cause { object, reason, ended, manager, user, .. } = &entry.cause;
    let (code, kind, name, actor) = &incident.cause;
    let expected_namespace = if *kind == Kind::Node { String::new() } else { namespace(at) };
    let is_object = object.kind == *kind && object.namespace == expected_namespace;
    // The names of slices are generated.
    let is_right = is_object
        && (name.is_empty() || object.name == *name)
        && reason.as_ref().map(|reason| reason.code) == *code
        && !ended
        && (manager.as_deref(), user) == (*actor, &None)
        && (start..=kube_ambient::now()).contains(&entry.time);
    let is_written = match incident.effect {
        Effect::Address => entry.written.is_some() || *kind == Kind::EndpointSlice,
        Effect::Unwritten => entry.written.is_none(),
        Effect::Later | Effect::Hints => true,
        Effect::None => !entry.has_effect(),
    };
    if is_right && is_written { Ok(entry.clone()) } else { Err(format!("{} from {start}: {entry:?}", incident.title)) }
}

async fn all_at_once(nodes: Vec<Value>, incidents: Vec<Incident>, commands: &[usize]) -> Vec<(Incident, Entry)> {
    let scene = Scene::start(nodes, &incidents).await;
    let starts = join_all(incidents.iter().enumerate().map(|(at, incident)| scene.inject(at, incident))).await;
    let found = scene.explained(&incidents, 0, &starts).await;
    scene.end(&incidents, &starts, commands).await;
    incidents.into_iter().zip(found).collect()
}

/// Incidents that stop something, one after another.
async fn in_sequence() -> Vec<(Incident, Entry)> {
    let incidents = [hints::new_node(), cases::in_a_gap(), cases::without_controllers()];
    let mut scene = Scene::start([vec![objects::node("n1", None, false)], hints::zones()].concat(), &incidents).await;
    let new_node = scene.inject(0, &incidents[0]).await;
    let mut found = scene.explained(&incidents[..1], 0, &[new_node]).await;

    let pods = On::any().user_agent("kubectl-endpoints").resource("pods");
    let fault = scene.cluster.server.faults().inject(Fault::reset().on(pods.clone()));
    until("open watch", async || scene.cluster.server.faults().cut_watches(&pods), |cut| *cut == 1).await;
    let in_a_gap = scene.inject(1, &incidents[1]).await;
    scene.cluster.server.restart(History::Lost);
    scene.cluster.server.faults().remove(fault);
    found.extend(scene.explained(&incidents[1..2], 1, &[in_a_gap]).await);

    scene.stop_controllers().await;
    let without_controllers = scene.inject(2, &incidents[2]).await;
    found.extend(scene.explained(&incidents[2..], 2, &[without_controllers]).await);
    let starts = [new_node, in_a_gap, without_controllers];
    assert!(is_in_a_gap(&scene.recorder.path, starts[1]), "no gap contains {}", starts[1]);
    scene.end(&incidents, &starts, &[1, 2]).await;
    incidents.into_iter().zip(found).collect()
}

fn is_in_a_gap(path: &Path, time: Timestamp) -> bool {
    let mut archive = Archive::open(path).expect("a history");
    let mut replay = archive.replay(Select::All, Timestamp::MIN).expect("readable");
    let changes = std::iter::from_fn(|| replay.next_change().expect("readable"));
    changes.into_iter().any(|change| match change.what {
        kube_endpoints_history::What::Gap(gap) => (gap.since..=change.seen).contains(&time),
        _ => false,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn history_names_the_cause_of_each_incident() {
    let nodes = vec![objects::node("n1", Some("a"), true)];
    let (objects, of_hints, sequence) = tokio::join!(
        all_at_once(nodes, cases::of_objects(), &[0, 15]),
        all_at_once(hints::zones(), hints::of_hints(), &[0]),
        in_sequence()
    );
    let all: Vec<(Incident, Entry)> = objects.into_iter().chain(of_hints).chain(sequence).collect();
    assert_eq!(all.len(), 40);
    let mut table = "| the incident | code | object | written by |\n|---|---|---|---|\n".to_owned();
    for (incident, Entry { cause: Cause { object, reason, manager, .. }, .. }) in all {
        let code = reason.map_or("-".to_owned(), |reason| format!("[{0}](codes.md#{0})", reason.code));
        let (title, kind, manager) = (incident.title, object.kind, manager.as_deref().unwrap_or("unknown"));
        writeln!(table, "| {title} | {code} | {kind} | {manager} |").expect("a String");
    }
    assert_table("history", "incidents", &table);
}
