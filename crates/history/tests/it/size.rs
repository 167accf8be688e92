//! The size of a day in a busy cluster.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::{
    Endpoint, EndpointAddress, EndpointConditions, EndpointPort, EndpointSlice, EndpointSubset, Endpoints, Labels,
    ObjectMeta, Pod, Service, TargetRef, Text, Uid, well_known,
};
use kube_endpoints_history::{Author, Encoder, Kind, Select};

/// Numbers that look random, and are the same in each run (`SplitMix64`).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
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
struct App {
    pods: Vec<Pod>,
    slice: EndpointSlice,
    endpoints: Endpoints,
}

impl App {
    fn new(at: usize, pods: usize, numbers: &mut Numbers) -> App {
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

fn start() -> Timestamp {
    "2026-11-27T14:00:00Z".parse().expect("a time")
}

#[test]
fn a_day_of_160_flips_a_second_takes_at_most_500_mebibytes() {
    const FLIPS: u64 = 160;
    const SECONDS: u64 = 30;
    let mut numbers = Numbers(1);
    let mut apps: Vec<App> = (0..1_000).map(|at| App::new(at, 20, &mut numbers)).collect();
    let mut encoder = Encoder::new("test", []).expect("memory");
    for app in &apps {
        encoder.put(start(), None, Arc::new(app.service()));
        encoder.put(start(), None, Arc::new(app.slice.clone()));
        encoder.put(start(), None, Arc::new(app.endpoints.clone()));
        app.pods.iter().for_each(|pod| encoder.put(start(), None, Arc::new(pod.clone())));
    }
    let mut file = Vec::new();
    encoder.begin_segment(start(), &mut file).expect("memory");
    let state = file.len();
    let author = |manager: &str, now: Timestamp| {
        let time = Timestamp::from_second(now.as_second()).ok();
        Author { manager: manager.into(), user: Text::new(), time }
    };
    let (mut now, mut version) = (start(), 1_u64 << 30);
    for _ in 0..SECONDS {
        for _ in 0..FLIPS {
            now +=
                SignedDuration::from_micros(1_000_000 / FLIPS.cast_signed() - 40 + (numbers.next() % 80).cast_signed());
            let app = &mut apps[(numbers.next() % 1_000) as usize];
            let pod = &mut app.pods[(numbers.next() % 20) as usize];
            pod.ready = !pod.ready;
            let (kubelet, controller) = (author("kubelet", now), author("kube-controller-manager", now));
            pod.ready_changed = kubelet.time.map(Into::into);
            version += numbers.next() % 9 + 1;
            pod.resource_version = version.into();
            encoder.put(now, Some(&kubelet), Arc::new(pod.clone()));
            app.publish(now);
            for meta in [&mut app.slice.metadata, &mut app.endpoints.metadata] {
                version += numbers.next() % 9 + 1;
                meta.resource_version = version.into();
            }
            encoder.put(now, Some(&controller), Arc::new(app.slice.clone()));
            encoder.put(now, Some(&controller), Arc::new(app.endpoints.clone()));
        }
        encoder.flush(&mut file).expect("memory");
    }
    let changes = file.len() - state;
    let mut ended = Vec::new();
    encoder.end_segment(&mut ended).expect("memory");
    // One segment an hour, with the state at its beginning.
    let per_flip = changes + ended.len();
    let day = 24 * state as u64 + per_flip as u64 * 86_400 / SECONDS;
    assert!(day <= 500 << 20, "{} MiB", day >> 20);

    let mut archive = kube_endpoints_history::Archive::from_buffers([[file, ended].concat()]).expect("a history");
    let replay = archive.replay(Select::All, Timestamp::MAX).expect("a state");
    let count: BTreeMap<Kind, usize> = replay.objects().fold(BTreeMap::new(), |mut count, object| {
        *count.entry(object.kind()).or_default() += 1;
        count
    });
    assert_eq!(count.into_values().collect::<Vec<_>>(), [1_000, 20_000, 1_000, 1_000]);
}
