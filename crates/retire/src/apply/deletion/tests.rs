//! The order of the steps, and what stops them.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::ObjectState;
use crate::testing::read;

fn names(targets: &[Target]) -> Vec<&str> {
    targets.iter().map(|target| target.object.name()).collect()
}

/// Returns objects with these names, in the namespace `shop` or the one before the `/`. Those whose name begins with `old` are left over.
fn objects(names: &[&str]) -> (Vec<Target>, Vec<Arc<WholeEndpoints>>) {
    let read = |name: &&str| {
        let (namespace, name) = name.split_once('/').unwrap_or(("shop", name));
        Arc::new(read(namespace, name))
    };
    let objects: Vec<_> = names.iter().map(read).collect();
    let target = |object: &Arc<WholeEndpoints>| Target {
        object: Arc::clone(object),
        is_left_over: object.name().starts_with("old"),
    };
    (objects.iter().map(target).collect(), objects)
}

fn found(count: usize) -> Vec<Option<Found>> {
    let found = Found { is_unchanged: true, state: Some(ObjectState::Current), is_mirrored: false };
    vec![Some(found); count]
}

fn failed(may_have_been_applied: bool, of_all: bool, message: &str) -> Answer {
    Answer::Failed { may_have_been_applied, of_all, message: message.to_owned() }
}

/// How a server answers a delete.
#[derive(Clone, Copy, Debug)]
enum Reply {
    Deletes,
    Refuses,
    /// It does not answer; whether it has deleted the object.
    IsSilent(bool),
}

/// Does every step as if all went well but for the replies to deletes, and returns the steps.
fn steps(names_of: &[&str], batch_size: usize, mut reply: impl FnMut(&Target) -> Reply) -> (Vec<String>, Outcome) {
    let (targets, mut objects) = objects(names_of);
    let mut run = Deletion::new(targets, &objects, NonZeroUsize::new(batch_size).unwrap());
    let mut steps = Vec::new();
    loop {
        match run.step() {
            Step::Wait(wait) => {
                steps.push(format!("{wait:?}"));
                run.waited(&objects);
            }
            Step::BackUp(targets) => {
                steps.push(format!("back up {}", names(&targets).join(" ")));
                run.backed_up();
            }
            Step::Check(targets) => {
                steps.push(format!("check {}", names(&targets).join(" ")));
                let exists = |target: &Target| objects.contains(&target.object);
                let found = targets.iter().zip(found(targets.len()));
                run.checked(found.map(|(target, found)| found.filter(|_| exists(target))).collect());
            }
            Step::Delete(target) => {
                steps.push(format!("delete {}", target.object.name()));
                let reply = reply(&target);
                if matches!(reply, Reply::Deletes | Reply::IsSilent(true)) {
                    objects.retain(|object| object.uid() != target.object.uid());
                }
                run.answered(match reply {
                    Reply::Deletes => Answer::Deleted,
                    Reply::Refuses => failed(false, false, target.object.name()),
                    Reply::IsSilent(_) => failed(true, false, target.object.name()),
                });
            }
            Step::End => return (steps, run.outcome().clone()),
        }
    }
}

#[rstest]
#[case::none(&[], 2, "")]
#[case::one(&["a"], 2, "Quiet, back up a, check a, delete a, First")]
#[case::batches(
    &["a", "b", "c", "d"], 2,
    "Quiet, back up a b c d, check a, delete a, First, check b c, delete b, delete c, Pause, check d, delete d"
)]
#[case::left_overs_prove_nothing(&["old-a", "b"], 9, "Quiet, back up b old-a, check b, delete b, First, check old-a, delete old-a")]
#[case::only_left_overs(&["old-a", "old-b"], 1, "Quiet, back up old-a old-b, check old-a, delete old-a, Pause, check old-b, delete old-b")]
fn the_first_object_is_deleted_alone(#[case] names: &[&str], #[case] batch_size: usize, #[case] expected: &str) {
    let (steps, outcome) = steps(names, batch_size, |_| Reply::Deletes);
    assert_eq!(steps.join(", "), expected);
    assert_eq!((outcome.deleted.len(), outcome.stopped), (names.len(), None));
}

