//! Runs that are interrupted at each of their requests.

use kube_dev_apiserver::{Effect, Fault, On};
use kube_endpoints_testing::LIMIT;
use rstest::rstest;
use serde_json::Value;

use super::scene::{DELETABLE, Scene};

/// The run has one failure, at each of its requests in turn. The same command goes on, and `undo` restores all.
#[rstest]
#[case::refused(Effect::Reject { code: 500, retry_after_seconds: None })]
#[case::not_sent(Effect::Reset)]
#[case::answer_replaced(Effect::ApplyThenTimeout)]
#[case::answer_lost(Effect::ApplyThenReset)]
#[tokio::test]
async fn no_deleted_object_is_missing_in_the_file(#[case] effect: Effect, #[values(0, 1, 2, 3)] first_request: u32) {
    let scene = Scene::start().await;
    let server = &scene.cluster.server;
    let mut interrupted = 0;
    // Every fourth request: what takes the time is that the client waits before it repeats a read.
    for request in (first_request..).step_by(4) {
        let before = scene.endpoints();
        let backup = format!("backup-{request}");
        let plan = scene.plan(&["shop/edited", "shop/moved"]);
        let command = scene.apply(&plan, &backup);
        server.faults().inject(Fault::from(effect.clone()).on(On::any()).after(request).times(1));
        let first = scene.cluster.run(&command).await;
        let was_hit = server.faults().unspent().is_empty();
        server.faults().clear();
        let deleted = scene.assert_safe(&before, &backup).len();
        let has_gone_on = first.stderr.lines().any(|line| line.starts_with("warning: delete endpoints "));
        interrupted += usize::from((1..DELETABLE.len()).contains(&deleted) || has_gone_on);
        let has_failed = first.stderr.lines().any(|line| line.starts_with("error: "));
        assert_eq!(first.status == 0, deleted == DELETABLE.len() && !has_failed, "{first:?}");
        let second = scene.cluster.run(&command).await;
        assert_eq!(second.status, 0, "after request {request}: {first:?}, then {second:?}");
        assert_eq!(scene.assert_safe(&before, &backup), DELETABLE, "{second:?}");
        if !was_hit {
            assert!(
                request > 20 && interrupted > 0,
                "{interrupted} runs until request {request} were interrupted: {first:?}"
            );
            break;
        }
        let undo = scene.undo(&backup).await;
        assert_eq!(undo.status, 0, "{undo:?}");
        scene.assert_restored();
    }
}

/// As with a webhook for this namespace that is down: the namespace of the first object, or of all others.
#[rstest]
#[case::first("quiet", "Endpoints: 6 deleted, 1 perhaps deleted, 5 kept.\n")]
#[case::after_the_proof("shop", "Endpoints: 1 deleted, 3 perhaps deleted, 5 kept, 3 remaining.\n")]
#[tokio::test]
async fn apply_deletes_the_rest_while_the_deletes_of_a_namespace_fail(#[case] namespace: &str, #[case] expected: &str) {
    let scene = Scene::start().await;
    let (before, server) = (scene.endpoints(), &scene.cluster.server);
    let command = scene.apply(&scene.plan(&["shop/edited", "shop/moved"]), "backup");
    let deletes = On::any().verb("delete").resource("endpoints").namespace(namespace);
    server.faults().inject(Fault::reject(500).on(deletes));
    let run = scene.cluster.run(&command).await;
    assert!(run.status == 2 && run.stdout.ends_with(expected), "{run:?}");
    assert!(run.stderr.contains("\nwarning: delete endpoints "), "{run:?}");
    server.faults().clear();
    let run = scene.cluster.run(&command).await;
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(scene.assert_safe(&before, "backup"), DELETABLE);
}

/// The first delete fails, but the object is gone when the client repeats it.
#[tokio::test]
async fn an_object_that_is_gone_after_an_unanswered_delete_counts_as_deleted() {
    let scene = Scene::start().await;
    let server = &scene.cluster.server;
    let command = scene.apply(&scene.plan(&["shop/edited", "shop/moved"]), "backup");
    let deletes = On::any().verb("delete").resource("endpoints").namespace("quiet");
    let effect = Effect::Reject { code: 500, retry_after_seconds: Some(1) };
    server.faults().inject(Fault::from(effect).on(deletes).times(1));
    let repeated = async {
        server.wait_until(LIMIT, || server.faults().unspent().is_empty().then_some(())).await.expect("the delete");
        // The program may be faster.
        let _ = server.typed_as::<Value>("", "endpoints").namespace("quiet").delete("e");
    };
    let (run, ()) = tokio::join!(scene.cluster.run(&command), repeated);
    assert!(run.status == 0 && run.stdout.ends_with("Endpoints: 7 deleted, 5 kept.\n"), "{run:?}");
}

