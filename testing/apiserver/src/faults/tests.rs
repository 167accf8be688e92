//! Evaluation of faults and their JSON.

use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rstest::rstest;

use super::table::Answer;
use super::*;

fn millis(count: u64) -> std::time::Duration {
    std::time::Duration::from_millis(count)
}

fn table() -> FaultTable {
    FaultTable::new(StdRng::seed_from_u64(1))
}

fn request<'a>(verb: &'a str, resource: &'a str, name: &'a str) -> RequestFields<'a> {
    RequestFields {
        verb,
        group: "",
        resource,
        name,
        namespace: "default",
        user: "u",
        user_agent: "test/v1 (x)",
        subresource: "",
    }
}

#[rstest]
#[case::all(On::any(), true)]
#[case::verb(On::any().verb("create"), true)]
#[case::one_of_verbs(On::any().verb("get").verb("create"), true)]
#[case::other_verb(On::any().verb("get"), false)]
#[case::writes(On::writes(), true)]
#[case::resource(On::any().resource("pods"), true)]
#[case::other_resource(On::any().resource("nodes"), false)]
#[case::itself(On::any().subresource(""), true)]
#[case::part(On::any().subresource("status"), false)]
#[case::namespace(On::any().namespace("default"), true)]
#[case::other_namespace(On::any().namespace("x"), false)]
#[case::name(On::any().name("web"), true)]
#[case::other_name(On::any().name("db"), false)]
#[case::user(On::any().user("u"), true)]
#[case::other_user(On::any().user("v"), false)]
#[case::agent(On::any().user_agent("test/"), true)]
#[case::other_agent(On::any().user_agent("kubectl"), false)]
#[case::all_must_hold(On::writes().resource("pods").name("db"), false)]
fn selectors_match_requests(#[case] on: On, #[case] expect: bool) {
    assert_eq!(on.matches(&request("create", "pods", "web")), expect);
}

#[rstest]
#[case::any(On::any(), true)]
#[case::resource(On::any().resource("pods"), true)]
#[case::itself(On::any().resource("pods").subresource(""), false)]
#[case::part(On::any().resource("pods").subresource("status"), true)]
fn resource_selects_its_subresources(#[case] on: On, #[case] expect: bool) {
    let status = RequestFields { subresource: "status", ..request("patch", "pods", "web") };
    assert_eq!(on.matches(&status), expect);
}

/// Which of six creates of a pod are hit (`x`).
#[rstest]
#[case::always(Fault::reset(), "xxxxxx")]
#[case::twice(Fault::reset().times(2), "xx....")]
#[case::later(Fault::reset().after(3), "...xxx")]
#[case::once_later(Fault::reset().after(2).times(1), "..x...")]
#[case::never(Fault::reset().probability(0.0), "......")]
#[case::sometimes(Fault::reset().probability(0.5), "..xxx.")]
#[case::others(Fault::reset().on(On::any().resource("nodes")), "......")]
#[case::no_watch(Fault::end_watch(std::time::Duration::ZERO, End::Cleanly), "......")]
fn hits_depend_on_after_times_and_probability(#[case] fault: Fault, #[case] expect: &str) {
    let mut table = table();
    let id = table.inject(fault);
    let hit = |_| if table.decide(&request("create", "pods", "a")).answer == Answer::Reset { 'x' } else { '.' };
    let got: String = (0..6).map(hit).collect();
    assert_eq!(got, expect);
    let state = table.remove(id).unwrap();
    assert_eq!(state.hits as usize, expect.matches('x').count());
    assert!(table.states().is_empty());
}

#[test]
fn first_response_fault_wins_and_later_ones_are_not_counted() {
    let mut table = table();
    table.inject(Fault::unavailable().times(1));
    table.inject(Fault::internal_error().times(1));
    let answers: Vec<Answer> = (0..3).map(|_| table.decide(&request("get", "pods", "a")).answer).collect();
    let reject = |code| Answer::Reject { code, retry_after: None };
    assert_eq!(answers, [reject(503), reject(500), Answer::Normal]);
}

#[test]
fn delays_add_up_and_stream_effects_are_returned() {
    let mut table = table();
    let ms = std::time::Duration::from_millis;
    table.inject(Fault::delay_request(ms(5), ms(5)));
    table.inject(Fault::delay_request(ms(7), ms(7)));
    table.inject(Fault::trickle(3, ms(1)));
    table.inject(Fault::end_watch(ms(9), End::Reset));
    let decision = table.decide(&request("watch", "pods", ""));
    assert_eq!(decision.delay, ms(12));
    let mut stream = decision.stream.unwrap();
    assert_eq!(stream.end, Some((ms(9), End::Reset)));
    assert_eq!(stream.draw_delay(), None);
    for available in [1, 2, 100] {
        let (piece, pause) = stream.draw_piece(available).unwrap();
        assert!((1..=3.min(available)).contains(&piece) && pause == ms(1), "{piece}");
    }
}

