//! `retire apply` and `retire undo`.

mod interrupted;
mod refused;
mod scene;
mod stopped;

use std::fs;

use rstest::rstest;
use serde_json::{Value, json};

use self::scene::{DELETABLE, PROTECTED, Scene};

fn names(list: &Value) -> Vec<String> {
    let names = list.as_array().expect("a list").iter();
    let mut names: Vec<String> = names
        .map(|it| format!("{}/{}", it["namespace"].as_str().expect("text"), it["name"].as_str().expect("text")))
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn only_what_the_controller_would_write_is_deleted_and_undo_restores_it() {
    let scene = Scene::start().await;
    let before = scene.endpoints();
    // The plan calls everything safe, also what is not.
    let run = scene.cluster.run(&format!("{} -o json", scene.apply(&scene.plan(&[]), "backup"))).await;
    assert_eq!(run.status, 1, "{run:?}");
    assert_eq!(scene.assert_safe(&before, "backup"), DELETABLE);
    let result = run.json();
    assert_eq!(names(&result["deleted"]), DELETABLE, "{result}");
    assert_eq!(names(&result["kept"]), PROTECTED, "{result}");
    assert_eq!((&result["stopped"], &result["remaining"]), (&Value::Null, &json!([])));
    let because = |name: &str| {
        let kept = result["kept"].as_array().expect("a list").iter().find(|it| it["name"] == name);
        kept.expect("kept")["because"].as_str().expect("text").to_owned()
    };
    for (name, expected) in [
        ("kubernetes", "it belongs to the API server"),
        ("edited", "its content is not what the endpoints controller would write"),
        ("held", "it has finalizers"),
        ("lock", "it is a lock of leader election"),
        ("moved", "its mirrored EndpointSlices would be deleted with it"),
    ] {
        assert_eq!(because(name), expected);
    }
    let missed = async |line: &str| {
        let diff = scene.cluster.run(line).await;
        diff.stdout.matches("--- /dev/null\n+++ Endpoints ").count()
    };
    assert_eq!((missed("diff -A").await, missed("diff -A --endpoints-retired").await), (6, 0));
    // Two of the objects in the file were kept after the last check.
    let undo = scene.undo("backup").await;
    assert_eq!(
        (undo.status, undo.stdout.as_str()),
        (0, "Endpoints: 7 created, 2 exist and were left alone.\n"),
        "{undo:?}"
    );
    scene.assert_restored();
    let again = scene.undo("backup").await;
    assert_eq!((again.status, again.stdout.as_str()), (0, "Endpoints: 0 created, 9 exist and were left alone.\n"));
    scene.assert_restored();
}

#[tokio::test]
async fn what_the_plan_does_not_call_safe_stays() {
    let scene = Scene::start().await;
    let before = scene.endpoints();
    let mut plan = scene.plan(&["shop/a", "shop/edited", "shop/moved"]);
    let unknown = plan.objects.iter_mut().find(|it| it.name == "b").expect("an object");
    unknown.verdict = serde_json::from_value(json!({"answer": "unknown", "because": ["no audit log"], "needs": []}))
        .expect("a verdict");
    let command = scene.apply(&plan, "backup");
    let run = scene.cluster.run(&command).await;
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stdout.contains("kept shop/a: not safe: somebody reads it\n"), "{run:?}");
    assert!(run.stdout.contains("kept shop/b: not known to be safe: no audit log\n"), "{run:?}");
    assert!(run.stdout.ends_with("\nEndpoints: 5 deleted, 7 kept.\n"), "{run:?}");
    assert_eq!(scene.assert_safe(&before, "backup").len(), 5);
    // The same file takes the rest.
    let run = scene.cluster.run(&format!("{command} --accept-unknown")).await;
    assert_eq!(run.status, 0, "{run:?}");
    assert!(!scene.endpoints().contains_key("shop/b") && scene.endpoints().contains_key("shop/a"), "{run:?}");
    assert_eq!(scene.undo("backup").await.status, 0);
    scene.assert_restored();
}

