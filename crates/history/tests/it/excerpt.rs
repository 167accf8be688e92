//! Parts of a history, and its end.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::{ObjectKey, Pod};
use kube_endpoints_history::{Archive, Change, ExcerptError, Select, What};
use proptest::prelude::*;

use crate::laws::{all_changes, of_service, state};
use crate::recording::{Recording, Step, begin, record, steps, time};

const NO_LIMIT: usize = usize::MAX;

fn excerpt(files: &[Vec<u8>], select: Select, since: Timestamp, until: Timestamp) -> Result<Archive, ExcerptError> {
    let excerpt = Archive::from_buffers(files.to_vec())?.excerpt(select, since, until, NO_LIMIT)?;
    Ok(Archive::from_buffers([excerpt])?)
}

/// Returns the changes until a time, and the gap after it that begins before.
fn until(changes: Vec<Change>, end: Timestamp) -> Vec<Change> {
    let is_within = |change: &Change| match &change.what {
        What::Gap(gap) => gap.since <= end,
        _ => change.seen <= end,
    };
    changes.into_iter().take_while(is_within).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_excerpt_has_the_states_and_changes_of_its_time(steps in steps(), from in 0..80_usize, length in 0..80_usize) {
        let Recording { files, states, .. } = record(&steps);
        let from = from.min(steps.len());
        let to = (from + length).min(steps.len());
        let part = match excerpt(&files, Select::All, time(from), time(to)) {
            Err(ExcerptError::Outside { to: end, .. }) => {
                prop_assert!(time(from) > end);
                return Ok(());
            }
            other => other,
        };
        let mut part = part.unwrap();
        prop_assert_eq!(state(&part.replay(Select::All, time(from)).unwrap()), states[from].clone());
        prop_assert_eq!(state(&part.replay(Select::All, time(to)).unwrap()), states[to].clone());
        let expected = until(all_changes(&mut Archive::from_buffers(files).unwrap(), Select::All, time(from)), time(to));
        prop_assert_eq!(all_changes(&mut part, Select::All, time(from)), expected);
        prop_assert!(part.end().unwrap() <= Some(time(to)));
    }

    #[test]
    fn an_excerpt_of_a_service_has_what_concerns_it(steps in steps(), from in 0..80_usize, length in 0..80_usize) {
        let Recording { files, states, .. } = record(&steps);
        let from = from.min(steps.len());
        let to = (from + length).min(steps.len());
        let web = ObjectKey::new("shop", "web");
        if let Ok(mut part) = excerpt(&files, Select::Service(web.clone()), time(from), time(to)) {
            for at in [from, to] {
                let replay = part.replay(Select::Service(web.clone()), time(at)).unwrap();
                prop_assert_eq!(of_service(&state(&replay), &web), of_service(&states[at], &web));
            }
        }
    }

    #[test]
    fn all_segments_are_the_whole_history(steps in steps(), cut in 0..64_usize) {
        let Recording { mut files, frames, .. } = record(&steps);
        // The last segment is being written.
        let last = files.last_mut().unwrap();
        last.truncate(frames[0].0.max(last.len().saturating_sub(cut)));
        let mut archive = Archive::from_buffers(files).unwrap();
        let mut starts: Vec<Timestamp> = archive.headers().map(|header| header.started).collect();
        starts.dedup();
        let segments: Vec<Vec<u8>> =
            starts.into_iter().map(|started| archive.segment(started, NO_LIMIT).unwrap()).collect();
        let mut parts = Archive::from_buffers(segments).unwrap();
        prop_assert_eq!(parts.end().unwrap(), archive.end().unwrap());
        let expected = all_changes(&mut archive, Select::All, Timestamp::MIN);
        prop_assert_eq!(all_changes(&mut parts, Select::All, Timestamp::MIN), expected);
    }

    #[test]
    fn a_history_reaches_to_its_last_mark(steps in steps(), cut in any::<bool>()) {
        let steps: Vec<_> = steps.into_iter().chain([Step::Mark]).collect();
        let Recording { mut files, frames, .. } = record(&steps);
        if cut {
            // The mark is lost.
            let file = files.last_mut().unwrap();
            file.pop();
            prop_assert!(file.len() < frames.last().unwrap().0);
        }
        let end = Archive::from_buffers(files).unwrap().end().unwrap();
        prop_assert_eq!(end == Some(time(steps.len())), !cut);
    }
}