/// One create of `undo` fails. Unless all others would fail, too, it is tried again at the end.
#[rstest]
#[case::refused(Effect::Reject { code: 500, retry_after_seconds: None }, 0, "Endpoints: 7 created, 0 exist")]
#[case::answer_lost(Effect::ApplyThenReset, 0, "Endpoints: 6 created, 1 exist")]
#[case::credentials(Effect::Reject { code: 401, retry_after_seconds: None }, 2, "Endpoints: 3 created, 0 exist")]
#[tokio::test]
async fn undo_goes_on(#[case] effect: Effect, #[case] status: i32, #[case] expected: &str) {
    let scene = Scene::start().await;
    let server = &scene.cluster.server;
    let command = scene.apply(&scene.plan(&["shop/edited", "shop/moved"]), "backup");
    assert_eq!(scene.cluster.run(&command).await.status, 0);
    let fault = Fault::from(effect).on(On::any().verb("create").resource("endpoints")).after(3).times(1);
    server.faults().inject(fault);
    let run = scene.undo("backup").await;
    assert!(run.status == status && run.stdout.starts_with(expected), "{run:?}");
    assert!(server.faults().unspent().is_empty(), "{run:?}");
    assert_eq!(run.stderr.starts_with("The same command goes on.\n"), status == 2, "{run:?}");
    let run = scene.undo("backup").await;
    assert_eq!(run.status, 0, "{run:?}");
    scene.assert_restored();
}

/// As with a webhook for this namespace that is down.
#[tokio::test]
async fn undo_creates_the_rest_while_the_creates_of_a_namespace_fail() {
    let scene = Scene::start().await;
    let server = &scene.cluster.server;
    let command = scene.apply(&scene.plan(&["shop/edited", "shop/moved"]), "backup");
    assert_eq!(scene.cluster.run(&command).await.status, 0);
    let creates = On::any().verb("create").resource("endpoints").namespace("quiet");
    server.faults().inject(Fault::reject(500).on(creates));
    let run = scene.undo("backup").await;
    assert!(run.status == 1 && run.stdout.starts_with("not created quiet/e: "), "{run:?}");
    assert!(run.stdout.ends_with("Endpoints: 6 created, 0 exist and were left alone, 1 not created.\n"), "{run:?}");
    server.faults().clear();
    assert_eq!(scene.undo("backup").await.status, 0);
    scene.assert_restored();
}

/// Each create takes as long as the webhook: two objects of the namespace that fail again are enough.
#[tokio::test]
async fn undo_gives_a_namespace_up() {
    let scene = Scene::start().await;
    let server = &scene.cluster.server;
    let command = scene.apply(&scene.plan(&["shop/edited", "shop/moved"]), "backup");
    assert_eq!(scene.cluster.run(&command).await.status, 0);
    let creates = On::any().verb("create").resource("endpoints").namespace("shop");
    server.faults().inject(Fault::reject(500).on(creates.clone()));
    let run = scene.undo("backup").await;
    assert_eq!(server.requests().count(&creates), 3, "{run:?}");
    let named = |name: &str| run.stdout.lines().find(|it| it.starts_with(&format!("not created shop/{name}: ")));
    for name in ["a", "b", "c"] {
        assert!(named(name).is_some_and(|line| line.contains("Internal error")), "{run:?}");
    }
    for name in ["gone", "typo", "web"] {
        assert!(
            named(name).is_some_and(|line| line.ends_with("not tried, because others of its namespace failed")),
            "{run:?}"
        );
    }
    assert!(run.stdout.ends_with("Endpoints: 1 created, 0 exist and were left alone, 6 not created.\n"), "{run:?}");
    assert_eq!(
        (run.status, run.stderr.as_str()),
        (1, "6 objects of namespaces where a create has failed are tried again.\n")
    );
    server.faults().clear();
    assert_eq!(scene.undo("backup").await.status, 0);
    scene.assert_restored();
}
