//! What stops a run: controllers that are on, other writes, readers, and signals.

use std::fs::{self, OpenOptions};
use std::io::Write as _;

use endpoint_controller_manager::{ClientSettings, Settings};
use kube_controller_client::Config;
use kube_dev_apiserver::{Effect, Fault, On};
use kube_endpoints_testing::audit::event;
use kube_endpoints_testing::{LIMIT, until};
use rstest::rstest;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::process::Child;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::scene::{DELETABLE, Scene};

/// Longer than any test.
const LONG: &str = "10h";

fn start(scene: &Scene, command: &str) -> Child {
    scene.cluster.command(command).spawn().expect("the program starts")
}

/// Waits for the end of a run, and returns its status and what it has printed on standard error.
async fn end(mut run: Child) -> (i32, String) {
    let (mut stderr, mut text) = (run.stderr.take().expect("piped"), String::new());
    timeout(LIMIT, stderr.read_to_string(&mut text)).await.expect("an end").expect("readable");
    (run.wait().await.expect("a status").code().expect("no signal"), text)
}

fn touch(scene: &Scene, name: &str) {
    let patch = json!({"metadata": {"annotations": {"touched": "yes"}}});
    scene.cluster.server.typed_as::<Value>("", "endpoints").namespace("shop").patch(name, &patch).expect("patched");
}

/// Waits until the run has sent a number of requests.
async fn sent(scene: &Scene, on: On, count: usize) {
    let requests = scene.cluster.server.requests();
    scene.cluster.server.wait_until(LIMIT, || (requests.count(&on) >= count).then_some(())).await.expect("requests");
}

#[tokio::test]
async fn a_write_before_the_first_delete() {
    let scene = Scene::start().await;
    let command = scene.apply(&scene.plan(&[]), "backup").replace("--quiet=0", &format!("--quiet={LONG}"));
    let run = start(&scene, &command);
    // The first list of the watch, and that of the objects.
    sent(&scene, On::any().verb("list").resource("endpoints"), 2).await;
    sent(&scene, On::any().verb("watch").resource("endpoints"), 1).await;
    touch(&scene, "b");
    let (status, stderr) = end(run).await;
    assert_eq!(status, 1, "{stderr}");
    let is_found =
        stderr.contains("error: Endpoints shop/b were written") || stderr.contains("stale: shop/b was written");
    assert!(is_found, "{stderr}");
    assert_eq!(scene.cluster.server.requests().count(&On::writes()), 0);
    assert!(!scene.path("backup").exists());
}

/// The controllers of this project are on: the first object comes back.
#[tokio::test]
async fn a_controller_that_is_on() {
    let scene = Scene::start().await;
    let config = Config::from_kubeconfig(&scene.cluster.kubeconfig()).await.expect("a kubeconfig");
    let client = ClientSettings { qps: 0.0, ..ClientSettings::default() };
    let (settings, stop) = (Settings { client, ..Settings::default() }, CancellationToken::new());
    let mut controllers = JoinSet::new();
    controllers.spawn(Box::pin(endpoint_controller_manager::run(config, settings, stop.clone())));
    // They delete what is left over, and correct what was edited.
    let unsettled = async || {
        let diff = scene.cluster.run("diff -A -o name").await;
        diff.stdout + if scene.endpoints().contains_key("shop/gone") { "left over" } else { "" }
    };
    until("settled cluster", unsettled, String::is_empty).await;
    let plan = scene.plan(&["shop/edited", "shop/moved", "shop/held", "shop/lock"]);
    // If the object comes back late, the next pause shows it.
    let command =
        scene.apply(&plan, "backup").replace("--pause=0 --batch-size=2", &format!("--pause={LONG} --batch-size=1"));
    let before = scene.cluster.server.requests().count(&On::any().verb("delete").resource("endpoints"));
    let (status, stderr) = end(start(&scene, &command)).await;
    assert_eq!(status, 1, "{stderr}");
    // The watch names the writer. If it is slower, the list at the end of the wait has found the object.
    let is_found = stderr.contains(" were created again")
        && stderr.contains(" after their deletion: the endpoints controller is still on");
    assert!(is_found, "{stderr}");
    assert!(stderr.contains("switch it off by --controllers=*,-endpoints-controller"), "{stderr}");
    let deletes = scene.cluster.server.requests().count(&On::any().verb("delete").resource("endpoints")) - before;
    assert!((1..=2).contains(&deletes), "{deletes} deletes");
    stop.cancel();
    while let Some(ended) = controllers.join_next().await {
        ended.expect("no panic").expect("no error");
    }
}

/// The object is written after it was checked, and before its delete arrives.
#[tokio::test]
async fn an_object_that_changes_at_the_last_moment() {
    let scene = Scene::start().await;
    let server = &scene.cluster.server;
    let delay = Effect::DelayRequest { min_millis: 5_000, max_millis: 5_000 };
    let delete = On::any().verb("delete").resource("endpoints").namespace("shop").name("b");
    server.faults().inject(Fault::from(delay).on(delete).times(1));
    let run = start(&scene, &scene.apply(&scene.plan(&[]), "backup"));
    server.wait_until(LIMIT, || server.faults().unspent().is_empty().then_some(())).await.expect("the delete");
    touch(&scene, "b");
    let (status, stderr) = end(run).await;
    assert_eq!(status, 1, "{stderr}");
    assert!(stderr.contains("error: Endpoints shop/b were written"), "{stderr}");
    assert!(scene.endpoints().contains_key("shop/b"));
}

