//! Runs that are interrupted at each of their requests.

use kube_dev_apiserver::{Effect, Fault, On};
use rstest::rstest;

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
    let mut partly = 0;
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
        partly += usize::from((1..DELETABLE.len()).contains(&deleted));
        let has_failed = first.stderr.lines().any(|line| line.starts_with("error: "));
        assert_eq!(first.status == 0, deleted == DELETABLE.len() && !has_failed, "{first:?}");
        let second = scene.cluster.run(&command).await;
        assert_eq!(second.status, 0, "after request {request}: {first:?}, then {second:?}");
        assert_eq!(scene.assert_safe(&before, &backup), DELETABLE, "{second:?}");
        if !was_hit {
            assert!(request > 20 && partly > 0, "{partly} runs until request {request} were interrupted: {first:?}");
            break;
        }
        let undo = scene.undo(&backup).await;
        assert_eq!(undo.status, 0, "{undo:?}");
        scene.assert_restored();
    }
}

/// Each request of `undo` fails once. The same command goes on.
#[rstest]
#[case::refused(Effect::Reject { code: 500, retry_after_seconds: None })]
#[case::answer_lost(Effect::ApplyThenReset)]
#[tokio::test]
async fn undo_goes_on(#[case] effect: Effect) {
    let scene = Scene::start().await;
    let server = &scene.cluster.server;
    let command = scene.apply(&scene.plan(&["shop/edited", "shop/moved"]), "backup");
    assert_eq!(scene.cluster.run(&command).await.status, 0);
    let fault = Fault::from(effect).on(On::any().verb("create").resource("endpoints")).after(3).times(1);
    server.faults().inject(fault);
    let run = scene.undo("backup").await;
    assert!(run.status == 2 && run.stdout.starts_with("Endpoints: 3 created, 0 exist"), "{run:?}");
    assert!(server.faults().unspent().is_empty() && run.stderr.starts_with("The same command goes on.\n"), "{run:?}");
    let run = scene.undo("backup").await;
    assert_eq!(run.status, 0, "{run:?}");
    scene.assert_restored();
}
