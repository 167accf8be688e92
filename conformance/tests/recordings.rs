//! The files themselves: they parse, they are in canonical form, and tell states apart.

use std::{collections::BTreeSet, path::Path};

use kube_endpoints_conformance::{Recording, compare, text};

fn recordings() -> Vec<(String, Recording)> {
    Recording::read_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings")).expect("recordings")
}

fn keys() -> BTreeSet<String> {
    let key = |(file, recording): (String, Recording)| {
        recording.scenarios.into_iter().map(move |scenario| format!("{file}/{}", scenario.name))
    };
    recordings().into_iter().flat_map(key).collect()
}

#[test]
fn every_file_is_there() {
    let recordings = recordings();
    let scenarios: usize = recordings.iter().map(|(_, recording)| recording.scenarios.len()).sum();
    assert_eq!((recordings.len(), scenarios), (9, 274));
    assert_eq!(keys().len(), scenarios, "a name twice in a file");
}

#[test]
fn expectations_are_canonical_and_equal_to_themselves() {
    for (file, recording) in recordings() {
        for scenario in recording.scenarios {
            for step in scenario.steps {
                let differences = compare(&step.expect, &step.expect, &scenario.tags);
                assert!(differences.is_empty(), "{file}/{}: {differences:?}", scenario.name);
                let texts = step.expect.slices.iter().map(text);
                assert!(texts.is_sorted(), "{file}/{}: slices out of order", scenario.name);
            }
        }
    }
}

/// If comparing were too lax, steps that change something would compare equal to the step before.
#[test]
fn most_steps_can_be_told_from_the_step_before() {
    let (mut changed, mut told) = (0, 0);
    for (_, recording) in recordings() {
        for scenario in recording.scenarios {
            for pair in scenario.steps.windows(2) {
                changed += usize::from(pair[0].expect != pair[1].expect);
                told += usize::from(!compare(&pair[0].expect, &pair[1].expect, &scenario.tags).is_empty());
            }
        }
    }
    assert!(told * 10 > changed * 9, "only {told} of {changed} changes are told apart");
}
