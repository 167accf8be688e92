//! Readiness changes ("flips") of Pods.

use std::{collections::HashMap, num::NonZeroU32, time::Duration};

use anyhow::ensure;
use http::Method;
use jiff::{Timestamp, Unit};
use kube_controller_client::Client;
use kube_dev_apiserver::Population;
use rand::{SeedableRng as _, rngs::StdRng, seq::SliceRandom as _};
use serde_json::json;
use tokio::{
    sync::oneshot,
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval},
};

/// Media type of the patches.
const PATCH: &str = "application/strategic-merge-patch+json";

/// Change of a Pod's readiness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Flip {
    pub(crate) pod: usize,
    pub(crate) ready: bool,
}

/// Seed of the random selection and order of the Pods that change.
const SEED: u64 = 1;

/// Returns `count` flips. Half of that number of Pods (at most all of them), in random order, become unready, then ready
/// again, and so on.
pub(crate) fn flips(pods: usize, count: usize) -> Vec<Flip> {
    let mut all: Vec<usize> = (0..pods).collect();
    all.shuffle(&mut StdRng::seed_from_u64(SEED));
    all.truncate(count.div_ceil(2));
    let round = |ready: bool| all.iter().map(move |pod| Flip { pod: *pod, ready });
    (0..).flat_map(|at| round(at % 2 == 1)).take(if pods == 0 { 0 } else { count }).collect()
}

/// Returns how many Pods were not observed in the state of their last flip. `observed` are changes of Pods that were ready
/// at first. A flip that is undone before its slice was written needs no write, so only the last state counts; and when
/// each was observed does not, because a busy machine acknowledges flips late.
pub(crate) fn unobserved(flips: &[Flip], observed: impl Iterator<Item = Flip>) -> usize {
    let ready: HashMap<usize, bool> = observed.map(|it| (it.pod, it.ready)).collect();
    let last: HashMap<usize, bool> = flips.iter().map(|it| (it.pod, it.ready)).collect();
    last.iter().filter(|(pod, expect)| ready.get(pod).unwrap_or(&true) != *expect).count()
}

/// Patches the status of Pods, `rate` per second; returns when each patch was acknowledged. Late patches are sent at once, so
/// that the average rate is kept. Patches of one Pod are sent one after the other: at the same time, the server might apply
/// them in the reverse order.
pub(crate) async fn drive(
    client: &Client,
    population: Population,
    flips: &[Flip],
    rate: NonZeroU32,
) -> anyhow::Result<Vec<(Flip, Instant)>> {
    let mut ticks = interval(Duration::from_secs(1) / rate.get());
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut last: HashMap<usize, oneshot::Receiver<()>> = HashMap::new();
    let mut tasks = JoinSet::new();
    for flip in flips.iter().copied() {
        ticks.tick().await;
        let client = client.clone();
        let (acknowledged, next) = oneshot::channel();
        let before = last.insert(flip.pod, next);
        // The validation would take CPU time of the server, and find nothing.
        let path = format!(
            "/api/v1/namespaces/{}/pods/{}/status?fieldValidation=Ignore",
            population.namespace(population.service_of(flip.pod)),
            population.pod_name(flip.pod)
        );
        tasks.spawn(async move {
            if let Some(before) = before {
                // A failed patch ends the scenario.
                let _ = before.await;
            }
            let body = patch(flip.ready, now()).into_bytes();
            let (status, response) = client.raw(Method::PATCH, &path, Some(PATCH), body).await?;
            ensure!(status.is_success(), "{path}: {status}: {}", String::from_utf8_lossy(&response));
            let at = Instant::now();
            // The last patch has no successor.
            let _ = acknowledged.send(());
            Ok((flip, at))
        });
    }
    let mut all = Vec::with_capacity(flips.len());
    while let Some(ended) = tasks.join_next().await {
        all.push(ended??);
    }
    Ok(all)
}

/// Returns the status patch that a kubelet sends when the readiness of a Pod changes.
fn patch(ready: bool, now: Timestamp) -> String {
    let status = if ready { "True" } else { "False" };
    let condition = |kind: &str| json!({"type": kind, "status": status, "lastTransitionTime": now.to_string()});
    json!({"status": {"conditions": [condition("Ready"), condition("ContainersReady")]}}).to_string()
}

fn now() -> Timestamp {
    let now = kube_ambient::now();
    now.round(Unit::Second).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use kube_controller_client::{ClientOptions, Config};
    use kube_dev_apiserver::{Fault, On, Server};
    use rstest::rstest;

    use super::*;

    #[test]
    fn flips_are_repeatable_and_end_ready() {
        let some = flips(10, 8);
        assert_eq!(some, flips(10, 8));
        assert!(some[..4].iter().all(|it| !it.ready) && some[4..].iter().all(|it| it.ready), "{some:?}");
        assert_eq!(some[0].pod, some[4].pod);
    }

    #[rstest]
    #[case::all(&[(1, false), (2, false), (1, true)], 0)]
    #[case::none(&[], 1)]
    #[case::undone_before_the_write(&[(2, false)], 0)]
    #[case::without_the_last(&[(1, false), (2, false)], 1)]
    #[case::not_undone(&[(1, false), (1, true)], 1)]
    #[case::not_yet_again(&[(1, false), (2, false), (1, true), (1, false)], 1)]
    fn last_state_of_each_pod_must_be_observed(#[case] observed: &[(usize, bool)], #[case] expect: usize) {
        let flip = |&(pod, ready): &(usize, bool)| Flip { pod, ready };
        let flips: Vec<Flip> = [(1, false), (2, false), (1, true)].iter().map(flip).collect();
        assert_eq!(unobserved(&flips, observed.iter().map(flip)), expect);
    }

    #[test]
    fn few_pods_flip_repeatedly() {
        let ready: Vec<bool> = flips(2, 6).iter().map(|it| it.ready).collect();
        assert_eq!(ready, [false, false, true, true, false, false]);
        assert_eq!(flips(0, 5), []);
    }

    /// The server executes the first patch of each Pod late, and the second one at once.
    #[tokio::test(start_paused = true)]
    async fn patches_of_one_pod_are_applied_in_their_order() {
        let population = Population { pods: 4, services: 1, nodes: 1, services_of_a_namespace: 1 };
        let server = Server::in_process(kube_dev_apiserver::Config::default()).unwrap();
        let template = json!({"spec": {"containers": [{"name": "main", "image": "app:1"}]}});
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": population.namespace(0)}});
        let pods = (0..population.pods).map(|at| population.pod(&template, at));
        server.load(std::iter::once(namespace).chain(pods)).unwrap();
        let late = Duration::from_secs(1);
        server.faults().inject(Fault::delay_request(late, late).on(On::any().verb("patch")).times(4));
        let options = ClientOptions { qps: 0.0, ..ClientOptions::default() };
        let client = Client::new(&Config::from_service(server.service()), options).unwrap();
        let all = flips(population.pods, 8);
        drive(&client, population, &all, NonZeroU32::new(100).unwrap()).await.unwrap();
        for pod in server.objects("", "pods") {
            let conditions = pod["status"]["conditions"].as_array().unwrap();
            assert!(conditions.iter().all(|it| it["status"] == "True"), "{conditions:?}");
        }
    }

    #[test]
    fn patch_matches_that_of_a_kubelet() {
        let expect = r#"{"status":{"conditions":[{"lastTransitionTime":"1970-01-01T00:00:00Z","status":"False","type":"Ready"},"#;
        assert!(patch(false, Timestamp::UNIX_EPOCH).starts_with(expect), "{}", patch(false, Timestamp::UNIX_EPOCH));
    }
}
