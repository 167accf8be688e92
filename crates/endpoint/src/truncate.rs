//! The maximum number of addresses of an Endpoints object.

use kube_endpoint_model::EndpointSubset;

/// Maximum number of addresses of an Endpoints object, ready or not (EP-21).
pub const MAX_ADDRESSES: usize = 1_000;

/// Truncates subsets to [`MAX_ADDRESSES`] addresses in total (EP-21). Returns whether any were removed.
///
/// Ready addresses take precedence: if they exceed the limit, all others are removed, otherwise the others fill the
/// rest. The limit is divided between the subsets in proportion to their addresses, rounded up, so the last subsets may
/// get less. A subset that loses all addresses is removed; upstream keeps it, and the API server rejects the object (EC-54).
pub(crate) fn truncate(subsets: &mut Vec<EndpointSubset>) -> bool {
    let ready: usize = subsets.iter().map(|subset| subset.addresses.len()).sum();
    let not_ready: usize = subsets.iter().map(|subset| subset.not_ready_addresses.len()).sum();
    if ready + not_ready <= MAX_ADDRESSES {
        return false;
    }
    let cut_ready = ready > MAX_ADDRESSES;
    let (total, budget) = if cut_ready { (ready, MAX_ADDRESSES) } else { (not_ready, MAX_ADDRESSES - ready) };
    let mut left = budget;
    for subset in subsets.iter_mut() {
        let cut = if cut_ready {
            subset.not_ready_addresses.clear();
            &mut subset.addresses
        } else {
            &mut subset.not_ready_addresses
        };
        let quota = share(cut.len(), total, budget).min(left);
        cut.truncate(quota);
        left -= cut.len();
    }
    subsets.retain(|subset| !subset.addresses.is_empty() || !subset.not_ready_addresses.is_empty());
    true
}

/// Returns `budget * part / total`, rounded up.
///
/// It is computed in floating point in the order of upstream, since rounding errors can make the result one larger than
/// the exact one, which is visible in the object.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of addresses are far below 2^52 and not negative"
)]
fn share(part: usize, total: usize, budget: usize) -> usize {
    (part as f64 / total as f64 * budget as f64).ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube_endpoint_model::{Address, EndpointAddress};
    use rstest::rstest;

    fn addresses(count: usize) -> Vec<EndpointAddress> {
        let address =
            EndpointAddress { hostname: "".into(), ip: Address::new("10.0.0.1"), node_name: None, target_ref: None };
        vec![address; count]
    }

    // upstream: TestTruncateEndpoints
    #[rstest]
    #[case::empty(&[], &[], false)]
    #[case::below(&[(50, 40)], &[(50, 40)], false)]
    #[case::at(&[(500, 500)], &[(500, 500)], false)]
    #[case::not_ready_are_cut_first(&[(600, 500)], &[(600, 400)], true)]
    #[case::several_subsets(&[(300, 100), (300, 400)], &[(300, 80), (300, 320)], true)]
    #[case::ready_are_cut_and_others_dropped(&[(900, 10), (300, 200)], &[(750, 0), (250, 0)], true)]
    #[case::the_last_gets_what_is_left(&[(401, 0), (401, 0), (401, 0)], &[(334, 0), (334, 0), (332, 0)], true)]
    #[case::a_subset_loses_all(&[(1_100, 0), (0, 5)], &[(1_000, 0)], true)]
    #[case::nothing_is_left_for_the_last(&[(400, 0), (400, 0), (399, 0), (1, 0)], &[(334, 0), (334, 0), (332, 0)], true)]
    fn truncates(#[case] before: &[(usize, usize)], #[case] after: &[(usize, usize)], #[case] expected: bool) {
        let mut subsets: Vec<EndpointSubset> = before
            .iter()
            .map(|(ready, not_ready)| EndpointSubset {
                addresses: addresses(*ready),
                not_ready_addresses: addresses(*not_ready),
                ports: vec![],
            })
            .collect();
        assert_eq!(truncate(&mut subsets), expected);
        let sizes: Vec<_> = subsets.iter().map(|it| (it.addresses.len(), it.not_ready_addresses.len())).collect();
        assert_eq!(sizes, after);
    }
}
