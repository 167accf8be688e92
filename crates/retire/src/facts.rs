//! What was read, and the plan that follows from it.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::{Endpoints, ObjectKey, Pod, Service, not_mirrored};
use kube_endpoints_explain::{Kind, Settings, World};
use kube_endpoints_history::audit::reads::Reads;
use kube_wire::Object as _;

use crate::accounts::Accounts;
use crate::evidence::{Demand, Evidence, Unread};
use crate::parts::Written;
use crate::plan::{API_VERSION, Cluster, Findings, LeftOver, LeftOverBecause, ObjectState, Plan, PlannedObject};
use crate::rbac::Rights;
use crate::readers::readers;
use crate::savings::{Savings, WriteRate};
use crate::verdict::{Judge, Reason, Tally, verdict};
use crate::writers::{Writer, WriterKind, is_managed, is_of_api_server, recent_strangers, writer};

/// Endpoints, with who wrote them.
#[derive(Clone, Debug)]
pub struct FoundEndpoints {
    /// The object.
    pub endpoints: Arc<Endpoints>,
    /// Who wrote it, and its length.
    pub written: Written,
}

/// What was read of a cluster and its audit logs.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Time at which the objects were read.
    pub now: Timestamp,
    /// Cluster that the objects were read from.
    pub cluster: Cluster,
    /// Namespace of the Endpoints, Services and Pods; `None` for all.
    pub namespace: Option<String>,
    /// Endpoints.
    pub endpoints: Vec<FoundEndpoints>,
    /// Services.
    pub services: Vec<Arc<Service>>,
    /// Pods.
    pub pods: Vec<Arc<Pod>>,
    /// Service accounts of the running Pods of all namespaces.
    pub accounts: Accounts,
    /// Rights to read Endpoints; `None` if they could not be read.
    pub rights: Option<Rights>,
    /// Kinds of objects that could not be read. Without Services or Pods, no content can be compared.
    pub unread: Vec<Unread>,
    /// Whether Services and Pods of the namespace are complete.
    pub is_comparable: bool,
    /// Audit log; `None` without one.
    pub reads: Option<Reads>,
    /// Time that the audit log must cover.
    pub asked: SignedDuration,
    /// Number of API servers; `None` if it is unknown.
    pub api_servers: Option<usize>,
    /// Whether the files of the audit log are one log of all API servers.
    pub is_merged_log: bool,
    /// Number of writes of Endpoints; `None` without a history.
    pub writes: Option<WriteRate>,
}

impl Facts {
    /// Returns the plan.
    pub fn plan(&self) -> Plan {
        let demand =
            Demand { time: self.asked, now: self.now, api_servers: self.api_servers, is_merged: self.is_merged_log };
        let evidence = Evidence::of(self.reads.as_ref(), &demand, self.unread.clone());
        let judge = Judge::new(self.reads.as_ref(), &evidence, &self.accounts, self.rights.as_ref());
        let world = self.world();
        let services: HashMap<ObjectKey, &Service> = self.services.iter().map(|it| (it.key(), &**it)).collect();
        let (mut objects, mut left_overs, mut tally) = (Vec::new(), Vec::new(), Tally::default());
        judge.shortfalls.iter().cloned().for_each(|reason| tally.add_general(reason));
        let mut found: Vec<&FoundEndpoints> = self.endpoints.iter().collect();
        found.sort_by_cached_key(|it| it.endpoints.key());
        let managed: Vec<&FoundEndpoints> = found.iter().copied().filter(|it| is_managed(&it.endpoints)).collect();
        for it in &managed {
            let endpoints = &*it.endpoints;
            let service = services.get(&endpoints.key()).copied();
            let left_over = self.left_over(service);
            let state = state(&world, endpoints, left_over);
            let mut reasons = self.content_reasons(it, service, &state);
            reasons.extend(judge.reasons(endpoints));
            tally.add(endpoints, &reasons);
            let (namespace, name) = (endpoints.metadata.namespace.to_string(), endpoints.metadata.name.to_string());
            if let Some(because) = left_over {
                left_overs.push(LeftOver { namespace: namespace.clone(), name: name.clone(), because });
            }
            objects.push(PlannedObject {
                namespace,
                name,
                uid: endpoints.metadata.uid.to_string(),
                resource_version: endpoints.metadata.resource_version.to_string(),
                state,
                verdict: verdict(&reasons),
            });
        }
        let writers = self.writers(&found, &services);
        self.add_general(&writers, managed.is_empty(), &mut tally);
        let watchers = self.reads.is_some().then(|| judge.sightings.watchers());
        Plan {
            api_version: API_VERSION.to_owned(),
            created: self.now,
            cluster: self.cluster.clone(),
            namespace: self.namespace.clone(),
            verdict: tally.verdict(),
            objects,
            findings: Findings {
                evidence,
                readers: readers(self.reads.as_ref(), &self.accounts, self.rights.as_ref()),
                writers,
                left_overs,
                savings: Savings::of(&managed, self.writes, watchers, self.now),
            },
        }
    }