#[test]
fn an_excerpt_has_a_limit() {
    let mut archive = Archive::from_buffers(record(&[]).files).unwrap();
    let whole = archive.excerpt(Select::All, time(0), time(0), NO_LIMIT).unwrap();
    assert_eq!(archive.excerpt(Select::All, time(0), time(0), whole.len()).unwrap(), whole);
    let error = archive.excerpt(Select::All, time(0), time(0), whole.len() - 1).unwrap_err();
    let expected = format!(
        "the excerpt has more than {} bytes: choose a shorter time, a namespace, or a Service",
        whole.len() - 1
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn an_excerpt_has_the_times_of_the_history() {
    let uneven = time(0) + SignedDuration::from_nanos(658_738_265);
    let whole = time(0) + SignedDuration::from_millis(658);
    let (mut encoder, mut file) = begin(uneven, &[], []);
    encoder.put(uneven, None, Arc::new(Pod { namespace: "shop".into(), name: "web-0".into(), ..Pod::default() }));
    encoder.end_segment(&mut file).unwrap();
    let mut archive = Archive::from_buffers([file]).unwrap();
    let excerpt = archive.excerpt(Select::All, whole, uneven, NO_LIMIT).unwrap();
    let mut excerpt = Archive::from_buffers([excerpt]).unwrap();
    for archive in [&mut archive, &mut excerpt] {
        let started = archive.headers().next().unwrap().started;
        assert_eq!(started, whole);
        let mut replay = archive.replay(Select::All, started).unwrap();
        while let Some(change) = replay.next_change().unwrap() {
            assert_eq!(change.seen, whole);
        }
        assert_eq!(replay.objects().count(), 1);
    }
}

#[test]
fn an_excerpt_has_a_limit_of_objects() {
    let pod = |number| {
        let (namespace, name) = ("shop".into(), format!("web-{number}").as_str().into());
        Arc::new(Pod { namespace, name, ..Pod::default() }).into()
    };
    let (_, file) = begin(time(0), &[], (0..=20_000).map(pod));
    let mut archive = Archive::from_buffers([file]).unwrap();
    let error = archive.excerpt(Select::All, time(0), time(0), NO_LIMIT).unwrap_err();
    let expected = "the excerpt has more than 20000 objects: choose a namespace, or a Service";
    assert!(matches!(error, ExcerptError::TooManyObjects { .. }) && error.to_string() == expected, "{error}");
    let web = ObjectKey::new("shop", "web");
    assert!(archive.excerpt(Select::Service(web), time(0), time(0), NO_LIMIT).is_ok());
    let segment = archive.segment(time(0), NO_LIMIT).unwrap();
    assert_eq!(archive.segment(time(0), segment.len()).unwrap(), segment);
    assert!(matches!(archive.segment(time(0), segment.len() - 1), Err(ExcerptError::TooLong { .. })));
    assert!(matches!(archive.segment(time(1), NO_LIMIT), Err(ExcerptError::NoSegment { .. })));
}

#[test]
fn a_time_outside_of_the_history_has_no_excerpt() {
    let mut archive = Archive::from_buffers(record(&[Step::Mark]).files).unwrap();
    let second = SignedDuration::from_secs(1);
    let mut excerpt = |since, until| archive.excerpt(Select::All, since, until, NO_LIMIT).map(|_| ());
    assert!(excerpt(Timestamp::MIN, Timestamp::MAX).is_ok());
    assert!(excerpt(time(1), time(1)).is_ok());
    for at in [time(0) - second, time(1) + second] {
        let error = excerpt(at, at).unwrap_err();
        assert!(matches!(error, ExcerptError::Outside { .. }), "{error}");
        let expected =
            "the history has no record of that time: it reaches from 2026-11-27T14:00:00Z to 2026-11-27T14:00:00.25Z";
        assert_eq!(error.to_string(), expected);
    }
    let empty = Archive::from_buffers([Vec::new()]).unwrap().excerpt(Select::All, time(0), time(0), NO_LIMIT);
    assert!(matches!(empty, Err(ExcerptError::Empty)));
}
