//! Lost responses.

use std::time::Duration;

use anyhow::Result;
use futures::FutureExt as _;
use kube_dev_apiserver::{Fault, On};

use super::{Hostile, Needs, World, checks::Counts, world::SLICES};
use crate::{Output, WriteBound};

const IP: &str = "10.1.0.1";

/// Maximum number of writes, besides those that are resent, if the profile bounds writes: twice those of upstream,
/// which creates a second slice and deletes it again.
const BOUND: usize = 6;

/// Time that a machine may lose during the scenario so that the watch is still faster than a retry: the first one follows
/// after a second.
const CALM: Duration = Duration::from_millis(500);

pub(super) fn scenarios() -> Vec<Hostile> {
    let about = "A create without a response leaves one slice.";
    let faults = [("reset", Fault::apply_then_reset()), ("timeout", Fault::apply_then_timeout())];
    let mut all = Vec::new();
    for (name, fault) in faults {
        for (prefix, output) in [("", Output::ServiceSlices), ("mirrored-", Output::MirroredSlices)] {
            for (suffix, late) in [("", Duration::ZERO), ("-late", Duration::from_secs(4))] {
                let needs = Needs::of(output);
                let name = format!("responses/{prefix}{name}{suffix}");
                let fault = fault.clone();
                all.push(Hostile::new(name, about, needs, move |world| {
                    unconfirmed_create(world, fault.clone(), output, late).boxed()
                }));
            }
        }
    }
    all
}

/// The response to a successful create is lost. With a late watch, the controller retries before it observes the slice.
async fn unconfirmed_create(world: &World, fault: Fault, output: Output, late: Duration) -> Result<()> {
    let creates = On::any().verb("create").resource(SLICES).namespace(&world.namespace);
    world.server()?.faults().inject(fault.on(creates).times(1));
    world.delay_watches(SLICES, late)?;
    let lost = world.clock().lost();
    // If the event of the first object arrived after that of the second, it would trigger another sync.
    if output == Output::MirroredSlices {
        world.service_without_selector("web").await?;
        world.settled().await?;
        world.endpoints_without_service("web", &[IP]).await?;
    } else {
        world.pod("web", "a", IP, true).await?;
        world.settled().await?;
        world.service("web").await?;
    }
    world.until_of(output, "web", &[IP]).await?;
    world.settled().await?;
    let slices = world.until_of(output, "web", &[IP]).await?;
    world.expect_one_slice(&slices)?;
    world.expect_at_most_one_slice_at_once()?;
    let Some(counts) = world.counts(SLICES)? else { return Ok(()) };
    // Until the watch delivers the slice, the create is retried with back-off and rejected.
    let mut resent = if late.is_zero() { 0..=0 } else { 1..=3 };
    let bound = BOUND + 2 * resent.end();
    if world.clock().lost().saturating_sub(lost) > CALM {
        world.note("the machine is busy: the watch may be slower than a retry, so retries are not counted");
        resent = 0..=usize::MAX;
    }
    match world.profile.writes {
        WriteBound::Exact => {
            world.expect_number("rejected writes", counts.rejected, resent, bound)?;
            world.expect_counts(SLICES, Counts { rejected: counts.rejected, ..Counts::of(1, 0, 0) })
        }
        WriteBound::Bounded => {
            let Counts { creates, updates, deletes, rejected } = counts;
            world.expect_number("writes", creates + updates + deletes + rejected, 0..=bound, bound)
        }
    }
}
