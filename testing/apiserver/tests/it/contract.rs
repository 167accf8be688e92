//! Watch contract over sockets: list-watch clients converge to the state of the server under injected faults.

use std::collections::BTreeMap;
use std::time::Duration;

use http::Method;
use kube_dev_apiserver::{Config, End, Fault, History, On};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use rstest::rstest;
use serde_json::{Value, json};

use super::client::{CONFIG_MAPS, Events, TestApi};

/// Versions by object name.
type State = BTreeMap<String, u64>;

const WRITES: u32 = 150;
const NAMES: u32 = 8;

fn version(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}

async fn list(api: &TestApi, selector: &str) -> Option<(State, u64)> {
    let path = format!("{CONFIG_MAPS}?labelSelector={selector}");
    let response = api.try_send(Method::GET, &path, "", String::new()).await.ok()?;
    let ok = response.status().is_success();
    let body = http_body_util::BodyExt::collect(response.into_body()).await.ok()?.to_bytes();
    let list: Value = serde_json::from_slice(&body).unwrap();
    let items = list["items"].as_array().filter(|_| ok)?;
    let state = items.iter().map(|it| (it["metadata"]["name"].as_str().unwrap().to_owned(), version(it))).collect();
    Some((state, version(&list)))
}

/// Minimal reflector: lists, watches from the version of the list, and lists again after 410.
struct Reflector<'a> {
    api: &'a TestApi,
    selector: &'static str,
    state: State,
    /// Version of the last event or list; `None` if a list is needed.
    version: Option<u64>,
}

impl Reflector<'_> {
    /// Lists and watches until the state has reached version `until`.
    async fn follow(&mut self, until: u64) {
        while self.version.is_none_or(|version| version < until) {
            let Some(from) = self.version else {
                if let Some((state, version)) = list(self.api, self.selector).await {
                    (self.state, self.version) = (state, Some(version));
                }
                continue;
            };
            let path = format!(
                "{CONFIG_MAPS}?watch=true&allowWatchBookmarks=true&resourceVersion={from}&labelSelector={}",
                self.selector
            );
            let Ok(response) = self.api.try_send(Method::GET, &path, "", String::new()).await else { continue };
            if response.status().is_success() {
                self.read(Events::of(response), until).await;
            } else if response.status() == 410 {
                self.version = None;
            }
        }
    }

    async fn read(&mut self, mut events: Events, until: u64) {
        while self.version.is_some_and(|version| version < until) {
            let Ok(Some(event)) = events.try_next().await else { return };
            let object = &event["object"];
            if event["type"] == "ERROR" {
                assert_eq!(object["code"], 410, "{event}");
                self.version = None;
                return;
            }
            let found = version(object);
            assert!(Some(found) >= self.version, "version decreased: {event}");
            if event["type"] != "BOOKMARK" {
                assert!(Some(found) > self.version, "version repeated: {event}");
                let name = object["metadata"]["name"].as_str().unwrap().to_owned();
                let exists = self.state.contains_key(&name);
                match event["type"].as_str() {
                    Some("ADDED") => assert!(!exists, "{event}"),
                    _ => assert!(exists, "{event}"),
                }
                if event["type"] == "DELETED" {
                    self.state.remove(&name);
                } else {
                    self.state.insert(name, found);
                }
            }
            self.version = Some(found);
        }
    }
}

/// Sends random writes, ignoring errors, and returns the version of a last write sent without faults.
async fn write(api: &TestApi, rng: &mut StdRng, restarts: bool) -> u64 {
    for round in 0..WRITES {
        let path = format!("{CONFIG_MAPS}/c{}", rng.random_range(0..NAMES));
        let name = &path[CONFIG_MAPS.len() + 1..];
        let app = if rng.random_bool(0.5) { "web" } else { "db" };
        let object = json!({"metadata": {"name": name, "labels": {"app": app}}, "data": {"n": round.to_string()}});
        let (method, path, body) = match rng.random_range(0..4) {
            0 => (Method::DELETE, path.as_str(), String::new()),
            1 => (Method::POST, CONFIG_MAPS, object.to_string()),
            _ => (Method::PUT, path.as_str(), object.to_string()),
        };
        // Faults may fail the request or drop its response.
        let _ = api.try_send(method, path, "application/json", body).await;
        if restarts && round % 50 == 25 {
            api.server.restart(if round > 100 { History::Kept } else { History::Lost });
        }
    }
    api.server.faults().clear();
    // A last write without faults gives every watcher an event to wait for.
    let last = json!({"metadata": {"generateName": "last-", "labels": {"app": "web"}}});
    version(&api.create(CONFIG_MAPS, last).await)
}

fn faults() -> Vec<Fault> {
    let ms = Duration::from_millis;
    let watches = || On::any().verb("watch");
    vec![
        Fault::trickle(300, Duration::ZERO).on(watches()).probability(0.5),
        Fault::delay_events(ms(0), ms(5)).on(watches()).probability(0.5),
        Fault::end_watch(ms(30), End::Cleanly).on(watches()).probability(0.3),
        Fault::end_watch(ms(20), End::Expired).on(watches()).probability(0.2),
        Fault::end_watch(ms(10), End::Reset).on(watches()).probability(0.2),
        Fault::expired().on(watches()).probability(0.1),
        Fault::unavailable().on(On::any().verb("list")).probability(0.2),
        Fault::reset().on(On::any().verb("list")).probability(0.1),
        Fault::apply_then_timeout().on(On::writes()).probability(0.1),
        Fault::apply_then_reset().on(On::writes()).probability(0.05),
        Fault::internal_error().on(On::writes()).probability(0.05),
    ]
}

#[rstest]
#[case::calm(1, 10_000, false)]
#[case::short_memory(2, 10, false)]
#[case::faults(3, 10_000, true)]
#[case::faults_and_short_memory(4, 20, true)]
#[case::more_faults(5, 50, true)]
#[tokio::test]
async fn reflectors_converge_despite_faults(#[case] seed: u64, #[case] watch_history: usize, #[case] broken: bool) {
    let api = TestApi::start(Config { seed: Some(seed), watch_history, ..Config::default() }).await;
    let mut rng = StdRng::seed_from_u64(seed);
    if broken {
        for fault in faults() {
            api.server.faults().inject(fault);
        }
    }
    // Watchers run concurrently with the writer, and stop when they have received the last write.
    let last = tokio::sync::watch::Sender::new(0);
    let follow = |selector| {
        let mut ended = last.subscribe();
        let api = &api;
        async move {
            let mut reflector = Reflector { api, selector, state: State::new(), version: None };
            loop {
                let until = *ended.borrow_and_update();
                tokio::select! {
                    () = reflector.follow(if until == 0 { u64::MAX } else { until }), if until != 0 || reflector.version.is_none() => {}
                    changed = ended.changed() => { changed.unwrap(); continue; }
                }
                if until != 0 {
                    return reflector;
                }
            }
        }
    };
    let write = async {
        let version = write(&api, &mut rng, broken).await;
        last.send_replace(version);
    };
    let (all, web, ()) = tokio::join!(follow(""), follow("app%3Dweb"), write);
    assert_eq!(all.state, list(&api, "").await.unwrap().0);
    assert_eq!(web.state, list(&api, "app%3Dweb").await.unwrap().0);
}
