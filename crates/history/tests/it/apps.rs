//! Services of a busy cluster, with what belongs to them.

use std::sync::Arc;

use jiff::Timestamp;
use kube_endpoint_model::{
    Endpoint, EndpointAddress, EndpointConditions, EndpointPort, EndpointSlice, EndpointSubset, Endpoints, Labels,
    ObjectMeta, Pod, Service, TargetRef, Text, Uid, well_known,
};
use kube_endpoints_history::Recorded;

/// Numbers that look random, and are the same in each run (`SplitMix64`).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn suffix(&mut self, length: usize) -> String {
        (0..length).map(|_| char::from(b"bcdfghjklmnpqrstvwxz2456789"[(self.next() % 27) as usize])).collect()
    }

    fn uid(&mut self) -> Uid {
        let (high, low) = (self.next(), self.next());
        let text = format!(
            "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xfff,
            low >> 48 & 0xfff,
            low & 0xffff_ffff_ffff
        );
        Uid::from(text)
    }
}

/// A Service with its Pods, its slice and its Endpoints.
pub(crate) struct App {
    pods: Vec<Pod>,
    slice: EndpointSlice,
    endpoints: Endpoints,
}

impl App {
    pub(crate) fn new(at: usize, pods: usize, numbers: &mut Numbers) -> App {
        let name = format!("app-{at}");
        let (namespace, set): (Text, String) = (format!("team-{}", at % 40).as_str().into(), numbers.suffix(9));
        let labels: Labels = [("app", name.as_str()), ("pod-template-hash", set.as_str())].into_iter().collect();
        let meta = |labels: Labels, name: String, numbers: &mut Numbers| ObjectMeta {
            namespace: namespace.clone(),
            name: name.as_str().into(),
            uid: numbers.uid(),
            labels,
            resource_version: numbers.next().into(),
            ..ObjectMeta::default()
        };
        let pod = |number: usize, numbers: &mut Numbers| Pod {
            namespace: namespace.clone(),
            name: format!("{name}-{set}-{}", numbers.suffix(5)).as_str().into(),
            uid: numbers.uid(),
            labels: labels.clone(),
            node_name: format!("node-{}", numbers.next() % 200).as_str().into(),
            pod_ips: [format!("10.{}.{}.{number}", at / 250, at % 250).as_str()].into(),
            ready: true,
            ready_changed: Some(start().into()),
            ..Pod::default()
        };
        let pods: Vec<Pod> = (0..pods).map(|number| pod(number, numbers)).collect();
        let slice_labels = [
            (well_known::SERVICE_NAME_LABEL, name.as_str()),
            (well_known::SLICE_MANAGED_BY_LABEL, "endpointslice-controller.k8s.io"),
        ];
        let slice = EndpointSlice {
            metadata: meta(slice_labels.into_iter().collect(), format!("{name}-{}", numbers.suffix(5)), numbers),
            address_type: "IPv4".into(),
            endpoints: Vec::new(),
            ports: vec![EndpointPort { port: Some(8080), ..EndpointPort::default() }],
        };
        let endpoints = Endpoints { metadata: meta(Labels::default(), name, numbers), subsets: Vec::new() };
        let mut app = App { pods, slice, endpoints };
        app.publish(start());
        app
    }

    fn service(&self) -> Service {
        let ObjectMeta { namespace, name, .. } = &self.endpoints.metadata;
        let selector = Some([("app", name.as_str())].into_iter().collect());
        Service { namespace: namespace.clone(), name: name.clone(), selector, ..Service::default() }
    }

    /// Returns all objects.
    pub(crate) fn objects(&self) -> Vec<Recorded> {
        let pods = self.pods.iter().map(|pod| Arc::new(pod.clone()).into());
        let others = [
            Arc::new(self.service()).into(),
            Arc::new(self.slice.clone()).into(),
            Arc::new(self.endpoints.clone()).into(),
        ];
        others.into_iter().chain(pods).collect()
    }

    /// Changes the readiness of a Pod. Returns it, and the slice and the Endpoints that are written then.
    pub(crate) fn flip(&mut self, now: Timestamp, version: &mut u64, numbers: &mut Numbers) -> [Recorded; 3] {
        let count = self.pods.len() as u64;
        let pod = &mut self.pods[(numbers.next() % count) as usize];
        pod.ready = !pod.ready;
        pod.ready_changed = Timestamp::from_second(now.as_second()).ok().map(Into::into);
        let mut next_version = || {
            *version += numbers.next() % 9 + 1;
            *version
        };
        pod.resource_version = next_version().into();
        let pod = Arc::new(pod.clone()).into();
        self.publish(now);
        for meta in [&mut self.slice.metadata, &mut self.endpoints.metadata] {
            meta.resource_version = next_version().into();
        }
        [pod, Arc::new(self.slice.clone()).into(), Arc::new(self.endpoints.clone()).into()]
    }

    /// Writes the slice and the Endpoints, as the controllers do.
    fn publish(&mut self, now: Timestamp) {
        let target = |pod: &Pod| Some(TargetRef::pod(pod.namespace.clone(), pod.name.clone(), pod.uid.clone()));
        let endpoint = |pod: &Pod| Endpoint {
            addresses: pod.pod_ips.clone(),
            conditions: EndpointConditions {
                ready: Some(pod.ready),
                serving: Some(pod.ready),
                terminating: Some(false),
            },
            node_name: Some(pod.node_name.clone()),
            target_ref: target(pod),
            ..Endpoint::default()
        };
        self.slice.endpoints = self.pods.iter().map(endpoint).collect();
        let address = |pod: &Pod| EndpointAddress {
            ip: pod.pod_ips[0].clone(),
            node_name: Some(pod.node_name.clone()),
            target_ref: target(pod),
            ..EndpointAddress::default()
        };
        let (ready, not_ready): (Vec<&Pod>, Vec<&Pod>) = self.pods.iter().partition(|pod| pod.ready);
        self.endpoints.subsets = vec![EndpointSubset {
            addresses: ready.into_iter().map(address).collect(),
            not_ready_addresses: not_ready.into_iter().map(address).collect(),
            ports: Vec::new(),
        }];
        let trigger = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        for meta in [&mut self.slice.metadata, &mut self.endpoints.metadata] {
            meta.annotations =
                [("endpoints.kubernetes.io/last-change-trigger-time", trigger.as_str())].into_iter().collect();
            meta.generation += 1;
        }
    }
}

pub(crate) fn start() -> Timestamp {
    "2026-11-27T14:00:00Z".parse().expect("a time")
}