/// The replies to the deletes of an object: `!` refuses it, `?` does not answer, `+` does not answer either, but has deleted it. All
/// further deletes succeed.
#[rstest]
#[case::once(
    &["x/a", "x/b", "y/c", "y/d"], &[("a", "!")],
    "check a, delete a, check c, delete c, First, check d, delete d, Pause, check b a, delete b, delete a", "deleted c d b a"
)]
#[case::one_object(
    &["y/c", "x/a", "x/b"], &[("a", "!!")],
    "check a, delete a, check c, delete c, First, check b a, delete b, delete a", "deleted c b, remaining a, a"
)]
#[case::all_of_a_namespace(
    &["x/a", "x/b", "x/c", "x/d", "y/e"], &[("a", "!!"), ("b", "!!"), ("c", "!!")],
    "check a, delete a, check e, delete e, First, check b c, delete b, delete c", "deleted e, remaining b d a c, a"
)]
#[case::within_a_batch(
    &["w/a", "x/b", "y/c"], &[("b", "!")],
    "check a, delete a, First, check b c, delete b, delete c, Pause, check b, delete b", "deleted a c b"
)]
#[case::unanswered(
    &["w/a", "x/b", "x/c", "x/d", "x/e"], &[("b", "+"), ("c", "??"), ("d", "!!")],
    "check a, delete a, First, check b c, delete b, Pause, check c d, delete c, delete d", "deleted a, unanswered c b, remaining e d, b"
)]
#[case::applied(&["w/a", "x/b"], &[("b", "+")], "check a, delete a, First, check b, delete b, Pause, check b", "deleted a b")]
#[case::before_the_proof(&["x/a", "x/b"], &[("a", "!")], "check a, delete a", "remaining b a, a")]
#[case::before_left_overs(&["x/a", "y/old-b"], &[("a", "?")], "check a, delete a", "unanswered a, remaining old-b, a")]
#[case::everything(
    &["s/a", "t/b", "u/c", "v/d", "w/e", "x/f"], &[("b", "!"), ("c", "!"), ("d", "!"), ("e", "!"), ("f", "!")],
    "check a, delete a, First, check b c, delete b, delete c, Pause, check d e, delete d, delete e, Pause, check f, delete f",
    "deleted a, remaining b c d e f, b"
)]
fn where_a_delete_fails_the_rest_comes_last(
    #[case] names: &[&str],
    #[case] replies: &[(&str, &str)],
    #[case] expected: &str,
    #[case] lists: &str,
) {
    let mut sent = HashMap::new();
    let reply = |target: &Target| {
        let name = target.object.name().to_owned();
        let of_object = replies.iter().find(|(it, _)| *it == name).map_or("", |(_, replies)| *replies);
        let attempt = sent.entry(name).and_modify(|count| *count += 1).or_insert(0);
        match of_object.chars().nth(*attempt) {
            Some('!') => Reply::Refuses,
            Some(silent) => Reply::IsSilent(silent == '+'),
            None => Reply::Deletes,
        }
    };
    let (steps, outcome) = steps(names, 2, reply);
    assert_eq!(steps[2..].join(", "), expected);
    assert_eq!(shown(&outcome), lists);
}

/// Returns the lists that are not empty, and why the run was stopped.
fn shown(outcome: &Outcome) -> String {
    let Outcome { deleted, gone, unanswered, kept, remaining, stopped } = outcome;
    let kept: Vec<ObjectKey> = kept.iter().map(|(key, _)| key.clone()).collect();
    let lists =
        [("deleted", deleted), ("gone", gone), ("kept", &kept), ("unanswered", unanswered), ("remaining", remaining)];
    let lists = lists.into_iter().filter(|(_, keys)| !keys.is_empty());
    let mut text: Vec<String> = lists
        .map(|(name, keys)| keys.iter().fold(name.to_owned(), |text, key| format!("{text} {}", key.name)))
        .collect();
    text.extend(stopped.as_ref().map(ToString::to_string));
    text.join(", ")
}

