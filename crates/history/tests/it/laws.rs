//! What was recorded comes back.

use jiff::Timestamp;
use kube_endpoint_model::ObjectKey;
use kube_endpoints_history::{Archive, Change, Kind, Recorded, Replay, Select, What};
use proptest::prelude::*;

use crate::recording::{Recording, State, author, record, steps, time};

pub(crate) fn state(replay: &Replay<'_>) -> State {
    replay.objects().map(|object| ((object.kind(), object.key()), object.clone())).collect()
}

/// Returns what a reader of the Service has to know: its objects, the Nodes, and the Pods that it selects now.
pub(crate) fn of_service(state: &State, service: &ObjectKey) -> State {
    let selector = match state.get(&(Kind::Service, service.clone())) {
        Some(Recorded::Service(service)) => service.selector.clone(),
        _ => None,
    };
    let is_wanted = |object: &Recorded| match object {
        Recorded::Pod(pod) => selector.as_ref().is_some_and(|selector| pod.labels.contains_all(selector)),
        Recorded::EndpointSlice(slice) => slice.service_name() == Some(&*service.name),
        Recorded::Node(_) => true,
        other => other.key() == *service,
    };
    state.iter().filter(|(_, object)| is_wanted(object)).map(|(key, object)| (key.clone(), object.clone())).collect()
}

pub(crate) fn all_changes(archive: &mut Archive, select: Select, from: Timestamp) -> Vec<Change> {
    let mut replay = archive.replay(select, from).expect("a history");
    std::iter::from_fn(|| replay.next_change().expect("a history")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_state_comes_back(steps in steps(), at in 0..80_usize) {
        let Recording { files, states, .. } = record(&steps);
        let mut archive = Archive::from_buffers(files).unwrap();
        let at = at.min(steps.len());
        let mut replay = archive.replay(Select::All, time(at)).unwrap();
        prop_assert_eq!(state(&replay), states[at].clone());
        while let Some(change) = replay.next_change().unwrap() {
            prop_assert!(change.seen > time(at));
            let step = states.iter().enumerate().rposition(|(at, _)| time(at) <= change.seen).unwrap();
            match change.what {
                // Other changes of a restart have the same time.
                What::Put { after, .. } if change.author.is_some() => {
                    prop_assert_eq!(change.author, Some(author()));
                    prop_assert_eq!(states[step].get(&(after.kind(), after.key())), Some(&after));
                    prop_assert_eq!(state(&replay), states[step].clone());
                }
                What::Put { .. } | What::Gap(_) | What::Unknown(_) => {}
                What::Removed(before) => prop_assert!(!states[step].contains_key(&(before.kind(), before.key()))),
            }
        }
        prop_assert_eq!(&state(&replay), states.last().unwrap());
    }

    #[test]
    fn a_service_is_read_as_if_all_were(steps in steps(), at in 0..80_usize) {
        let Recording { files, states, .. } = record(&steps);
        let mut archive = Archive::from_buffers(files).unwrap();
        let web = ObjectKey::new("shop", "web");
        let at = at.min(steps.len());
        let mut replay = archive.replay(Select::Service(web.clone()), time(at)).unwrap();
        prop_assert_eq!(of_service(&state(&replay), &web), of_service(&states[at], &web));
        while replay.next_change().unwrap().is_some() {}
        prop_assert_eq!(of_service(&state(&replay), &web), of_service(states.last().unwrap(), &web));
    }

    #[test]
    fn each_change_is_seen_once(steps in steps()) {
        let Recording { files, .. } = record(&steps);
        let mut archive = Archive::from_buffers(files).unwrap();
        let all = all_changes(&mut archive, Select::All, Timestamp::MIN);
        let namespace = all_changes(&mut archive, Select::Namespace("shop".into()), Timestamp::MIN);
        prop_assert_eq!(&namespace, &all, "there is one namespace");
        for change in &all {
            if let What::Put { before, after } = &change.what {
                prop_assert_ne!(before.as_ref(), Some(after));
            }
        }
    }

    /// A crash may cut the last file anywhere.
    #[test]
    fn only_what_was_not_flushed_is_lost(steps in steps(), cut in any::<prop::sample::Index>()) {
        let Recording { mut files, states, frames } = record(&steps);
        let file = files.last_mut().unwrap();
        let length = frames[0].0 + cut.index(file.len() - frames[0].0 + 1);
        file.truncate(length);
        let (_, kept) = frames.iter().rfind(|(end, _)| *end <= length).unwrap();
        let mut archive = Archive::from_buffers(files).unwrap();
        let mut replay = archive.replay(Select::All, Timestamp::MAX).unwrap();
        while replay.next_change().unwrap().is_some() {}
        prop_assert_eq!(&state(&replay), &states[*kept]);
    }
}
