//! The result of decoding does not depend on how the body is split into chunks.

use kube_endpoints_testing::fixture;
use kube_wire::{Encoding, WatchEvent};
use proptest::prelude::*;

use crate::{
    fixtures::{list, suffix, watch},
    meta::{Kind, Meta, Pods, Slices},
};

fn encoding() -> impl Strategy<Value = Encoding> {
    prop_oneof![Just(Encoding::Json), Just(Encoding::Protobuf)]
}

/// Splits `body` at these positions, given as fractions of its length.
fn split<'a>(body: &'a [u8], points: &[f64]) -> Vec<&'a [u8]> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "offsets")]
    let mut offsets: Vec<_> = points.iter().map(|point| (point * body.len() as f64) as usize).collect();
    offsets.extend([0, body.len()]);
    offsets.sort_unstable();
    offsets.windows(2).map(|pair| &body[pair[0]..pair[1]]).collect()
}

fn split_points() -> impl Strategy<Value = Vec<f64>> {
    // Either a few points, or so many that most items are cut.
    prop_oneof![prop::collection::vec(0.0..1.0, 0..5), prop::collection::vec(0.0..1.0, 300..400)]
}

fn same_list<K: Kind>(encoding: Encoding, points: &[f64]) {
    let body = fixture(&format!("{}.list.{}", K::FILE, suffix(encoding)));
    assert_eq!(list::<K>(encoding, split(&body, points)), list::<K>(encoding, [&body[..]]));
}

fn same_watch<K: Kind>(encoding: Encoding, points: &[f64]) {
    let body = fixture(&format!("{}.watch.{}", K::FILE, suffix(encoding)));
    assert_eq!(watch::<K>(encoding, split(&body, points)), watch::<K>(encoding, [&body[..]]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn lists_do_not_depend_on_chunks(encoding in encoding(), points in split_points()) {
        same_list::<Pods>(encoding, &points);
        same_list::<Slices>(encoding, &points);
    }

    #[test]
    fn watches_do_not_depend_on_chunks(encoding in encoding(), points in split_points()) {
        same_watch::<Pods>(encoding, &points);
        same_watch::<Slices>(encoding, &points);
    }

    /// A truncated list is an error; a truncated watch yields a prefix of its events.
    #[test]
    fn truncated_list_fails_and_truncated_watch_yields_a_prefix(encoding in encoding(), end in 0.0..0.999) {
        let body = fixture(&format!("pod.list.{}", suffix(encoding)));
        let [kept, ..] = split(&body, &[end])[..] else { unreachable!("one cut gives two chunks") };
        prop_assert!(list::<Pods>(encoding, [kept]).is_err());

        let body = fixture(&format!("pod.watch.{}", suffix(encoding)));
        let (all, _) = watch::<Pods>(encoding, [&body[..]]);
        let [kept, ..] = split(&body, &[end])[..] else { unreachable!("one cut gives two chunks") };
        let (some, _): (Vec<WatchEvent<Meta<Pods>>>, _) = watch(encoding, [kept]);
        prop_assert_eq!(&some[..], &all[..some.len()]);
    }
}
