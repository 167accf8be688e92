//! Generator of random histories. Its model of the cluster makes most requests valid.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};

use crate::endpoints::marks::former_zone;
use crate::endpoints::object::ZONE;
use crate::endpoints::requests::{create, node, patch, step};
use crate::{Operation, Step};

const NAMESPACES: [&str; 2] = ["default", "shop"];
const ZONES: [Option<&str>; 3] = [Some("zone-a"), Some("zone-b"), None];
/// Values of the label `app`.
pub(super) const APPS: [&str; 3] = ["a", "b", "c"];

/// State of one Pod name in the model.
#[derive(Debug, Default)]
pub(super) struct Pod {
    pub(super) exists: bool,
    pub(super) terminating: bool,
    /// Whether the Pod has a finalizer.
    pub(super) held: bool,
}

/// State of one Service name in the model.
#[derive(Debug, Default)]
pub(super) struct Service {
    pub(super) exists: bool,
    pub(super) has_selector: bool,
    pub(super) is_external: bool,
}

/// Generator of a random history.
pub(super) struct Author {
    rng: StdRng,
    pub(super) steps: Vec<Step>,
    namespaces: usize,
    pub(super) pods: Vec<Pod>,
    pub(super) services: Vec<Service>,
    /// Whether the user has created Endpoints, by number of the Service.
    pub(super) custom: Vec<bool>,
    /// The zones that each Node has had; `None` for a Node that does not exist.
    nodes: Vec<Option<Vec<Option<&'static str>>>>,
    /// Last number returned by [`Author::next`].
    count: usize,
}

impl Author {
    /// Creates a generator whose first steps create the namespace `shop`, if it is used, and most of the Nodes.
    pub(super) fn new(seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let namespaces = if rng.random_bool(0.3) { 2 } else { 1 };
        let (pods, services, nodes) = (rng.random_range(2..=8), rng.random_range(1..=4), rng.random_range(1..=3));
        let mut author = Self {
            rng,
            steps: Vec::new(),
            namespaces,
            pods: (0..pods).map(|_| Pod::default()).collect(),
            services: (0..services).map(|_| Service::default()).collect(),
            custom: vec![false; services],
            nodes: vec![None; nodes],
            count: 0,
        };
        if namespaces == 2 {
            let object = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACES[1] } });
            author.at_once(create("/api/v1/namespaces", object));
        }
        for number in 0..nodes {
            if author.chance(0.8) {
                let operation = author.new_node(number);
                author.at_once(operation);
            }
        }
        author
    }

    /// Adds a request after a random gap of less than four seconds, which is zero in about half of the cases.
    pub(super) fn then(&mut self, operation: Operation) {
        let after = match self.below(20) {
            0..11 => 0,
            11..14 => self.below(50),
            14..17 => self.below(1_000),
            _ => self.below(4_000),
        };
        self.steps.push(step(Duration::from_millis(after as u64), operation));
    }

    /// Adds a request without a gap.
    pub(super) fn at_once(&mut self, operation: Operation) {
        self.steps.push(step(Duration::ZERO, operation));
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.rng.random_range(0..end)
    }

    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.rng.random_bool(probability)
    }

    pub(super) fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list.choose(&mut self.rng).expect("the list is not empty").clone()
    }

    /// Returns a number that no other call returns, for times, addresses and names.
    pub(super) fn next(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    pub(super) fn namespace(&self, number: usize) -> &'static str {
        NAMESPACES[number % self.namespaces]
    }

    /// Returns random labels for a Pod.
    pub(super) fn labels(&mut self) -> Value {
        let mut labels = json!({ "app": self.pick(&APPS) });
        if self.chance(0.3) {
            labels["tier"] = "front".into();
        }
        labels
    }

    /// Returns the name of a Node, which may be created later than the Pod. All Pods have one, since Pods without a
    /// Node get no addresses.
    pub(super) fn node_name(&mut self) -> String {
        node_name(self.below(self.nodes.len()))
    }

    /// Adds the creation of a Node, or a change of its zone.
    pub(super) fn node(&mut self) {
        let number = self.below(self.nodes.len());
        if self.nodes[number].is_none() {
            let operation = self.new_node(number);
            self.then(operation);
            return;
        }
        let zone = self.pick(&ZONES);
        let zones = self.nodes[number].get_or_insert_default();
        zones.push(zone);
        let former = marks(zones);
        self.then(patch(
            format!("/api/v1/nodes/{}", node_name(number)),
            json!({ "metadata": { "labels": { ZONE: zone }, "annotations": former } }),
        ));
    }

    fn new_node(&mut self, number: usize) -> Operation {
        let zone = self.pick(&ZONES[..2]);
        let zones = vec![zone];
        let mut object = node(&node_name(number), zone);
        object["metadata"]["annotations"] = marks(&zones);
        self.nodes[number] = Some(zones);
        create("/api/v1/nodes", object)
    }
}

fn node_name(number: usize) -> String {
    format!("node-{number}")
}

/// Returns the annotations for the zones that a Node has had.
fn marks(zones: &[Option<&str>]) -> Value {
    zones.iter().map(|zone| (former_zone(*zone), Value::from(""))).collect()
}
