//! The executor against the embedded API server.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use http::{Response, StatusCode, header::RETRY_AFTER};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_controller::{Executed, Executor, Failure, WriteRules};
use kube_controller_client::{Client, ClientOptions, Config, Error, RequestPriority, Review, ReviewedClient};
use kube_dev_apiserver::{On, Server};
use kube_informer::{HandlerOptions, Informer, ManualSource};
use kube_wire::{Object as _, ObjectKey, Uid, Write};
use rstest::rstest;
use tower::util::MapResponse;

const NAMESPACE: &str = "default";

fn map(name: &str) -> ConfigMap {
    let metadata =
        ObjectMeta { namespace: Some(NAMESPACE.to_owned()), name: Some(name.to_owned()), ..ObjectMeta::default() };
    ConfigMap { metadata, ..ConfigMap::default() }
}

fn create(name: &str) -> Write<ConfigMap> {
    Write::Create(map(name))
}

fn shown(write: &Write<ConfigMap>) -> String {
    let object = write.before().or(write.after()).expect("each write has an object");
    format!("{} {}", write.verb(), object.name())
}

/// What follows the create of an object that exists, and a record of the calls.
struct Rules {
    on_failure: Failure,
    renamed: bool,
    seen: Vec<String>,
}

impl WriteRules<ConfigMap> for Rules {
    fn priority(&self, _: &[&Write<ConfigMap>]) -> RequestPriority {
        RequestPriority::default()
    }

    fn to_create<'p>(&mut self, planned: &'p ConfigMap) -> Cow<'p, ConfigMap> {
        if self.renamed { Cow::Owned(map(&format!("{}-2", planned.name()))) } else { Cow::Borrowed(planned) }
    }

    fn answered(&mut self, planned: &ConfigMap, answer: &ConfigMap) {
        self.seen.push(format!("answer to {}: {}", planned.name(), answer.name()));
    }

    fn accepted(&mut self, write: &Write<ConfigMap>, uid: &Uid) {
        assert!(!uid.is_empty());
        self.seen.push(format!("accepted {}", shown(write)));
    }

    fn failed(&mut self, write: &Write<ConfigMap>, sent: &ConfigMap, _: &Error) -> Failure {
        self.seen.push(format!("failed {} as {}", shown(write), sent.name()));
        self.renamed = self.on_failure == Failure::Repeat;
        self.on_failure
    }

    fn completed(&mut self, group: usize) {
        self.seen.push(format!("completed {group}"));
    }
}

struct Cluster {
    server: Server,
    client: Client,
    cache: Informer<ConfigMap>,
    _source: ManualSource<ConfigMap>,
}

impl Cluster {
    /// Starts a server that has the object `taken`.
    async fn start() -> Cluster {
        let server = Server::start(kube_dev_apiserver::Config::default()).await.expect("the server starts");
        let config = Config::from_url(&server.url()).expect("a valid URL");
        let client = Client::new(&config, ClientOptions { qps: 0.0, ..ClientOptions::default() }).expect("a client");
        client.create(&map("taken")).await.expect("created");
        let (cache, source) = ManualSource::new();
        source.replace([], "1");
        Cluster { server, client, cache, _source: source }
    }

    async fn stored(&self, name: &str) -> Arc<ConfigMap> {
        Arc::new(self.client.get(NAMESPACE, name).await.expect("stored"))
    }

    /// Executes groups of writes. Returns the number of accepted writes, the failed ones, and what the rules saw.
    async fn execute(
        &self,
        groups: &[Vec<Write<ConfigMap>>],
        on_failure: Failure,
    ) -> (usize, Vec<String>, Vec<String>) {
        let client = ReviewedClient::from(self.client.clone());
        let cache = self.cache.write_through(&self.cache.store_synced());
        let mut rules = Rules { on_failure, renamed: false, seen: Vec::new() };
        let executor = Executor::new(&client, Some(&cache));
        let groups = groups.iter().map(Vec::as_slice);
        let Executed { is_reviewed, writes, failures } =
            executor.execute(&ObjectKey::new(NAMESPACE, "owner"), groups, &mut rules).await;
        assert!(!is_reviewed);
        (writes, failures.iter().map(|(write, _)| shown(write)).collect(), rules.seen)
    }
}

#[rstest]
#[case::fail(Failure::Fail, 2, &["create taken"], &["failed create taken as taken"])]
#[case::end_group(Failure::EndGroup, 2, &[], &["failed create taken as taken"])]
#[case::repeat(Failure::Repeat, 4, &[], &["failed create taken as taken", "answer to taken: taken-2",
    "accepted create taken", "answer to after: after-2", "accepted create after", "completed 0"])]
#[tokio::test]
async fn a_failure_ends_its_group_and_the_next_goes_on(
    #[case] on_failure: Failure,
    #[case] writes: usize,
    #[case] failures: &[&str],
    #[case] after_failure: &[&str],
) {
    let cluster = Cluster::start().await;
    let groups = [vec![create("first"), create("taken"), create("after")], vec![create("second")]];
    let (accepted, failed, seen) = cluster.execute(&groups, on_failure).await;
    assert_eq!((accepted, &failed[..]), (writes, &failures.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()[..]));
    let second = if on_failure == Failure::Repeat { "second-2" } else { "second" };
    let answer = format!("answer to second: {second}");
    let mut expected = vec!["answer to first: first", "accepted create first"];
    expected.extend(after_failure);
    expected.extend([&*answer, "accepted create second", "completed 1"]);
    assert_eq!(seen, expected);
    assert!(cluster.cache.lister().get(NAMESPACE, "first").is_some(), "the response is in the cache");
}

