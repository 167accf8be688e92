use rstest::rstest;

use super::*;

const KCM: Option<&str> = Some("kube-controller-manager");

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A detector and the time at which it was made.
struct Rig {
    detector: Detector,
    start: Instant,
}

impl Rig {
    fn new() -> Rig {
        Rig { detector: Detector::default(), start: Instant::now() }
    }

    fn at(&self, second: u64) -> Instant {
        self.start + seconds(second)
    }

    fn write(&mut self, manager: Option<&str>, object: &str, second: u64) -> String {
        let at = self.at(second);
        self.detector.record(manager, slice(object), at).to_owned()
    }

    /// Writes of kube-controller-manager to five objects.
    fn second_writer(&mut self, second: u64) {
        let _ = ["a", "b", "c", "d", "e"].map(|object| self.write(KCM, object, second));
    }

    fn is_second_writer(&mut self, second: u64) -> bool {
        let at = self.at(second);
        self.detector.advance(at);
        self.detector.is_second_writer()
    }
}

fn slice(name: &str) -> Object {
    Object { resource: "endpointslices", key: ObjectKey::new("shop", name) }
}

#[rstest]
#[case::four_objects(&[("a", 0), ("b", 1), ("c", 2), ("d", 3)], false)]
#[case::five_objects(&[("a", 0), ("b", 1), ("c", 2), ("d", 3), ("e", 59)], true)]
#[case::too_slow(&[("a", 0), ("b", 1), ("c", 2), ("d", 3), ("e", 60)], false)]
#[case::the_window_moves(&[("a", 0), ("b", 30), ("c", 40), ("d", 50), ("e", 60), ("f", 70)], true)]
#[case::four_writes_of_one(&[("a", 0), ("a", 1), ("a", 2), ("b", 3), ("a", 4)], false)]
#[case::five_writes_of_one(&[("a", 0), ("a", 1), ("a", 2), ("b", 3), ("a", 4), ("a", 5)], true)]
fn a_manager_with_enough_writes_in_a_window_is_a_second_writer(#[case] writes: &[(&str, u64)], #[case] expected: bool) {
    let mut rig = Rig::new();
    for (object, second) in writes {
        rig.write(KCM, object, *second);
    }
    assert_eq!(rig.detector.is_second_writer(), expected);
    assert_eq!(rig.detector.second_writers().iter().any(|it| Some(it.as_str()) == KCM), expected);
}

#[test]
fn writes_of_several_managers_are_not_added_up() {
    let mut rig = Rig::new();
    for (manager, object) in [("kubectl-edit", "a"), ("kubectl-edit", "b"), ("kubectl-patch", "c"), ("helm", "d")] {
        rig.write(Some(manager), object, 0);
    }
    let _ = ["e", "f", "g", "h", "i", "j"].map(|object| rig.write(None, object, 0));
    assert!(!rig.detector.is_second_writer(), "a person, and deletions");
}

#[test]
fn a_second_writer_is_over_after_the_quiet_time() {
    let mut rig = Rig::new();
    rig.second_writer(0);
    assert_eq!(rig.detector.due(), Some(rig.at(300)));
    rig.write(KCM, "z", 200);
    rig.write(Some("kubectl-edit"), "z", 300);
    rig.write(None, "z", 400);
    assert!(rig.is_second_writer(499), "every write of the second writer counts");
    assert!(!rig.is_second_writer(500), "but not those of others");
    rig.write(KCM, "a", 501);
    assert!(!rig.detector.is_second_writer(), "the writes before the quiet time do not count any more");
}

#[test]
fn writes_that_are_recorded_after_a_second_writer_has_stopped_do_not_bring_it_back() {
    let mut rig = Rig::new();
    rig.second_writer(0);
    assert!(!rig.is_second_writer(300));
    rig.second_writer(1);
    assert!(!rig.detector.is_second_writer());
    rig.second_writer(301);
    assert!(rig.detector.is_second_writer());
}

#[test]
fn managers_with_a_label_of_their_own_are_bounded() {
    let mut rig = Rig::new();
    let labels: BTreeSet<String> =
        (0..100).map(|number| rig.write(Some(&format!("manager-{number}")), "a", 60 * number)).collect();
    assert_eq!(labels.len(), MAX_MANAGERS + 1);
    assert!(labels.contains(OTHER));
    assert_eq!(rig.write(Some("manager-0"), "a", 6_000), "manager-0");
    assert_eq!(rig.write(None, "a", 6_000), UNKNOWN);
    let _ = ["a", "b", "c", "d", "e"].map(|object| rig.write(Some("late"), object, 6_000));
    assert!(rig.detector.is_second_writer(), "a manager without a label of its own");
}

#[test]
fn warnings_are_a_minute_apart_and_sum_up() {
    let mut rig = Rig::new();
    assert_eq!(rig.detector.take_warning(rig.start), None);
    rig.write(KCM, "a", 0);
    let first = rig.detector.take_warning(rig.at(0)).expect("the first write");
    assert_eq!((first.writes[KCM.unwrap()], first.example), (1, slice("a")));
    assert_eq!(rig.detector.due(), None);
    rig.write(KCM, "b", 10);
    rig.write(None, "c", 20);
    assert_eq!(rig.detector.take_warning(rig.at(59)), None);
    assert_eq!(rig.detector.due(), Some(rig.at(60)));
    let second = rig.detector.take_warning(rig.at(60)).expect("two writes");
    assert_eq!(second.writes.into_iter().collect::<Vec<_>>(), [(KCM.unwrap().to_owned(), 1), (UNKNOWN.to_owned(), 1)]);
    assert_eq!(second.example, slice("b"));
}
