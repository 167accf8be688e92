//! A thousand random schedules of writes and faults against the embedded API server. At the end, the store and the
//! state that each handler has rebuilt from its events are equal to the state of the server.
//!
//! A failure shows its seed; `INFORMER_SEED=17 cargo test -p kube-informer --test it any_schedule` runs one schedule. The
//! seed determines the writes, the faults and the encoding, but not how the tasks of server and informer interleave.
//!
//! Takes 12 s of one core, so that its name lets it start first.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use k8s_openapi::{
    api::core::v1::{ConfigMap, Namespace},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube_controller_client::{Client, Config, ListParams};
use kube_dev_apiserver::{End, Fault, History, On, Server};
use kube_endpoints_testing::LIMIT;
use kube_informer::{BackoffPolicy, Informer};
use kube_wire::{Decode as _, Encoding, decode_list};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use tokio::{task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    replay::Replay,
    server::{client_of, client_with_encoding},
    thing::Thing,
};

const SCHEDULES: u64 = 1000;
/// Number of concurrent schedules. They mostly wait: the client retries a read after a connection error only after 1 s,
/// as client-go does.
const CONCURRENCY: usize = 200;
/// Number of servers that share the schedules. A restart affects all schedules in progress on that server.
const SERVERS: u64 = 10;
/// Number of object names of a schedule; few, so that each object is created, changed and deleted often.
const NAMES: u32 = 5;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_schedules_end_in_the_state_of_the_server() {
    let seeds = match std::env::var("INFORMER_SEED") {
        Ok(seed) => {
            let seed = seed.parse().expect("INFORMER_SEED is a number");
            seed..seed + 1
        }
        Err(_) => 0..SCHEDULES,
    };
    let mut servers = Vec::new();
    for seed in 0..SERVERS {
        let config = kube_dev_apiserver::Config { seed: Some(seed), request_log: 0, ..Default::default() };
        let server = Arc::new(Server::start(config).await.expect("the server starts"));
        // Creating a client costs more than a schedule, so the schedules of a server share two. Faults break single
        // connections.
        let encoding = if seed % 2 == 0 { Encoding::Protobuf } else { Encoding::Json };
        let config = Config::from_url(&server.url()).expect("a valid URL");
        servers.push((server, client_of(&config), client_with_encoding(encoding, &config)));
    }
    let mut running = JoinSet::new();
    for seed in seeds {
        while running.len() >= CONCURRENCY {
            running.join_next().await.expect("not empty").expect("a schedule passes");
        }
        let at = usize::try_from(seed % SERVERS).expect("small");
        let (server, writer, reader) = servers[at].clone();
        running.spawn(async move {
            let mut task = JoinSet::new();
            task.spawn(Schedule::new(seed, server, writer, reader).run());
            if let Some(Err(error)) = task.join_next().await {
                panic!("INFORMER_SEED={seed}: {error}");
            }
        });
    }
    running.join_all().await;
}

struct Schedule {
    random: StdRng,
    server: Arc<Server>,
    writer: Client,
    informer: Informer<Thing>,
    namespace: String,
    faults: Vec<u64>,
    handlers: Vec<Replay>,
}

impl Schedule {
    fn new(seed: u64, server: Arc<Server>, writer: Client, reader: Client) -> Self {
        let namespace = format!("schedule-{seed}");
        let millis = Duration::from_millis;
        let backoff = BackoffPolicy { initial: millis(1), max: millis(20), reset_after: millis(100) };
        let informer = Informer::builder(reader).namespace(&namespace).backoff(backoff).build();
        let random = StdRng::seed_from_u64(seed);
        Self { random, server, writer, informer, namespace, faults: Vec::new(), handlers: Vec::new() }
    }

    async fn run(mut self) {
        self.create_namespace().await;
        for _ in 0..self.random.random_range(0..4) {
            self.write().await;
        }
        for _ in 0..self.random.random_range(1..3) {
            self.add_handler();
        }
        if self.random.random_bool(0.5) {
            self.inject();
        }
        let stop = CancellationToken::new();
        let mut informer = JoinSet::new();
        informer.spawn(self.informer.run(stop.clone()));
        for _ in 0..self.random.random_range(6..16) {
            match self.random.random_range(0..100) {
                0..70 => self.write().await,
                70..86 => self.inject(),
                86..93 => drop(self.server.faults().cut_watches(&On::any().namespace(&self.namespace))),
                93..97 => self.add_handler(),
                97..99 => self.server.restart(History::Lost),
                _ => self.server.restart(History::Kept),
            }
        }
        for fault in self.faults.drain(..) {
            self.server.faults().remove(fault);
        }
        tokio::select! {
            () = self.wait_for_agreement() => {}
            ended = informer.join_next() => panic!("the informer ended: {ended:?}"),
        }
        stop.cancel();
        informer.join_all().await;
    }

