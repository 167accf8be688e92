//! Comparison of the measurements with the Go controllers and with the goals.

use super::{
    go_writes::GoWrites,
    outcome::{Outcome, mib},
    table::{number, table},
};

/// Row of the table of goals.
struct Goal {
    /// Name of the measurement.
    name: &'static str,
    work: &'static str,
    /// Measurement of kube-controller-manager 1.36.2, see `docs/src/scale.md`.
    go: &'static str,
    aim: &'static str,
    measured: fn(&Outcome) -> String,
    met: fn(&Outcome) -> bool,
}

const GOALS: &[Goal] = &[
    Goal {
        name: "start",
        work: "start to everything written: 20,000 Pods, 1,000 Services, 500 Nodes",
        go: "4.9 s CPU, 482 MiB",
        aim: "0.5 s, 30 MiB",
        measured: cpu_and_memory,
        met: |it| it.cpu() <= 0.5 && mib(it.usage.peak_kib) <= 30.0,
    },
    Goal {
        name: "resume",
        work: "start with everything in place",
        go: "4.2 s CPU, 550 MiB, 0 writes",
        aim: "0.25 s, 25 MiB, 0 writes",
        measured: |it| format!("{}, {} writes", cpu_and_memory(it), it.counts.writes()),
        met: |it| it.cpu() <= 0.25 && mib(it.usage.peak_kib) <= 25.0 && it.counts.writes() == 0,
    },
    Goal {
        name: "churn",
        work: "readiness churn over these, 160 flips a second, CPU a flip",
        go: "1.70 ms",
        aim: "0.17 ms",
        measured: cpu_of_a_change,
        met: |it| it.cpu_of_a_change().is_some_and(|it| it <= 0.17),
    },
    Goal {
        name: "shadow-churn",
        work: "shadow mode beside an instance that writes, with the same churn",
        go: "no shadow mode",
        aim: "40 MiB",
        measured: cpu_and_memory,
        met: |it| mib(it.usage.peak_kib) <= 40.0,
    },
    Goal {
        name: "switch",
        work: "switch to another instance while nothing changes: writes of slices and Endpoints",
        go: "not measured",
        aim: "0",
        measured: |it| writes_of_both(it).to_string(),
        met: |it| writes_of_both(it) == 0,
    },
    Goal {
        name: "switch-churn",
        work: "switch while readiness changes 50 times a second, p50 / p99 / max",
        go: "not measured",
        aim: "at most 2 s",
        measured: percentiles,
        met: |it| it.latencies.as_ref().is_some_and(|it| it.max <= 2_000.0),
    },
    Goal {
        name: "namespace",
        work: "one namespace of 3,000 Services and 3,000 Pods: filling it",
        go: "40.2 s CPU, 750 MiB",
        aim: "1.5 s, 40 MiB",
        measured: cpu_and_memory,
        met: |it| it.cpu() <= 1.5 && mib(it.usage.peak_kib) <= 40.0,
    },
    Goal {
        name: "namespace-churn",
        work: "readiness churn there, CPU a flip",
        go: "4.1 ms",
        aim: "0.17 ms",
        measured: cpu_of_a_change,
        met: |it| it.cpu_of_a_change().is_some_and(|it| it <= 0.17),
    },
    Goal {
        name: "big",
        work: "150,000 Pods, 10,000 Services, 5,000 Nodes, synced and written",
        go: "about 3 GiB (extrapolated)",
        aim: "200 MiB",
        measured: cpu_and_memory,
        met: |it| mib(it.usage.peak_kib) <= 200.0,
    },
    Goal {
        name: "latency-20",
        work: "readiness acknowledged to slice seen, 20 a second, p50 / p99 / max",
        go: "5.5 / 12.5 / 22 ms",
        aim: "3.3 / 7 / 10 ms",
        measured: percentiles,
        met: |it| within(it, [3.3, 7.0, 10.0]),
    },
    Goal {
        name: "latency-100",
        work: "the same, 100 a second",
        go: "9.2 / 67 / 96 ms",
        aim: "3.3 / 15 / 30 ms",
        measured: percentiles,
        met: |it| within(it, [3.3, 15.0, 30.0]),
    },
    Goal {
        name: "limits-auto",
        work: "the same, 60 a second, with `--kube-api-qps=auto`",
        go: "no such limit",
        aim: "p99 of 50 ms",
        measured: percentiles,
        met: |it| it.latencies.as_ref().is_some_and(|it| it.p99 <= 50.0),
    },
    Goal {
        name: "rollout",
        work: "rolling update of a Service of 5,000 Pods, 100 Pods a second: slice writes, bytes written",
        go: "not measured",
        aim: "at most upstream's count for the same batch period",
        measured: rollout,
        met: |it| it.upstream.is_some_and(|upstream| it.counts.writes_of("endpointslices").0 <= upstream.writes),
    },
    Goal {
        name: "storm-adaptive",
        work: "readiness storm over 60 Pods of a Service, 100 flips a second, adaptive batching: writes, removals p50 / \
               p99 / max",
        go: "estimated from the writes without batching",
        aim: "at most half of Go's writes, no removal later than 250 ms",
        measured: fewer_writes,
        met: has_fewer_writes,
    },
    Goal {
        name: "rollout-60-adaptive",
        work: "rolling update of a Service of 60 Pods, 100 Pods a second, adaptive batching",
        go: "estimated from the writes without batching",
        aim: "the same",
        measured: fewer_writes,
        met: has_fewer_writes,
    },
    Goal {
        name: "rollout-5000-adaptive",
        work: "rolling update of a Service of 5,000 Pods, 100 Pods a second, adaptive batching",
        go: "estimated from the writes without batching",
        aim: "the same",
        measured: fewer_writes,
        met: has_fewer_writes,
    },
    Goal {
        name: "million",
        work: "1,000,000 Pods, 50,000 Services, 5,000 Nodes, 1,000 flips a second: peak memory, p50 / p99 / max",
        go: "not measured",
        aim: "900 MiB, p99 below 100 ms",
        measured: million,
        met: is_million_met,
    },
];

