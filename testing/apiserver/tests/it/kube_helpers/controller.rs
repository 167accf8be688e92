//! `kube::runtime::Controller` with owned and watched objects, on a custom resource.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use kube::api::{DeleteParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::runtime::controller::Action;
use kube::runtime::reflector::ObjectRef;
use kube::runtime::wait::{Condition, await_condition};
use kube::runtime::{Controller, watcher};
use kube::{Api, Client, CustomResource, CustomResourceExt as _, Resource as _, ResourceExt as _};
use kube_dev_apiserver::{Config, Fault, On};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::{Kube, soon};

/// A text that the controller copies into a `ConfigMap`, with the label of the `ServiceAccount` that it names.
#[derive(CustomResource, Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Note", namespaced, status = "NoteStatus")]
struct NoteSpec {
    text: String,
    account: String,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
struct NoteStatus {
    copied: String,
}

async fn reconcile(note: Arc<Note>, client: Arc<Client>) -> Result<Action, kube::Error> {
    let accounts: Api<ServiceAccount> = Api::default_namespaced((*client).clone());
    let colour = accounts.get_opt(&note.spec.account).await?.and_then(|it| it.labels().get("colour").cloned());
    let copy = ConfigMap {
        metadata: ObjectMeta {
            name: note.metadata.name.clone(),
            owner_references: Some(note.controller_owner_ref(&()).into_iter().collect()),
            ..ObjectMeta::default()
        },
        data: Some(BTreeMap::from([
            ("text".to_owned(), note.spec.text.clone()),
            ("colour".to_owned(), colour.unwrap_or_default()),
        ])),
        ..ConfigMap::default()
    };
    let copies: Api<ConfigMap> = Api::default_namespaced((*client).clone());
    let apply = PatchParams::apply("note-controller").force();
    copies.patch(&note.name_any(), &apply, &Patch::Apply(&copy)).await?;
    let notes: Api<Note> = Api::default_namespaced((*client).clone());
    let status = json!({
        "apiVersion": "example.com/v1", "kind": "Note", "status": NoteStatus { copied: note.spec.text.clone() },
    });
    notes.patch_status(&note.name_any(), &apply, &Patch::Apply(&status)).await?;
    Ok(Action::await_change())
}

fn has(key: &'static str, value: &'static str) -> impl Condition<ConfigMap> {
    move |map: Option<&ConfigMap>| map.is_some_and(|it| it.data.as_ref().is_some_and(|data| data[key] == value))
}

#[tokio::test]
async fn controller_follows_primary_owned_and_watched_objects() {
    let kube = Kube::start_with(Config { garbage_collection: true, ..Config::default() }).await;
    let client = kube.client.clone();
    Api::all(client.clone()).create(&PostParams::default(), &Note::crd()).await.unwrap();
    // One write of the controller fails, and is tried again.
    kube.server.faults().inject(Fault::reject(500).on(On::any().verb("patch").resource("configmaps")).times(1));

    let (notes, copies): (Api<Note>, Api<ConfigMap>) =
        (Api::default_namespaced(client.clone()), Api::default_namespaced(client.clone()));
    let accounts: Api<ServiceAccount> = Api::default_namespaced(client.clone());
    let (stop, stopped) = oneshot::channel::<()>();
    let controller = Controller::new(notes.clone(), watcher::Config::default())
        .owns(copies.clone(), watcher::Config::default())
        .watches(accounts.clone(), watcher::Config::default(), |account| {
            Some(ObjectRef::new(&account.name_any()).within("default"))
        })
        .graceful_shutdown_on(async { stopped.await.unwrap_or_default() })
        .run(reconcile, |_, _, _| Action::requeue(std::time::Duration::ZERO), Arc::new(client.clone()))
        .for_each(async |_| ());
    let mut tasks = JoinSet::new();
    tasks.spawn(controller);

    let spec = NoteSpec { text: "one".into(), account: "a".into() };
    notes.create(&PostParams::default(), &Note::new("a", spec)).await.unwrap();
    soon(await_condition(copies.clone(), "a", has("text", "one"))).await.unwrap();
    kube.server.faults().assert_spent();

    let patch = Patch::Merge(json!({"spec": {"text": "two"}}));
    notes.patch("a", &PatchParams::default(), &patch).await.unwrap();
    soon(await_condition(copies.clone(), "a", has("text", "two"))).await.unwrap();
    let copied = |note: Option<&Note>| note.and_then(|it| it.status.as_ref()).is_some_and(|it| it.copied == "two");
    soon(await_condition(notes.clone(), "a", copied)).await.unwrap();

    // An owned object that somebody edits or deletes is restored.
    let edit = Patch::Merge(json!({"data": {"text": "edited"}}));
    copies.patch("a", &PatchParams::default(), &edit).await.unwrap();
    soon(await_condition(copies.clone(), "a", has("text", "two"))).await.unwrap();
    copies.delete("a", &DeleteParams::default()).await.unwrap();
    soon(await_condition(copies.clone(), "a", has("text", "two"))).await.unwrap();

    // A watched object changes the result.
    let account = ServiceAccount {
        metadata: ObjectMeta {
            name: Some("a".into()),
            labels: Some(BTreeMap::from([("colour".to_owned(), "blue".to_owned())])),
            ..ObjectMeta::default()
        },
        ..ServiceAccount::default()
    };
    accounts.create(&PostParams::default(), &account).await.unwrap();
    soon(await_condition(copies.clone(), "a", has("colour", "blue"))).await.unwrap();

    stop.send(()).unwrap();
    soon(tasks.join_all()).await;
    // The garbage collector deletes the owned object.
    notes.delete("a", &DeleteParams::default()).await.unwrap();
    soon(await_condition(copies, "a", |it: Option<&ConfigMap>| it.is_none())).await.unwrap();
}
