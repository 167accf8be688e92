//! Each write fails once, in each way; the object still reaches the desired state.

use kube_dev_apiserver::{Fault, On};
use kube_endpoints_testing::eventually;
use rstest::rstest;

use crate::rig::{NAMESPACE, Rig, read};
use crate::sync::{pod, web};

/// Waits until the stored object has these addresses. Each state that is read is applied to the cache.
async fn settles(rig: &Rig, expected: Option<&[&str]>) {
    let expected = expected.map(|addresses| addresses.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
    eventually("addresses", &expected, async || {
        let stored = rig.stored("web").await;
        match &stored {
            Some(object) => rig.endpoints.apply(object.clone()),
            None => rig.endpoints.replace([], "1"),
        }
        rig.endpoints.deliver();
        let subsets = stored?.subsets;
        Some(subsets.iter().flat_map(|it| &it.addresses).map(|it| it.ip.to_string()).collect())
    })
    .await;
}

#[rstest]
#[case::conflict(Fault::reject(409))]
#[case::not_found(Fault::reject(404))]
#[case::forbidden(Fault::reject(403))]
#[case::invalid(Fault::reject(422))]
#[case::broken(Fault::internal_error())]
#[case::reset(Fault::reset())]
#[case::applied_and_timed_out(Fault::apply_then_timeout())]
#[case::applied_and_reset(Fault::apply_then_reset())]
#[tokio::test]
async fn a_write_that_fails_once_is_repaired(
    #[case] fault: Fault,
    #[values(("create", 0), ("update", 0), ("update", 1), ("delete", 0))] position: (&str, u32),
) {
    let (verb, nth) = position;
    let mut rig = Rig::start(&[], &[pod("a", "10.0.0.1")], &[]).await;
    let on = On::any().verb(verb).resource("endpoints").namespace(NAMESPACE);
    rig.server.faults().inject(fault.on(on).after(nth).times(1));

    rig.service(&web(1));
    settles(&rig, Some(&["10.0.0.1"])).await;
    for (name, address) in [("b", "10.0.0.2"), ("c", "10.0.0.3")] {
        rig.pods.apply(read(&pod(name, address)));
        rig.pods.deliver();
        let expected: &[&str] =
            if name == "b" { &["10.0.0.1", "10.0.0.2"] } else { &["10.0.0.1", "10.0.0.2", "10.0.0.3"] };
        settles(&rig, Some(expected)).await;
    }
    // The object is up to date: another sync writes nothing.
    let before = rig.writes().await;
    rig.service(&web(2));
    assert_eq!(rig.writes().await, before);

    rig.services.delete(read(&web(3)));
    rig.services.deliver();
    if rig.writes().await.iter().any(|it| it == "delete web 404") && rig.stored("web").await.is_some() {
        // A delete answered with 404 succeeds (EP-1), so the next event of the Service finds the object.
        rig.service(&web(4));
        rig.services.delete(read(&web(5)));
        rig.services.deliver();
    }
    settles(&rig, None).await;
    let hits: u32 = rig.server.faults().states().iter().map(|state| state.hits).sum();
    assert_eq!(hits, 1, "number of injected failures");
}
