//! What an election leaves for others: Events and metrics.

use super::*;

#[tokio::test(start_paused = true)]
async fn events_match_upstream() {
    let (_server, client, _clocks) = server();
    let (recorder, writer) = EventRecorder::new(client.clone(), "controller-manager");
    let mut one = candidate_with(&client, ElectionOptions { recorder: Some(recorder), ..options("one") });
    one.wait_until_leading().await;
    one.stop.cancel();
    assert_eq!(one.wait_for_end().await, End::Released);
    // The election has dropped the recorder, so the writer ends when the queue is empty.
    writer.run(CancellationToken::new()).await;
    let events = client.get_json("/api/v1/namespaces/kube-system/events").await.expect("list");
    let mut found: Vec<Event> = serde_json::from_value(events["items"].clone()).expect("decode events");
    found.sort_by_key(|event| event.metadata.resource_version.as_deref().and_then(|it| it.parse::<u64>().ok()));
    let found: Vec<_> = found
        .into_iter()
        .map(|event| {
            let object = event.involved_object;
            let object = format!("{}/{}", object.kind.unwrap_or_default(), object.name.unwrap_or_default());
            (
                event.type_.unwrap_or_default(),
                event.reason.unwrap_or_default(),
                event.message.unwrap_or_default(),
                object,
            )
        })
        .collect();
    let event =
        |message: &str| ("Normal".to_owned(), "LeaderElection".to_owned(), message.to_owned(), format!("Lease/{NAME}"));
    assert_eq!(found, [event("one became leader"), event("one stopped leading")]);
}

#[tokio::test(start_paused = true)]
async fn events_can_refer_to_the_lease() {
    let (_server, client, _clocks) = server();
    let one = leader(&client).await;
    let (stored, reference) = (super::lease(&client).await, one.fence.lease());
    let expected = (stored.metadata.name.as_deref(), stored.metadata.uid.as_deref());
    assert_eq!((Some(&*reference.name), Some(&*reference.uid.to_string())), expected);
}

#[cfg(feature = "prometheus")]
#[tokio::test(start_paused = true)]
async fn metrics_match_upstream() {
    use kube_lease_election::PrometheusMetrics;
    use prometheus::{Registry, TextEncoder};

    let registry = Registry::new();
    let metrics = PrometheusMetrics::register(&registry).expect("register metrics");
    let text = || TextEncoder::new().encode_to_string(&registry.gather()).expect("encode metrics");
    let (server, client, _clocks) = server();
    let mut one = candidate_with(&client, ElectionOptions { metrics: Some(Arc::new(metrics)), ..options("one") });
    one.wait_until_leading().await;
    assert!(text().contains("leader_election_master_status{name=\"it\"} 1\n"), "{}", text());
    assert!(!text().contains("leader_election_slowpath_total{"), "{}", text());
    server.faults().inject(Fault::reject(409).on(On::any().verb("update").resource("leases")).times(1));
    one.wait_for_renewal().await;
    one.stop.cancel();
    assert_eq!(one.wait_for_end().await, End::Released);
    assert!(text().contains("leader_election_slowpath_total{name=\"it\"} 1\n"), "{}", text());
    assert!(text().contains("leader_election_master_status{name=\"it\"} 0\n"), "{}", text());
}
