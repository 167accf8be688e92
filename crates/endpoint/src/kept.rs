//! Stored addresses that stay although the Pods behind them are not in the cache.

use kube_endpoint_model::{EndpointAddress, EndpointSubset, Endpoints, TargetRef};

/// Returns the addresses for whose targets `is_kept` returns `true`, with their ports.
pub(crate) fn kept_subsets(current: &Endpoints, is_kept: impl Fn(&TargetRef) -> bool) -> Vec<EndpointSubset> {
    let kept = |addresses: &[EndpointAddress]| -> Vec<EndpointAddress> {
        addresses.iter().filter(|it| it.target_ref.as_ref().is_some_and(&is_kept)).cloned().collect()
    };
    let subsets = current.subsets.iter().map(|subset| EndpointSubset {
        addresses: kept(&subset.addresses),
        not_ready_addresses: kept(&subset.not_ready_addresses),
        ports: subset.ports.clone(),
    });
    subsets.filter(|it| !it.addresses.is_empty() || !it.not_ready_addresses.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Arc;

    use kube_endpoint_model::{
        Cluster, IpFamily, Labels, ObjectKey, Pod, Service, ServicePort, ServiceState, TargetPort, TriggerTime, Write,
    };
    use rstest::rstest;

    use super::*;
    use crate::desired::{desired_subsets, planned_write, write_to};
    use crate::legacy::Legacy;
    use crate::plan::plan;

    fn service(port: i32) -> Service {
        let port = ServicePort {
            name: "http".into(),
            protocol: "TCP".into(),
            target: TargetPort::Number(port),
            app_protocol: None,
        };
        Service { namespace: "ns".into(), name: "web".into(), ports: vec![port], ..Service::default() }
    }

    fn pod(number: usize, ready: bool) -> Arc<Pod> {
        Arc::new(Pod {
            namespace: "ns".into(),
            name: format!("p{number}").into(),
            uid: format!("u{number}").into(),
            pod_ips: [format!("10.0.0.{number}").as_str()].into(),
            pod_ip_family: Some(IpFamily::V4),
            ready,
            ..Pod::default()
        })
    }

    fn written(write: Option<Write<Endpoints>>) -> Endpoints {
        write.and_then(|write| write.after().cloned()).expect("a write")
    }

    fn shown(endpoints: &Endpoints) -> Vec<String> {
        let addresses = |it: &[EndpointAddress]| it.iter().map(|it| it.ip.to_string()).collect::<Vec<_>>().join(",");
        let subsets = endpoints.subsets.iter();
        let shown = subsets.map(|it| {
            format!("{}|{}|{}", addresses(&it.addresses), addresses(&it.not_ready_addresses), it.ports[0].port)
        });
        shown.collect()
    }

    /// The cache has lost the Pods 1 to 4, of which 1 and 2 may exist, and has a new Pod; the Service has a new port.
    #[test]
    fn kept_addresses_stay_with_their_ports_and_everything_else_goes_on() {
        let before = [pod(1, true), pod(2, false), pod(3, true), pod(4, false), pod(5, true)];
        let current = Arc::new(written(planned_write(&service(80), &before, None, None, Legacy::default())));
        assert_eq!(shown(&current), ["10.0.0.1,10.0.0.3,10.0.0.5|10.0.0.2,10.0.0.4|80"]);
        let kept = kept_subsets(&current, |target| ["p1", "p2"].contains(&&**target.name()));
        let now = [pod(5, false), pod(6, true)];
        let plan = |kept| {
            let subsets = desired_subsets(kept, &service(81), &now, Legacy::default(), |_, _| {});
            write_to(&service(81), subsets, Some(&current), TriggerTime::Leave)
        };
        let mut after = shown(&written(plan(kept)));
        after.sort();
        assert_eq!(after, ["10.0.0.1|10.0.0.2|80", "10.0.0.6|10.0.0.5|81"]);
        assert_eq!(shown(&written(plan(Vec::new()))), ["10.0.0.6|10.0.0.5|81"]);
    }

    /// A cache that lacks Pod 1, until the right list arrives with the read of the Pods: right before it or after it.
    struct LateList {
        current: Arc<Endpoints>,
        read: Vec<Arc<Pod>>,
        is_corrected: Cell<bool>,
    }

    impl Cluster for LateList {
        fn service(&self, _: &ObjectKey) -> Option<Arc<Service>> {
            Some(Arc::new(Service { selector: Some(Labels::default()), ..service(80) }))
        }

        fn pods(&self, _: &str, _: &Labels) -> Vec<Arc<Pod>> {
            self.is_corrected.set(true);
            self.read.clone()
        }

        fn endpoints(&self, _: &ObjectKey) -> Option<Arc<Endpoints>> {
            Some(Arc::clone(&self.current))
        }

        fn withholds_any(&self) -> bool {
            !self.is_corrected.get()
        }

        fn withholds_pod(&self, pod: &ObjectKey) -> bool {
            !self.is_corrected.get() && *pod.name == *"p1"
        }
    }

    #[rstest]
    #[case::stored_after_the_read(&[pod(2, false)], "10.0.0.1|10.0.0.2|80")]
    #[case::stored_before_the_read(&[pod(1, false), pod(2, true)], "10.0.0.2|10.0.0.1|80")]
    fn an_address_whose_pod_is_stored_during_the_plan_stays(#[case] read: &[Arc<Pod>], #[case] expected: &str) {
        let before = [pod(1, true), pod(2, true)];
        let current = Arc::new(written(planned_write(&service(80), &before, None, None, Legacy::default())));
        let cluster = LateList { current, read: read.to_vec(), is_corrected: Cell::new(false) };
        let (key, mut state) = (ObjectKey::new("ns", "web"), ServiceState::default());
        let plan = plan(&cluster, &key, &mut state, Legacy::default(), |_| false, |_, _| {});
        assert_eq!(shown(&written(plan.write)), [expected]);
    }
}
