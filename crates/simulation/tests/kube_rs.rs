//! The kube-rs example: the bug appears only under a plan, and the fixed version passes.

use kube_simulation::{Faults, Plan};
use rstest::rstest;

#[expect(dead_code, reason = "the test does not print")]
#[path = "../examples/kube_rs.rs"]
mod example;

use example::{LATE_PAGE, Version, delays, failing, simulation};

#[rstest]
#[case::calm(Version::Buggy, "", 0)]
#[case::late(Version::Buggy, LATE_PAGE, 1)]
#[case::fixed(Version::Fixed, LATE_PAGE, 0)]
fn violations(#[case] version: Version, #[case] plan: &str, #[case] expected: usize) {
    let plan: Plan = plan.parse().unwrap();
    let outcome = simulation(version, Faults::Planned(plan.clone())).run();
    assert_eq!(outcome.violations.len(), expected, "{:?}\n{}", outcome.violations, outcome.log.timeline());
    assert_eq!(outcome.plan, plan, "a planned fault was not injected");
}

#[test]
fn the_plan_is_one_of_those_found() {
    let late_page: Plan = LATE_PAGE.parse().unwrap();
    let calm = simulation(Version::Buggy, Faults::Planned(Plan::default())).run();
    assert!(delays(&calm.log).contains(&late_page));
    assert!(failing(Version::Buggy).contains(&late_page));
    assert_eq!(failing(Version::Fixed), []);
}

#[test]
fn runs_are_repeatable() {
    let run = |plan: &str| simulation(Version::Buggy, Faults::Planned(plan.parse().unwrap())).run().log.text();
    for plan in
        ["", LATE_PAGE, "controller/create/configmaps/1=refuse-503", "controller/event/configmaps/1=lose-request"]
    {
        assert_eq!(run(plan), run(plan));
    }
}