/// Returns a run of `a`, `b` and `c` that has deleted `a`, and waits whether it comes back; with the objects that are left.
fn after_the_first() -> (Deletion, Vec<Arc<WholeEndpoints>>) {
    let (targets, mut objects) = objects(&["a", "b", "c"]);
    let mut run = Deletion::new(targets, &objects, NonZeroUsize::new(2).unwrap());
    run.waited(&objects);
    run.backed_up();
    run.checked(found(1));
    run.answered(Answer::Deleted);
    objects.remove(0);
    (run, objects)
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::new("shop", name)
}

/// A state of an object with another UID or version.
fn another(name: &str, from: &str, to: &str) -> Arc<WholeEndpoints> {
    use kube_wire::Decode as _;
    Arc::new(WholeEndpoints::from_json(read("shop", name).json().replace(from, to).as_bytes()).unwrap())
}

#[rstest]
#[case::created_again(|objects: &mut Vec<_>| objects.push(another("a", "uid-", "new-")), Some(Stop::Recreated { key: key("a"), by: None }))]
#[case::created(|objects: &mut Vec<_>| objects.push(another("d", "uid-", "new-")), Some(Stop::Written { key: key("d"), by: None }))]
#[case::written(|objects: &mut Vec<_>| objects[0] = another("b", "\"7\"", "\"8\""), Some(Stop::Written { key: key("b"), by: None }))]
#[case::deleted(
    |objects: &mut Vec<_>| drop(objects.pop()),
    Some(Stop::Failed("Endpoints were deleted during the run, and not by it".to_owned()))
)]
#[case::nothing(|_: &mut Vec<_>| (), None)]
fn writes_that_a_list_shows_stop_the_run(
    #[case] change: fn(&mut Vec<Arc<WholeEndpoints>>),
    #[case] expected: Option<Stop>,
) {
    let (mut run, mut objects) = after_the_first();
    change(&mut objects);
    run.waited(&objects);
    assert_eq!(run.outcome().stopped, expected);
    let remaining = if expected.is_some() { vec![key("b"), key("c")] } else { Vec::new() };
    assert_eq!(run.outcome().remaining, remaining);
}

#[rstest]
#[case::own_delete("a", Some("uid-shop-a"), None, false)]
#[case::own_delete_and_create("a", Some("uid-shop-a"), Some("new"), true)]
#[case::create("a", None, Some("new"), true)]
#[case::update("b", Some("uid-shop-b"), Some("uid-shop-b"), true)]
#[case::delete("b", Some("uid-shop-b"), None, true)]
fn writes_that_the_watch_shows_stop_the_run(
    #[case] name: &str,
    #[case] before: Option<&str>,
    #[case] after: Option<&str>,
    #[case] stops: bool,
) {
    let (mut run, _) = after_the_first();
    let (before, after) = (before.map(Uid::from), after.map(Uid::from));
    run.seen(key(name), before.as_ref(), after.as_ref(), Some("kube-controller-manager".to_owned()));
    assert_eq!(run.step() == Step::End, stops);
    let message = run.outcome().stopped.as_ref().map(ToString::to_string).unwrap_or_default();
    assert_eq!(message.contains(&format!("shop/{name} were")), stops, "{message}");
    assert_eq!(message.contains("by kube-controller-manager"), stops, "{message}");
}

#[rstest]
#[case::changed(Answer::Changed, "deleted a, kept b, remaining c, Endpoints shop/b were written")]
#[case::not_sent(failed(false, true, "refused"), "deleted a, remaining b c, refused")]
#[case::lost(failed(true, true, "reset"), "deleted a, unanswered b, remaining c, reset")]
#[case::gone(Answer::Gone, "deleted a, gone b")]
fn answers(#[case] answer: Answer, #[case] expected: &str) {
    let (mut run, objects) = after_the_first();
    run.waited(&objects);
    run.checked(found(2));
    run.answered(answer);
    let shown = shown(run.outcome());
    assert_eq!(shown.split(" during").next(), Some(expected));
}