/// Another client has changed or deleted the object since the plan was made.
#[rstest]
#[case::update("update", false, &["update taken"])]
#[case::delete("delete", false, &["delete taken"])]
#[case::update_of_nothing("update", true, &["update taken"])]
#[case::delete_of_nothing("delete", true, &[])]
#[tokio::test]
async fn writes_change_nothing_that_another_client_has_changed(
    #[case] verb: &str,
    #[case] deleted: bool,
    #[case] failures: &[&str],
) {
    let cluster = Cluster::start().await;
    let stored = cluster.stored("taken").await;
    let changed = ConfigMap { immutable: Some(false), ..(*stored).clone() };
    if deleted {
        cluster.client.delete::<ConfigMap>(NAMESPACE, "taken", None).await.expect("deleted");
    } else {
        cluster.client.update(&changed).await.expect("updated");
    }
    let write = match verb {
        "update" => Write::Update { desired: map_of(&stored), stored },
        _ => Write::Delete(stored),
    };
    let (accepted, failed, seen) = cluster.execute(&[vec![write]], Failure::Fail).await;
    assert_eq!((accepted, failed), (0, failures.iter().map(|it| (*it).to_owned()).collect()));
    assert_eq!(seen.last().map(String::as_str) == Some("completed 0"), failures.is_empty());
    if !deleted {
        assert_eq!(cluster.stored("taken").await.immutable, Some(false), "the change of the other client stays");
    }
}

/// Returns the object with other content than any stored one.
fn map_of(stored: &ConfigMap) -> ConfigMap {
    ConfigMap { data: Some([("key".to_owned(), "value".to_owned())].into()), ..stored.clone() }
}

#[tokio::test]
async fn accepted_updates_and_deletes_are_counted() {
    let cluster = Cluster::start().await;
    let stored = cluster.stored("taken").await;
    let update = Write::Update { desired: map_of(&stored), stored };
    let (accepted, failed, _) = cluster.execute(&[vec![update]], Failure::Fail).await;
    assert_eq!((accepted, failed.len()), (1, 0));
    let delete = Write::Delete(cluster.stored("taken").await);
    let (accepted, failed, seen) = cluster.execute(&[vec![delete]], Failure::Fail).await;
    assert_eq!((accepted, failed.len()), (1, 0));
    assert_eq!(seen, ["accepted delete taken", "completed 0"]);
}

/// A proxy answers an update that the server has applied with 503 and `Retry-After`: the client sends it again, and gets a
/// conflict with the first attempt.
#[tokio::test(start_paused = true)]
async fn the_event_of_an_update_that_was_sent_again_is_not_foreign() {
    let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("no initial objects");
    let hides = Arc::new(AtomicBool::new(false));
    let proxy = MapResponse::new(server.service(), {
        let hides = Arc::clone(&hides);
        move |mut response: Response<_>| {
            if hides.swap(false, Relaxed) {
                *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
                response.headers_mut().insert(RETRY_AFTER, 0.into());
            }
            response
        }
    });
    let client = Client::new(&Config::from_service(proxy), ClientOptions::default()).expect("a client");
    let stored = client.create(&map("web")).await.expect("created");
    let (cache, source) = ManualSource::new();
    let (writer, foreign) = (cache.add_handler(|_| {}), Arc::new(AtomicUsize::new(0)));
    let events = Arc::clone(&foreign);
    cache.add_handler_with(HandlerOptions::default().foreign_writes(), move |_| {
        events.fetch_add(1, Relaxed);
    });
    source.replace([stored.clone()], "1");
    source.deliver();
    hides.store(true, Relaxed);
    let (reviewed, writes) = (ReviewedClient::from(client.clone()), cache.write_through(&writer));
    let mut rules = Rules { on_failure: Failure::Fail, renamed: false, seen: Vec::new() };
    let group = [Write::Update { desired: map_of(&stored), stored: Arc::new(stored) }];
    let executor = Executor::new(&reviewed, Some(&writes));
    let executed = executor.execute(&ObjectKey::new(NAMESPACE, "owner"), [&group[..]].into_iter(), &mut rules).await;
    assert!(executed.failures[0].1.is_conflict());
    let applied = client.get::<ConfigMap>(NAMESPACE, "web").await.expect("stored");
    assert!(applied.data.is_some());
    source.apply(applied);
    source.deliver();
    assert_eq!(foreign.load(Relaxed), 0);
}

#[derive(Default)]
struct Seen(Mutex<Vec<String>>);

impl Review<ConfigMap> for Seen {
    fn review(&self, key: &ObjectKey, writes: &[&Write<ConfigMap>]) {
        let writes: Vec<String> = writes.iter().map(|write| shown(write)).collect();
        self.0.lock().expect("no panic").push(format!("{key}: {}", writes.join(", ")));
    }
}

#[tokio::test]
async fn a_review_gets_all_writes_in_order_and_none_is_sent() {
    let cluster = Cluster::start().await;
    let review = Arc::new(Seen::default());
    let client = ReviewedClient::new(cluster.client.clone(), Arc::clone(&review) as Arc<dyn Review<ConfigMap>>);
    let mut rules = Rules { on_failure: Failure::Fail, renamed: false, seen: Vec::new() };
    let groups = [vec![create("a"), create("b")], vec![Write::Delete(cluster.stored("taken").await)]];
    let before = cluster.server.requests().count(&On::writes());
    let executor = Executor::new(&client, None);
    let key = ObjectKey::new(NAMESPACE, "owner");
    let executed = executor.execute(&key, groups.iter().map(Vec::as_slice), &mut rules).await;
    assert!(executed.is_reviewed && executed.writes == 0 && executed.failures.is_empty());
    assert_eq!(*review.0.lock().expect("no panic"), ["default/owner: create a, create b, delete taken"]);
    assert_eq!((cluster.server.requests().count(&On::writes()), rules.seen.len()), (before, 0));
}