#[tokio::test]
async fn undo_leaves_alone_what_exists_and_says_what_it_cannot_create() {
    let scene = Scene::start().await;
    let run = scene.cluster.run(&scene.apply(&scene.plan(&["shop/edited", "shop/moved"]), "backup")).await;
    assert_eq!(run.status, 0, "{run:?}");
    let own = json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"namespace": "shop", "name": "a"}});
    scene.cluster.server.load([own]).expect("a valid object");
    let before = scene.endpoints()["shop/a"].clone();
    // The namespace of another one is gone.
    let backup = fs::read_to_string(scene.path("backup")).expect("readable").replace("\"quiet\"", "\"lost\"");
    fs::write(scene.path("changed"), backup).expect("written");
    let run = scene.undo("changed").await;
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.stdout.starts_with("not created lost/e: namespaces \"lost\" not found\n"), "{run:?}");
    assert!(run.stdout.ends_with("Endpoints: 5 created, 1 exist and were left alone, 1 not created.\n"), "{run:?}");
    assert_eq!(scene.endpoints()["shop/a"], before);
}

/// Their mirrors would be endpoints of the Service.
#[tokio::test]
async fn undo_creates_no_endpoints_of_a_service_that_has_lost_its_selector() {
    let scene = Scene::start().await;
    let run = scene.cluster.run(&scene.apply(&scene.plan(&["shop/edited", "shop/moved"]), "backup")).await;
    assert_eq!(run.status, 0, "{run:?}");
    let services = scene.cluster.server.typed_as::<Value>("", "services").namespace("shop");
    services.patch("a", &json!({"spec": {"selector": null}})).expect("patched");
    let run = scene.undo("backup").await;
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.stdout.starts_with("not created shop/a: its Service has no selector any more"), "{run:?}");
    assert!(run.stdout.ends_with("Endpoints: 6 created, 0 exist and were left alone, 1 not created.\n"), "{run:?}");
    assert!(!scene.endpoints().contains_key("shop/a"));
}

/// As after a run of a user who may not read the namespace kube-system.
#[tokio::test]
async fn a_backup_that_names_no_cluster_is_restored_if_this_is_accepted() {
    let scene = Scene::start().await;
    let mut plan = scene.plan(&["shop/edited", "shop/moved"]);
    plan.cluster.uid.clear();
    let command = scene.apply(&plan, "backup");
    let run = scene.cluster.run(&command).await;
    assert!(run.status == 2 && run.stderr.contains("the file does not name its cluster"), "{run:?}");
    let run = scene.cluster.run(&format!("{command} --accept-unknown-cluster")).await;
    assert_eq!(run.status, 0, "{run:?}");
    let run = scene.undo("backup").await;
    assert!(run.status == 2 && run.stderr.contains("the file does not name its cluster"), "{run:?}");
    let run = scene.undo("backup --accept-unknown-cluster").await;
    assert_eq!(run.status, 0, "{run:?}");
    scene.assert_restored();
}

#[rstest]
#[case::no_file(None, "does not exist, or has no object")]
#[case::another_file(Some("kind: List\n".to_owned()), "is no backup of `retire apply`")]
#[case::another_cluster(Some("{\"apiVersion\":\"retire-backup/v1\",\"cluster\":{\"uid\":\"x\"}}\n".to_owned()), "is a backup of another cluster")]
#[tokio::test]
async fn undo_refuses_other_files(#[case] text: Option<String>, #[case] expected: &str) {
    let scene = Scene::start().await;
    if let Some(text) = text {
        fs::write(scene.path("backup"), text).expect("written");
    }
    let run = scene.undo("backup").await;
    assert!(run.status == 2 && run.stderr.contains(expected), "{run:?}");
    scene.assert_restored();
}