#[test]
fn an_object_that_is_not_checked_stays() {
    let (mut run, objects) = after_the_first();
    run.waited(&objects);
    run.checked(found(1));
    assert_eq!(run.outcome().kept, [(key("c"), Kept::NotCompared)]);
    assert!(matches!(run.step(), Step::Delete(target) if target.object.name() == "b"));
}

#[rstest]
#[case::written(Some(Found { is_unchanged: false, state: Some(ObjectState::Current), is_mirrored: false }))]
#[case::deleted(None)]
fn writes_that_a_check_shows_stop_the_run(#[case] second: Option<Found>) {
    let (mut run, objects) = after_the_first();
    run.waited(&objects);
    run.checked(found(1).into_iter().chain([second]).collect());
    assert_eq!(run.outcome().stopped, Some(Stop::Written { key: key("c"), by: None }));
    assert_eq!((run.step(), &run.outcome().remaining), (Step::End, &vec![key("b")]));
}

/// A report to the run, whether the step expects it or not.
#[derive(Clone, Debug)]
enum Report {
    Waited { is_changed: bool },
    BackedUp,
    Checked(Vec<Option<Found>>),
    Answered(Answer),
    Seen(bool),
    Stop,
}

fn report() -> impl Strategy<Value = Report> {
    let state = prop_oneof![Just(None), Just(Some(ObjectState::Current)), Just(Some(ObjectState::Differs))];
    let seen = (prop::bool::weighted(0.8), state, prop::bool::weighted(0.2))
        .prop_map(|(is_unchanged, state, is_mirrored)| Found { is_unchanged, state, is_mirrored });
    let answer = prop_oneof![
        6 => Just(Answer::Deleted),
        1 => Just(Answer::Gone),
        1 => Just(Answer::Changed),
        2 => any::<(bool, bool)>().prop_map(|(may_have_been_applied, of_all)| failed(may_have_been_applied, of_all, "")),
    ];
    prop_oneof![
        4 => prop::bool::weighted(0.05).prop_map(|is_changed| Report::Waited { is_changed }),
        2 => Just(Report::BackedUp),
        4 => prop::collection::vec(prop::option::weighted(0.9, seen), 0..4).prop_map(Report::Checked),
        8 => answer.prop_map(Report::Answered),
        1 => prop::bool::weighted(0.9).prop_map(Report::Seen),
        1 => Just(Report::Stop),
    ]
}

