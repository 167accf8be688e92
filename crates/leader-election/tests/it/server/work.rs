//! Work that runs while the process leads.

use super::*;

fn election(client: &Client, identity: &str) -> Election {
    Election::new(client.clone(), options(identity)).0
}

#[tokio::test(start_paused = true)]
async fn work_starts_when_the_process_leads_and_its_end_releases_the_lease() {
    let (_server, client, _clocks) = server();
    let mut one = leader(&client).await;
    let work = async {
        let started = spec(&lease(&client).await).0;
        tokio::time::sleep(30 * SECOND).await;
        started
    };
    let mut other = std::pin::pin!(election(&client, "other").run_while_leading(work, SECOND));
    assert!(timeout(60 * SECOND, other.as_mut()).await.is_err(), "worked without leading");
    one.stop.cancel();
    assert_eq!(one.wait_for_end().await, End::Released);
    let led = Instant::now();
    assert_eq!(other.await.as_deref(), Some("other"), "the holder when the work started");
    assert!((30 * SECOND..33 * SECOND).contains(&led.elapsed()), "{:?}", led.elapsed());
    assert_eq!(spec(&lease(&client).await), (String::new(), 1, 1), "not released");
}

#[tokio::test(start_paused = true)]
async fn work_is_dropped_when_the_lease_is_lost() {
    let (server, client, _clocks) = server();
    let dropped = CancellationToken::new();
    let guard = dropped.clone().drop_guard();
    let work = async move {
        let _guard = guard;
        server.faults().inject(Fault::unavailable().on(On::any().resource("leases")));
        std::future::pending::<()>().await;
    };
    let started = Instant::now();
    assert_eq!(election(&client, "one").run_while_leading(work, SECOND).await, None);
    assert!(dropped.is_cancelled());
    assert_eq!(started.elapsed(), 10 * SECOND);
}
