use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams};
use kube::core::ObjectMeta;
use kube::runtime::controller::Action;
use kube::{Api, Client, CustomResource, CustomResourceExt as _, Resource as _, ResourceExt as _};
use kube_dev_apiserver::{Config, Fault, On, Server};
use kube_informer::runtime::Caches;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

// --- The operator.

#[derive(Clone, CustomResource, Debug, Deserialize, JsonSchema, Serialize)]
#[kube(group = "example.com", version = "v1", kind = "Banner", namespaced, status = "BannerStatus")]
struct BannerSpec {
    #[schemars(length(min = 1))]
    text: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
struct BannerStatus {
    shown: String,
}

async fn reconcile(banner: Arc<Banner>, client: Arc<Client>) -> Result<Action, kube::Error> {
    let (name, namespace) = (banner.name_any(), banner.namespace().unwrap_or_default());
    let apply = PatchParams::apply("banners").force();
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": { "text": banner.spec.text },
        "metadata": { "name": name, "ownerReferences": [banner.controller_owner_ref(&())] },
    });
    let maps: Api<ConfigMap> = Api::namespaced((*client).clone(), &namespace);
    maps.patch(&name, &apply, &Patch::Apply(map)).await?;
    let banners: Api<Banner> = Api::namespaced((*client).clone(), &namespace);
    let status = json!({ "status": BannerStatus { shown: banner.spec.text.clone() } });
    banners.patch_status(&name, &PatchParams::default(), &Patch::Merge(status)).await?;
    Ok(Action::await_change())
}

/// The metadata of a `ConfigMap`.
#[derive(Clone, Debug, Deserialize)]
struct OwnedMap {
    metadata: ObjectMeta,
}

kube_informer::projection!(OwnedMap, ConfigMap);

async fn run(client: Client) {
    let caches = Caches::new(client);
    let (banners, maps) = (caches.of::<Banner>(), caches.of::<OwnedMap>());
    let controller = banners
        .controller()
        .owns_shared_stream(maps.touched_objects())
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(30)), Arc::new(caches.client()))
        .for_each(async |_| {});
    tokio::select! {
        () = caches.run() => {}
        () = controller => {}
    }
}

// --- Its tests. Each is a `#[tokio::test(start_paused = true)]`.

type TestResult = Result<(), Box<dyn std::error::Error>>;

/// Time limit of a wait. Time is paused, so that it costs nothing.
const LIMIT: Duration = Duration::from_secs(600);

fn start() -> Result<Server, Box<dyn std::error::Error>> {
    // Without garbage collection, objects with owner references stay when their owner is deleted.
    let server = Server::in_process(Config { garbage_collection: true, ..Config::default() })?;
    // What exists before the operator starts: the definition of the kind, and any other objects.
    server.load([serde_json::to_value(Banner::crd())?])?;
    // A client without a connection.
    tokio::spawn(run(Client::new(server.service(), "default")));
    Ok(server)
}

fn banner(name: &str, text: &str) -> Banner {
    Banner::new(name, BannerSpec { text: text.to_owned() })
}

async fn writes_and_repairs() -> TestResult {
    let server = start()?;
    // Typed access to the objects, without a client: the test's own writes, which no fault affects.
    let (banners, maps) = (server.typed_as::<Banner>("example.com", "banners"), server.typed::<ConfigMap>());
    banners.create(&banner("sale", "today only"))?;
    let shown = || Some(banners.get("sale").ok()?.status?.shown);
    assert_eq!(server.wait_until(LIMIT, shown).await?, "today only");
    assert_eq!(maps.get("sale")?.data.unwrap_or_default()["text"], "today only");

    maps.delete("sale")?;
    server.wait_until(LIMIT, || maps.get("sale").ok()).await?;
    // A JSON merge patch, written as for an HTTP request: with the key `status`.
    banners.patch_status("sale", &json!({"status": {"shown": "tomorrow"}}))?;
    server.wait_until(LIMIT, || (shown()? == "today only").then_some(())).await?;
    banners.delete("sale")?;
    server.wait_until(LIMIT, || maps.get("sale").is_err().then_some(())).await?;

    // The server enforces the schema of the derived definition.
    let refused = banners.create(&banner("empty", "")).unwrap_err();
    assert!(refused.to_string().contains("spec.text"), "{refused}");
    Ok(())
}

async fn survives_failures() -> TestResult {
    let server = start()?;
    let faults = server.faults();
    let writes = || On::any().verb("patch").resource("configmaps");
    faults.inject(Fault::unavailable().on(writes()).times(2));
    // The next write is stored, but its answer is lost. The first of several faults of a request counts.
    faults.inject(Fault::apply_then_reset().on(writes()).times(1));
    faults.inject(Fault::expired().on(On::any().verb("watch").resource("banners")).times(1));
    let banners = server.typed_as::<Banner>("example.com", "banners");
    banners.create(&banner("sale", "today only"))?;
    server.wait_until(LIMIT, || banners.get("sale").ok()?.status).await?;
    // Fails, and names the faults, if one had no effect.
    server.wait_until(LIMIT, || faults.unspent().is_empty().then_some(())).await?;
    let lost = server.requests().matching(&writes()).into_iter().find(|it| it.status.is_none());
    assert!(lost.is_some_and(|it| it.applied));
    Ok(())
}
