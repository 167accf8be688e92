//! Conflicts after own writes, with the watches of kube's `Controller` and with caches.

use std::future::Future;

use anyhow::Result;
use kube::api::PostParams;
use kube::runtime::controller::Controller;
use kube::runtime::watcher;
use kube_endpoints_testing::repository::text_of;
use tokio::task::JoinSet;

use super::*;

const BANNERS: usize = 100;

/// Writes a `ConfigMap`, whose event triggers the next reconciliation, and replaces the status of the object that it was
/// given.
async fn reconcile(banner: Arc<Banner>, client: Arc<Client>) -> Result<Action, kube::Error> {
    let (name, namespace) = (banner.name_any(), banner.namespace().unwrap_or_default());
    let owner = banner.controller_owner_ref(&());
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": { "text": banner.spec.text },
        "metadata": { "name": name, "ownerReferences": [owner] },
    });
    let maps: Api<ConfigMap> = Api::namespaced((*client).clone(), &namespace);
    maps.patch(&name, &PatchParams::apply("banners").force(), &Patch::Apply(map)).await?;
    if banner.status.is_none() {
        let banners: Api<Banner> = Api::namespaced((*client).clone(), &namespace);
        let mut banner = (*banner).clone();
        banner.status = Some(BannerStatus { shown: banner.spec.text.clone() });
        banners.replace_status(&name, &PostParams::default(), &banner).await?;
    }
    Ok(Action::await_change())
}

fn finish(controller: Controller<Banner>, client: Client) -> impl Future<Output = ()> {
    let retry = |_: Arc<Banner>, _: &kube::Error, _: Arc<Client>| Action::requeue(Duration::from_secs(1));
    controller.run(reconcile, retry, Arc::new(client)).for_each(async |_| {})
}

async fn with_watches(client: Client) {
    let banners = Controller::new(Api::<Banner>::all(client.clone()), watcher::Config::default());
    finish(banners.owns(Api::<ConfigMap>::all(client.clone()), watcher::Config::default()), client).await;
}

async fn with_caches(client: Client) {
    let caches = Caches::new(client);
    let (banners, maps) = (caches.of::<Banner>(), caches.of::<ConfigMap>());
    let controller = banners.controller().owns_shared_stream(maps.touched_objects());
    let controller = finish(controller, caches.client());
    tokio::select! {
        () = caches.run() => {}
        () = controller => {}
    }
}

/// Returns the number of updates that fail with 409 until all Banners have a status, with an operator whose watch of Banners
/// is 100 ms late.
async fn conflicts<F: Future<Output = ()> + Send + 'static>(operator: fn(Client) -> F) -> Result<usize> {
    let server = Server::in_process(Config::default())?;
    server.load([serde_json::to_value(Banner::crd())?])?;
    let late = Duration::from_millis(100);
    server.faults().inject(Fault::delay_events(late, late).on(On::any().verb("watch").resource("banners")));
    let mut tasks = JoinSet::new();
    tasks.spawn(operator(Client::new(server.service(), "default")));
    let banners = server.typed_as::<Banner>("example.com", "banners");
    for at in 0..BANNERS {
        banners.create(&banner(&format!("banner-{at}"), "today only"))?;
    }
    let have_status = || banners.list().ok()?.iter().all(|banner| banner.status.is_some()).then_some(());
    server.wait_until(LIMIT, have_status).await?;
    // Until the last retry.
    tokio::time::sleep(LIMIT).await;
    let updates = server.requests().matching(&On::any().verb("update").resource("banners"));
    Ok(updates.iter().filter(|update| update.status == Some(409)).count())
}

#[tokio::test(start_paused = true)]
async fn own_writes_conflict_only_without_caches() -> Result<()> {
    let (before, after) = (conflicts(with_watches).await?, conflicts(with_caches).await?);
    let page = text_of("docs/src/kube-operators.md");
    let row = format!("| updates that fail with 409, of {BANNERS} | {before} | {after} |");
    assert!(before >= BANNERS && after == 0 && page.contains(&row), "kube-operators.md has not: {row}");
    Ok(())
}