proptest! {
    /// Whatever is reported and in which order: only objects that are in the backup are deleted, each once, or again after a failure, and only
    /// if the last check allows it, nothing after the end, and each target is in one list of the outcome.
    #[test]
    fn only_what_is_backed_up_is_deleted(count in 0_usize..7, batch_size in 1_usize..4, reports in prop::collection::vec(report(), 0..80)) {
        let all: Vec<String> = (0..count).map(|number| format!("ns{}/{}{number}", number % 2, if number % 3 == 2 { "old" } else { "web" })).collect();
        let (targets, mut objects) = objects(&all.iter().map(String::as_str).collect::<Vec<_>>());
        let mut run = Deletion::new(targets, &objects, NonZeroUsize::new(batch_size).unwrap());
        let (mut file, mut allowed, mut sent) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for report in reports {
            let step = run.step();
            if let Step::Delete(target) = &step {
                let name = target.object.name().to_owned();
                prop_assert!(file.contains(&name), "{name} is not in the file");
                prop_assert!(allowed.contains(&name), "{name} was not checked");
            }
            match report {
                Report::Waited { is_changed } if is_changed => run.waited(&[another("web9", "uid-", "new-")]),
                Report::Waited { .. } => run.waited(&objects),
                Report::BackedUp => {
                    if let Step::BackUp(targets) = &step {
                        file.extend(targets.iter().map(|target| target.object.name().to_owned()));
                    }
                    run.backed_up();
                }
                Report::Checked(found) => {
                    if let Step::Check(targets) = &step {
                        let pairs = targets.iter().zip(&found);
                        let passed = pairs.filter(|(_, found)| found.as_ref().is_some_and(|it| it.forbidden().is_none()));
                        allowed.extend(passed.map(|(target, _)| target.object.name().to_owned()));
                    }
                    run.checked(found);
                }
                Report::Answered(answer) => {
                    if let Step::Delete(target) = &step {
                        let is_kept = matches!(answer, Answer::Failed { may_have_been_applied: false, .. });
                        prop_assert!(sent.insert(target.object.uid()), "{} is deleted twice", target.object.name());
                        if matches!(answer, Answer::Failed { .. }) {
                            sent.remove(&target.object.uid());
                            allowed.remove(target.object.name());
                        }
                        objects.retain(|object| object.uid() != target.object.uid() || is_kept);
                    }
                    run.answered(answer);
                }
                Report::Seen(is_own) => {
                    let uid = sent.iter().next().cloned().filter(|_| is_own);
                    run.seen(key("web0"), Some(&uid.unwrap_or_else(|| Uid::from("foreign"))), None, None);
                }
                Report::Stop => run.stop(Stop::Signal),
            }
            if step == Step::End {
                prop_assert_eq!(run.step(), Step::End);
            }
        }
        run.stop(Stop::Signal);
        let Outcome { deleted, gone, unanswered, kept, remaining, .. } = run.outcome().clone();
        let kept = kept.into_iter().map(|(key, _)| key);
        let mut listed: Vec<String> =
            [deleted, gone, unanswered, remaining].into_iter().flatten().chain(kept).map(|key| key.to_string()).collect();
        listed.sort();
        prop_assert_eq!(listed, all.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>());
    }

    /// Whatever fails: the run ends, each target is in one list, which says what is true, and no left-over is deleted before the proof
    /// as long as other objects remain.
    #[test]
    fn each_target_is_in_the_right_list(
        targets in prop::collection::vec((0..8_u8, prop::bool::weighted(0.3)), 0..20),
        batch_size in 1_usize..4,
        replies in prop::collection::vec(prop_oneof![
            3 => Just(Reply::Deletes),
            2 => Just(Reply::Refuses),
            1 => any::<bool>().prop_map(Reply::IsSilent),
        ], 1..60),
    ) {
        let name = |(number, (namespace, is_old)): (usize, &(u8, bool))| {
            format!("ns{namespace}/{}{number}", if *is_old { "old" } else { "web" })
        };
        let all: Vec<String> = targets.iter().enumerate().map(name).collect();
        let (mut log, mut next) = (Vec::new(), replies.iter().cycle());
        let (_, outcome) = steps(&all.iter().map(String::as_str).collect::<Vec<_>>(), batch_size, |target| {
            let reply = *next.next().unwrap();
            log.push((target.object.key().to_string(), target.is_left_over, reply));
            reply
        });
        let has_deleted = |reply: &Reply| matches!(reply, Reply::Deletes | Reply::IsSilent(true));
        let is_gone = |key: &str| log.iter().any(|(it, _, reply)| it == key && has_deleted(reply));
        let keys = |list: &[ObjectKey]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (deleted, unanswered, remaining) = (keys(&outcome.deleted), keys(&outcome.unanswered), keys(&outcome.remaining));
        prop_assert!(deleted.iter().all(|key| is_gone(key)) && !remaining.iter().any(|key| is_gone(key)), "{:?}", outcome);
        let first = log.iter().find(|(_, _, reply)| !matches!(reply, Reply::Deletes)).and_then(|(key, ..)| key.split('/').nth(1));
        let stopped = first.filter(|_| !(unanswered.is_empty() && remaining.is_empty())).map(|name| Stop::Failed(name.to_owned()));
        prop_assert_eq!(&outcome.stopped, &stopped, "{:?}", outcome);
        let proof = log.iter().position(|(_, is_left_over, reply)| !is_left_over && matches!(reply, Reply::Deletes));
        let has_others = targets.iter().any(|(_, is_old)| !is_old);
        let before = log.iter().take(proof.unwrap_or(log.len()));
        prop_assert!(!has_others || before.filter(|(_, is_left_over, _)| *is_left_over).count() == 0, "{:?}", log);
        let mut listed = [deleted, unanswered, remaining].concat();
        listed.sort();
        prop_assert_eq!(listed, all.into_iter().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>());
    }
}