#[rstest]
#[case::interrupted("INT")]
#[case::terminated("TERM")]
#[tokio::test]
async fn a_signal(#[case] signal: &str) {
    let scene = Scene::start().await;
    let before = scene.endpoints();
    let command = scene.apply(&scene.plan(&["shop/edited", "shop/moved"]), "backup");
    let run = start(&scene, &command.replace("--pause=0", &format!("--pause={LONG}")));
    // The first one, and the first batch.
    sent(&scene, On::any().verb("delete").resource("endpoints"), 3).await;
    let id = run.id().expect("running").to_string();
    let killed = tokio::process::Command::new("kill").args(["-s", signal, &id]).status().await.expect("kill");
    assert!(killed.success());
    let (status, stderr) = end(run).await;
    assert_eq!(status, 1, "{stderr}");
    assert!(stderr.contains("creates them again.\nerror: stopped by a signal\n"), "{stderr}");
    assert_eq!(scene.assert_safe(&before, "backup").len(), 3);
    let run = scene.cluster.run(&command).await;
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(scene.assert_safe(&before, "backup"), DELETABLE);
}

/// The audit log has a reader before the start, readers of other objects and this program during the run, and then one of its objects.
#[tokio::test]
async fn a_reader_in_the_audit_log() {
    let scene = Scene::start().await;
    let before = scene.endpoints();
    let log = scene.path("audit.log");
    let line = |user: &str, agent: &str, namespace: &str| {
        let object = json!({"resource": "endpoints", "namespace": namespace});
        format!("{}\n", event("list", &json!({"user": {"username": user}, "userAgent": agent, "objectRef": object})))
    };
    fs::write(&log, line("early", "curl/8.5.0", "shop")).expect("written");
    let plan = scene.plan(&["shop/edited", "shop/moved"]);
    let command = format!("{} --watch-audit={}", scene.apply(&plan, "backup"), log.display());
    let run = start(&scene, &command.replace("--pause=0", &format!("--pause={LONG}")));
    let deletes = On::any().verb("delete").resource("endpoints");
    // The first one, and the first batch.
    sent(&scene, deletes.clone(), 3).await;
    let append = |lines: &[String]| {
        let mut file = OpenOptions::new().append(true).open(&log).expect("opened");
        file.write_all(lines.concat().as_bytes()).expect("written");
    };
    append(&[
        line("elsewhere", "curl/8.5.0", "lab"),
        line("this", "kubectl-endpoints/1.0.0 (linux/amd64)", "shop"),
        line("system:serviceaccount:shop:proxy", "proxy/1.0 (linux)", "shop"),
    ]);
    let (status, stderr) = end(run).await;
    assert_eq!(status, 1, "{stderr}");
    let expected = "error: ServiceAccount shop/proxy still reads Endpoints, among them shop/";
    assert!(stderr.contains(expected) && stderr.ends_with(": list in namespace shop (proxy/1.0)\n"), "{stderr}");
    assert_eq!(scene.assert_safe(&before, "backup").len(), 3);
    // That reader was before the start of the next run. Another one reads an object that is deleted already.
    assert!(!scene.endpoints().contains_key("quiet/e"));
    let lists = On::any().verb("list").resource("endpoints");
    let count = scene.cluster.server.requests().count(&lists);
    let run = start(&scene, &command.replace("--quiet=0", &format!("--quiet={LONG}")));
    sent(&scene, lists, count + 1).await;
    append(&[line("late", "curl/8.5.0", "quiet")]);
    let (status, stderr) = end(run).await;
    assert_eq!(status, 1, "{stderr}");
    assert!(stderr.contains("error: User late still reads Endpoints, among them quiet/e, "), "{stderr}");
    assert_eq!(scene.cluster.server.requests().count(&deletes), 3);
    let run = scene.cluster.run(&command).await;
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(scene.assert_safe(&before, "backup"), DELETABLE);
}

#[tokio::test]
async fn an_audit_log_that_is_missing() {
    let scene = Scene::start().await;
    let command = format!("{} --watch-audit={}", scene.apply(&scene.plan(&[]), "backup"), scene.path("none").display());
    let run = scene.cluster.run(&command).await;
    assert!(run.status == 2 && run.stderr.contains("cannot read ") && run.stderr.contains("/none"), "{run:?}");
    assert_eq!(scene.cluster.server.requests().count(&On::writes()), 0);
}

/// A watch that breaks loses no write, and its own deletes are no writes of others.
#[tokio::test]
async fn a_broken_watch_does_not_stop_a_run() {
    let scene = Scene::start().await;
    let before = scene.endpoints();
    let watch = On::any().verb("watch").resource("endpoints");
    let ends = Effect::EndWatch { after_millis: 1, how: kube_dev_apiserver::End::Expired };
    scene.cluster.server.faults().inject(Fault::from(ends).on(watch));
    let command = scene.apply(&scene.plan(&["shop/edited", "shop/moved"]), "backup");
    let run = timeout(LIMIT, scene.cluster.run(&command.replace("--quiet=0", "--quiet=100ms"))).await.expect("an end");
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(scene.assert_safe(&before, "backup"), DELETABLE);
}