/// Formats the table of goals with the measured values.
pub(crate) fn goals(outcomes: &[Outcome]) -> String {
    let rows = GOALS.iter().map(|goal| {
        let found = outcomes.iter().find(|it| it.name == goal.name);
        let of = |text: fn(&Outcome) -> String| found.map_or_else(|| "not measured".to_owned(), text);
        vec![
            goal.work.to_owned(),
            goal.go.to_owned(),
            goal.aim.to_owned(),
            of(goal.measured),
            found.map_or("", |it| if (goal.met)(it) { "yes" } else { "no" }).to_owned(),
            of(|it| format!("{}, {}", it.encoding, it.transport)),
            of(|it| format!("`{}`", it.command)),
        ]
    });
    table(&["Work", "Go", "Goal", "Measured", "Met", "Encoding, transport", "Command"], rows)
}

fn writes_of_both(it: &Outcome) -> u64 {
    it.counts.writes_of("endpointslices").0 + it.counts.writes_of("endpoints").0
}

fn cpu_and_memory(it: &Outcome) -> String {
    format!("{:.2} s CPU, {:.0} MiB", it.cpu(), mib(it.usage.peak_kib))
}

fn cpu_of_a_change(it: &Outcome) -> String {
    it.cpu_of_a_change().map_or_else(String::new, |it| format!("{it:.2} ms"))
}

fn percentiles(it: &Outcome) -> String {
    it.latencies.as_ref().map_or_else(String::new, |it| format!("{:.1} / {:.1} / {:.1} ms", it.p50, it.p99, it.max))
}

fn within(it: &Outcome, max: [f64; 3]) -> bool {
    it.latencies.as_ref().is_some_and(|it| it.p50 <= max[0] && it.p99 <= max[1] && it.max <= max[2])
}

fn fewer_writes(it: &Outcome) -> String {
    let writes = |resource| number(it.counts.writes_of(resource).0);
    let go = it.go.map(|go| format!("; Go {} and {}", number(go.slices), number(go.endpoints)));
    format!(
        "{} slice and {} Endpoints writes{}; removals {}",
        writes("endpointslices"),
        writes("endpoints"),
        go.unwrap_or_default(),
        percentiles(it)
    )
}

fn has_fewer_writes(it: &Outcome) -> bool {
    let writes = |resource| it.counts.writes_of(resource).0;
    let halved = |go: GoWrites| writes("endpointslices") * 2 <= go.slices && writes("endpoints") * 2 <= go.endpoints;
    it.go.is_some_and(halved) && it.latencies.as_ref().is_some_and(|it| it.max <= 250.0)
}

fn million(it: &Outcome) -> String {
    let rate = it.changes_per_second.unwrap_or_default();
    format!("{:.0} MiB, {} at {rate:.0} flips a second", mib(it.usage.peak_kib), percentiles(it))
}

/// Returns whether the goal is met with all Pods and at the full rate: a server that is too slow lowers the rate.
fn is_million_met(it: &Outcome) -> bool {
    let is_full = it.population.pods >= 1_000_000 && it.changes_per_second.is_some_and(|it| it >= 950.0);
    is_full && mib(it.usage.peak_kib) <= 900.0 && it.latencies.as_ref().is_some_and(|it| it.p99 < 100.0)
}

fn rollout(it: &Outcome) -> String {
    let (writes, bytes) = it.counts.writes_of("endpointslices");
    let measured = format!("{} writes, {} KiB", number(writes), number(bytes / 1_024));
    let upstream =
        it.upstream.map(|it| format!("; upstream {} writes, {} KiB", number(it.writes), number(it.bytes / 1_024)));
    measured + &upstream.unwrap_or_default()
}