    /// Injects one random fault into the requests of this informer.
    fn inject(&mut self) {
        let random = &mut self.random;
        let on = On::any().namespace(&self.namespace);
        let millis = Duration::from_millis;
        let end = [End::Cleanly, End::Expired, End::Reset][random.random_range(0..3)];
        let fault = match random.random_range(0..12) {
            0 => Fault::expired(),
            1 => Fault::too_many_requests(Duration::ZERO),
            2 => Fault::internal_error(),
            3 => Fault::unavailable(),
            4 => Fault::reset(),
            5 => Fault::delay_request(millis(0), millis(5)),
            6 => Fault::delay_events(millis(0), millis(5)),
            7 | 8 => Fault::trickle(random.random_range(1..100), Duration::ZERO),
            9 => Fault::repeat_events(),
            _ => Fault::end_watch(millis(random.random_range(0..20)), end),
        };
        let on = match random.random_range(0..3) {
            0 => on.verb("list"),
            1 => on.verb("watch"),
            _ => on.verb("list").verb("watch"),
        };
        let fault = match random.random_range(0..3) {
            0 => fault.times(random.random_range(1..4)),
            1 => fault.probability(0.5),
            _ => fault,
        };
        self.faults.push(self.server.faults().inject(fault.on(on)));
    }

    /// Sends one random write. Its error is ignored: after a restart, the write may have happened or not.
    async fn write(&mut self) {
        let name = format!("thing-{}", self.random.random_range(0..NAMES));
        let data = Some(BTreeMap::from([("group".to_owned(), self.random.random_range(0..100).to_string())]));
        let metadata = metadata(Some(&self.namespace), &name);
        let object = ConfigMap { metadata, data, ..ConfigMap::default() };
        let _ = match self.random.random_range(0..3) {
            0 => self.writer.create(&object).await.map(drop),
            1 => self.writer.update(&object).await.map(drop),
            _ => self.writer.delete::<ConfigMap>(&self.namespace, &name, None).await.map(drop),
        };
    }

    async fn create_namespace(&self) {
        let namespace = Namespace { metadata: metadata(None, &self.namespace), ..Namespace::default() };
        while let Err(error) = self.writer.create(&namespace).await {
            if error.is_already_exists() {
                return;
            }
        }
    }

    fn add_handler(&mut self) {
        self.handlers.push(Replay::of(&self.informer));
    }

    /// Waits until the store and the handlers have the state of the server.
    async fn wait_for_agreement(&self) {
        // With this object, the final state is one that no handler has had before.
        let last = ConfigMap { metadata: metadata(Some(&self.namespace), "last"), ..ConfigMap::default() };
        while self.writer.create(&last).await.is_err_and(|error| !error.is_already_exists()) {}
        let expect = loop {
            let list = self.writer.list(&Thing::RESOURCE, Some(&self.namespace), &ListParams::default()).await;
            // Another schedule may have restarted the server.
            let Ok(body) = list else { continue };
            break decode_list::<Thing>(&body).expect("decodes").items;
        };
        let lister = self.informer.lister();
        for handler in &self.handlers {
            let mut changed = handler.changed.clone();
            let same = timeout(LIMIT, changed.wait_for(|()| handler.things() == expect)).await;
            assert!(matches!(same, Ok(Ok(_))), "a handler has {:?}, the server has {expect:?}", handler.things());
            let stored: Vec<_> = lister.list().iter().map(|it| (**it).clone()).collect();
            assert_eq!(stored, expect, "the store");
        }
    }
}

fn metadata(namespace: Option<&str>, name: &str) -> ObjectMeta {
    let (namespace, name) = (namespace.map(str::to_owned), Some(name.to_owned()));
    ObjectMeta { namespace, name, ..ObjectMeta::default() }
}