    fn world(&self) -> World {
        let mut world = World::new(Settings::default());
        world.add_services(self.services.iter().cloned());
        world.add_pods(self.pods.iter().cloned());
        world.add_endpoints(self.endpoints.iter().map(|it| it.endpoints.clone()));
        // They do not matter for Endpoints.
        world.set_unknown(Kind::EndpointSlice);
        world.set_unknown(Kind::Node);
        if !self.is_comparable {
            world.set_unknown(Kind::Service);
            world.set_unknown(Kind::Pod);
        }
        world
    }

    /// Returns why a managed object is left over; `None` if it is not, or if that is unknown.
    fn left_over(&self, service: Option<&Service>) -> Option<LeftOverBecause> {
        match service {
            _ if !self.is_comparable => None,
            None => Some(LeftOverBecause::ServiceGone),
            Some(service) if service.selector.is_none() || service.external_name => Some(LeftOverBecause::SelectorGone),
            Some(_) => None,
        }
    }

    /// Returns what the content of a managed object says against its deletion.
    fn content_reasons(&self, found: &FoundEndpoints, service: Option<&Service>, state: &ObjectState) -> Vec<Reason> {
        let endpoints = &*found.endpoints;
        let mut reasons = Vec::new();
        let mut add = |text: &str| reasons.push(Reason::not_safe(text, text));
        if is_of_api_server(endpoints) {
            add("the API server writes it");
        }
        if endpoints.is_leader_lock() {
            add("it is a lock for leader election");
        }
        let has_addresses =
            endpoints.subsets.iter().any(|it| !it.addresses.is_empty() || !it.not_ready_addresses.is_empty());
        if has_addresses && not_mirrored(endpoints, service).is_none() {
            add("its Service has no selector, and the EndpointSlices that mirror it serve the Service");
        }
        let strangers = recent_strangers(found, self.asked, self.now);
        if !strangers.is_empty() {
            let names = strangers.join(", ");
            let text = format!("field managers other than the controller write it: {names}");
            add(&text);
        }
        if endpoints.metadata.deletion_timestamp.is_some() {
            reasons.push(Reason::unknown("it is being deleted", "a plan after its deletion"));
        } else if !self.is_comparable {
            let because = "its content could not be compared with what the controller would write";
            reasons.push(Reason::unknown(because, "the right to list Services and Pods"));
        } else if *state == ObjectState::Differs && reasons.is_empty() {
            let because = "its content differs from what the controller would write";
            reasons.push(Reason::unknown(because, "a plan after the controller has written it"));
        }
        reasons
    }

    fn writers(&self, found: &[&FoundEndpoints], services: &HashMap<ObjectKey, &Service>) -> Vec<Writer> {
        let service = |it: &FoundEndpoints| {
            if self.is_comparable { Ok(services.get(&it.endpoints.key()).copied()) } else { Err(()) }
        };
        found.iter().filter_map(|it| writer(it, service(it), self.asked, self.now)).collect()
    }

    /// Adds what is about no managed object.
    fn add_general(&self, writers: &[Writer], is_empty: bool, tally: &mut Tally) {
        if is_empty && !self.is_comparable {
            let because = "Services or Pods could not be read";
            tally.add_general(Reason::unknown(because, "the right to list Services and Pods"));
        }
        let unlabelled: Vec<&Writer> = writers.iter().filter(|it| it.kind == WriterKind::Unlabelled).collect();
        if let Some(first) = unlabelled.first() {
            let because = format!(
                "Endpoints of Services with a selector lack the label of the endpoints controller: {}, such as {}/{}",
                unlabelled.len(),
                first.namespace,
                first.name
            );
            tally.add_general(Reason::unknown(
                because,
                "an endpoints controller that sets the label, as new versions do",
            ));
        }
        if let Some(unread) = self.unread.iter().find(|it| it.kind == "endpoints") {
            tally.add_general(Reason::unknown(
                format!("Endpoints could not be read: {}", unread.because),
                "the right to list Endpoints",
            ));
        }
    }
}

fn state(world: &World, endpoints: &Endpoints, left_over: Option<LeftOverBecause>) -> ObjectState {
    use kube_endpoints_explain::ObjectState as Explained;
    if left_over.is_some() {
        return ObjectState::LeftOver;
    }
    match world.endpoints(&endpoints.key()).map(|report| report.written.state) {
        Some(Explained::Current) => ObjectState::Current,
        _ => ObjectState::Differs,
    }
}
