//! Plans, files and questions for which `apply` deletes nothing.

use std::fs;

use jiff::SignedDuration;
use kube_dev_apiserver::On;
use kube_endpoints_retire::Plan;
use rstest::rstest;
use serde_json::{Value, json};

use super::scene::{MANAGED, Scene};
use crate::cluster::{Cluster, Run};
use crate::rights::rules;

fn assert_nothing_was_written(scene: &Scene, run: &Run) {
    assert_eq!(scene.cluster.server.requests().count(&On::writes()), 0, "{run:?}");
}

#[rstest]
#[case::old(|plan: &mut Plan| plan.created -= SignedDuration::from_hours(25), "stale: the plan was made 1500 minutes ago")]
#[case::other_cluster(|plan: &mut Plan| plan.cluster.uid = "x".to_owned(), "stale: the plan is about another cluster")]
#[tokio::test]
async fn a_stale_plan(#[case] change: fn(&mut Plan), #[case] expected: &str) {
    let scene = Scene::start().await;
    let mut plan = scene.plan(&[]);
    change(&mut plan);
    let run = scene.cluster.run(&scene.apply(&plan, "backup")).await;
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run:?}");
    assert!(run.stderr.contains(expected), "{run:?}");
    assert!(run.stderr.ends_with("error: the plan does not fit the cluster any more: make a new one\n"), "{run:?}");
    assert!(!scene.path("backup").exists());
    assert_nothing_was_written(&scene, &run);
}

#[tokio::test]
async fn an_older_plan_if_it_is_allowed() {
    let scene = Scene::start().await;
    let mut plan = scene.plan(&["shop/edited", "shop/moved"]);
    plan.created -= SignedDuration::from_hours(25);
    let run = scene.cluster.run(&format!("{} --max-age=26h", scene.apply(&plan, "backup"))).await;
    assert_eq!(run.status, 0, "{run:?}");
}

#[tokio::test]
async fn an_object_that_was_written_since_the_plan() {
    let scene = Scene::start().await;
    let plan = scene.plan(&[]);
    let endpoints = scene.cluster.server.typed_as::<Value>("", "endpoints");
    let patch = json!({"metadata": {"annotations": {"touched": "yes"}}});
    endpoints.namespace("shop").patch("b", &patch).expect("patched");
    let own = json!({"apiVersion": "v1", "kind": "Endpoints",
        "metadata": {"namespace": "shop", "name": "new", "labels": {MANAGED: "endpoint-controller"}}});
    scene.cluster.server.load([own]).expect("a valid object");
    let run = scene.cluster.run(&scene.apply(&plan, "backup")).await;
    assert!(run.status == 1 && run.stderr.contains("stale: shop/b was written\nstale: shop/new is new\n"), "{run:?}");
    assert_nothing_was_written(&scene, &run);
}

#[rstest]
#[case::another_file("note", "is no backup of `retire apply`")]
#[case::another_cluster(
    "{\"apiVersion\":\"retire-backup/v1\",\"cluster\":{\"uid\":\"x\"}}\n",
    "is a backup of another cluster"
)]
#[tokio::test]
async fn a_file_that_is_no_backup_of_the_cluster(#[case] text: &str, #[case] expected: &str) {
    let scene = Scene::start().await;
    fs::write(scene.path("backup"), text).expect("written");
    let run = scene.cluster.run(&scene.apply(&scene.plan(&[]), "backup")).await;
    assert!(run.status == 2 && run.stderr.contains(expected), "{run:?}");
    assert_eq!(fs::read_to_string(scene.path("backup")).expect("readable"), text);
    assert_nothing_was_written(&scene, &run);
}

#[tokio::test]
async fn a_file_that_cannot_be_written() {
    let scene = Scene::start().await;
    let run = scene.cluster.run(&scene.apply(&scene.plan(&[]), "missing/backup")).await;
    assert!(run.status == 2 && run.stderr.contains("error: cannot write "), "{run:?}");
    assert_nothing_was_written(&scene, &run);
}

#[rstest]
#[case::no_controller(
    " --controller-off=kube-controller-manager",
    "",
    "error: --controller-off=kube-controller-manager or "
)]
#[case::namespace(
    " --quiet=0",
    " -n shop",
    "error: the plan names the objects of retire apply: -n, -A and -l are not for it"
)]
#[tokio::test]
async fn a_command_that_lacks_something(#[case] without: &str, #[case] with: &str, #[case] expected: &str) {
    let scene = Scene::start().await;
    let command = scene.apply(&scene.plan(&[]), "backup").replace(without, with);
    let run = scene.cluster.run(&command).await;
    assert!(run.status == 2 && run.stderr.contains(expected), "{run:?}");
    assert_nothing_was_written(&scene, &run);
}

/// The namespace `kube-system` may not be read.
#[tokio::test]
async fn a_cluster_that_is_not_known() {
    let scene = Scene::start_with(Cluster::rbac()).await;
    let command = scene.apply(&scene.plan(&["shop/edited", "shop/moved"]), "backup");
    let allowed = ["list services,pods", "list,watch,delete endpoints", "list endpointslices.discovery.k8s.io"];
    scene.cluster.become_alice(&rules(&allowed));
    let run = scene.cluster.run(&command).await;
    assert!(run.status == 2 && run.stderr.ends_with("; --accept-unknown-cluster goes on\n"), "{run:?}");
    assert_nothing_was_written(&scene, &run);
    let run = scene.cluster.run(&format!("{command} --accept-unknown-cluster")).await;
    assert!(run.status == 0 && run.stderr.starts_with("warning: the cluster is not known"), "{run:?}");
    scene.assert_safe(&scene.endpoints(), "backup");
}

#[rstest]
#[case::delete(
    "list services,pods,endpoints",
    "list endpointslices.discovery.k8s.io",
    "error: delete endpoints quiet/e: "
)]
#[case::pods(
    "list,delete services,endpoints",
    "list endpointslices.discovery.k8s.io",
    "error: may not list pods in namespace quiet: "
)]
#[case::slices(
    "list,delete services,pods,endpoints",
    "list leases.coordination.k8s.io",
    "error: may not list endpointslices"
)]
#[tokio::test]
async fn a_user_who_lacks_a_right(#[case] core: &str, #[case] discovery: &str, #[case] expected: &str) {
    let scene = Scene::start_with(Cluster::rbac()).await;
    let command = scene.apply(&scene.plan(&["shop/edited", "shop/moved"]), "backup");
    scene.cluster.become_alice(&rules(&[core, discovery, "watch endpoints", "get namespaces"]));
    let before = scene.endpoints();
    let run = scene.cluster.run(&command).await;
    assert!(run.status == 2 && run.stdout.ends_with("Endpoints: 0 deleted, 5 kept, 7 remaining.\n"), "{run:?}");
    assert!(run.stderr.contains(expected), "{run:?}");
    assert_eq!(scene.endpoints(), before);
}