/// Names of the objects `a/1`, `a/2`, `b/3` and `b/4` that are left.
#[rstest]
#[case::all(None, 0, "")]
#[case::all_but_three(None, 3, "123")]
#[case::of_one_namespace(Some("a"), 0, "34")]
#[case::of_the_other_but_one(Some("b"), 1, "123")]
#[case::of_none(Some("c"), 0, "1234")]
fn objects_are_omitted(#[case] namespace: Option<&str>, #[case] keep: usize, #[case] expect: &str) {
    let mut table = table();
    table.inject(Effect::OmitObjects { namespace: namespace.map(str::to_owned), keep }.into());
    for verb in ["list", "watch"] {
        let mut objects = vec![("a", "1"), ("a", "2"), ("b", "3"), ("b", "4")];
        table.decide(&request(verb, "pods", "")).omission.unwrap().apply(&mut objects, |(namespace, _)| namespace);
        assert_eq!(objects.into_iter().map(|(_, name)| name).collect::<String>(), expect);
    }
    assert_eq!(table.decide(&request("get", "pods", "a")).omission, None);
}

#[test]
fn same_seed_hits_the_same_requests() {
    let run = || {
        let mut table = table();
        table.inject(Fault::reset().probability(0.3));
        table.inject(Fault::trickle(9, std::time::Duration::ZERO).probability(0.5));
        (0..100)
            .map(|_| {
                let decision = table.decide(&request("list", "pods", ""));
                (decision.answer, decision.stream.and_then(|mut stream| stream.draw_piece(100)))
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}

#[rstest]
#[case(r#"{"effect": "reset"}"#, Some(Fault::reset()))]
#[case(
    r#"{"effect": {"reject": {"code": 429, "retryAfterSeconds": 2}}, "on": {"verbs": ["list"], "resource": "pods"}, "times": 3}"#,
    Some(Fault::too_many_requests(std::time::Duration::from_secs(2)).on(On::any().verb("list").resource("pods")).times(3))
)]
#[case(
    r#"{"effect": {"endWatch": {"afterMillis": 50, "how": "expired"}}, "probability": 0.5}"#,
    Some(Fault::end_watch(millis(50), End::Expired).probability(0.5))
)]
#[case(r#"{"effect": {"reject": {"code": 410}}}"#, Some(Fault::expired()))]
#[case(r#"{"effect": {"reject": {"code": 500}}}"#, Some(Fault::internal_error()))]
#[case(r#"{"effect": {"reject": {"code": 503}}}"#, Some(Fault::unavailable()))]
#[case(r#"{"effect": "applyThenTimeout"}"#, Some(Fault::apply_then_timeout()))]
#[case(r#"{"effect": "applyThenReset"}"#, Some(Fault::apply_then_reset()))]
#[case(
    r#"{"effect": {"delayRequest": {"minMillis": 1, "maxMillis": 9}}}"#,
    Some(Fault::delay_request(millis(1), millis(9)))
)]
#[case(
    r#"{"effect": {"delayEvents": {"minMillis": 1, "maxMillis": 9}}}"#,
    Some(Fault::delay_events(millis(1), millis(9)))
)]
#[case(r#"{"effect": {"omitObjects": {}}}"#, Some(Fault::omit_objects()))]
#[case(
    r#"{"effect": {"omitObjects": {"namespace": "a", "keep": 3}}}"#,
    Some(Effect::OmitObjects { namespace: Some("a".to_owned()), keep: 3 }.into())
)]
#[case(r#"{"effect": {"trickle": {"maxBytes": 7, "pauseMillis": 2}}}"#, Some(Fault::trickle(7, millis(2))))]
#[case(r#"{"effect": "reset", "tiems": 3}"#, None)]
#[case(r#"{"effect": "reset", "on": {"verbs": ["list", "read"]}}"#, None)]
fn faults_round_trip_as_json(#[case] text: &str, #[case] expect: Option<Fault>) {
    let fault: Option<Fault> = serde_json::from_str(text).ok();
    assert_eq!(fault, expect);
    if let Some(fault) = fault {
        assert_eq!(serde_json::from_str::<Fault>(&serde_json::to_string(&fault).unwrap()).unwrap(), fault);
    }
}
