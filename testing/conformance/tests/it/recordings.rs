//! The recordings are complete and in canonical form, and the comparison distinguishes their states.

use std::{collections::BTreeSet, path::Path};

use kube_endpoints_conformance::{Recording, compare, text};

fn recordings() -> Vec<(String, Recording)> {
    Recording::builtin().expect("the recordings are valid")
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
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings").read_dir().expect("a directory");
    let files: BTreeSet<_> = files.map(|file| file.expect("an entry").file_name()).collect();
    let expect = recordings.iter().map(|(name, _)| format!("{name}.json").into());
    assert_eq!(files, expect.collect::<BTreeSet<_>>());
    let scenarios: usize = recordings.iter().map(|(_, recording)| recording.scenarios.len()).sum();
    assert_eq!((recordings.len(), scenarios), (9, 274));
    assert_eq!(keys().len(), scenarios, "a file contains a name twice");
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

/// The comparison is not too lax: most steps that change something differ from the previous step.
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
    assert!(told * 10 > changed * 9, "only {told} of {changed} changes are detected");
}
