//! Comparison of the measurements with the Go controllers and with the goals.

use super::{
    figure::Figure,
    outcome::{Outcome, mib},
    table::table,
};

/// Row of the table of goals.
struct Goal {
    /// Name of the measurement.
    name: &'static str,
    work: &'static str,
    /// Measurement of kube-controller-manager 1.36.2, see `docs/src/scale.md`.
    go: &'static str,
    figures: &'static [Figure],
}

const fn cpu(limit: f64) -> Figure {
    Figure { name: "CPU", unit: " s", decimals: 2, limit, of: |it| Some(it.cpu()) }
}

const fn memory(limit: f64) -> Figure {
    Figure { name: "memory", unit: " MiB", decimals: 0, limit, of: |it| Some(mib(it.usage.peak_kib)) }
}

const fn cpu_of_a_flip(limit: f64) -> Figure {
    Figure { name: "CPU a flip", unit: " ms", decimals: 2, limit, of: Outcome::cpu_of_a_change }
}

const fn p50(limit: f64) -> Figure {
    Figure { name: "p50", unit: " ms", decimals: 1, limit, of: |it| it.latencies.as_ref().map(|it| it.p50) }
}

const fn p99(limit: f64) -> Figure {
    Figure { name: "p99", unit: " ms", decimals: 1, limit, of: |it| it.latencies.as_ref().map(|it| it.p99) }
}

const fn latest(limit: f64) -> Figure {
    Figure { name: "max", unit: " ms", decimals: 1, limit, of: |it| it.latencies.as_ref().map(|it| it.max) }
}

const fn writes(limit: f64) -> Figure {
    Figure { name: "writes", unit: "", decimals: 0, limit, of: |it| Some(as_f64(it.counts.writes())) }
}

const UPSTREAM: Figure = Figure {
    name: "slice writes",
    unit: " of upstream's",
    decimals: 2,
    limit: 1.0,
    of: |it| it.upstream.map(|upstream| share(it, "endpointslices", upstream.writes)),
};

const fn slices(limit: f64) -> Figure {
    let of = |it: &Outcome| it.upstream.map(|go| share(it, "endpointslices", go.writes));
    Figure { name: "slice writes", unit: " of Go's", decimals: 2, limit, of }
}

const fn endpoints(limit: f64) -> Figure {
    let of = |it: &Outcome| it.upstream.map(|go| share(it, "endpoints", go.endpoints_writes));
    Figure { name: "Endpoints writes", unit: " of Go's", decimals: 2, limit, of }
}

/// Hardly more than Go's writes.
const AS_MANY_WRITES: &[Figure] = &[slices(1.1), endpoints(1.1)];

/// At most half of Go's writes, and no late removal.
const FEWER_WRITES: &[Figure] = &[slices(0.5), endpoints(0.5), Figure { name: "removals at most", ..latest(250.0) }];

/// The memory is that of 20,000 Pods, and of all loads before.
const SCRAPES: &[Figure] = &[memory(60.0), Figure { name: "scrapes at most", ..latest(1_000.0) }];

/// A server that is too slow would lower the rate.
const MISSING: Figure = Figure {
    name: "missing of 1,000 flips a second",
    unit: "",
    decimals: 0,
    limit: 50.0,
    of: |it| it.changes_per_second.filter(|_| it.population.pods >= 1_000_000).map(|it| 1_000.0 - it),
};

const GOALS: &[Goal] = &[
    Goal {
        name: "start",
        work: "start to everything written: 20,000 Pods, 1,000 Services, 500 Nodes",
        go: "4.9 s CPU, 482 MiB",
        figures: &[cpu(0.5), memory(30.0)],
    },
    Goal {
        name: "resume",
        work: "start with everything in place",
        go: "4.2 s CPU, 550 MiB, 0 writes",
        figures: &[cpu(0.25), memory(25.0), writes(0.0)],
    },
    Goal {
        name: "churn",
        work: "readiness churn over these, 160 flips a second",
        go: "1.70 ms",
        figures: &[cpu_of_a_flip(0.17)],
    },
    Goal {
        name: "shadow-churn",
        work: "shadow mode beside an instance that writes, with the same churn",
        go: "no shadow mode",
        figures: &[memory(40.0)],
    },
    Goal {
        name: "switch",
        work: "switch to another instance while nothing changes",
        go: "not measured",
        figures: &[Figure { name: "writes of slices and Endpoints", of: |it| Some(writes_of_both(it)), ..writes(0.0) }],
    },
    Goal {
        name: "switch-churn",
        work: "switch while readiness changes 50 times a second",
        go: "not measured",
        figures: &[latest(2_000.0)],
    },
    Goal {
        name: "namespace",
        work: "one namespace of 3,000 Services and 3,000 Pods: filling it",
        go: "40.2 s CPU, 750 MiB",
        figures: &[cpu(1.5), memory(40.0)],
    },
    Goal { name: "namespace-churn", work: "readiness churn there", go: "4.1 ms", figures: &[cpu_of_a_flip(0.17)] },
    Goal {
        name: "big",
        work: "150,000 Pods, 10,000 Services, 5,000 Nodes, synced and written",
        go: "about 3 GiB (extrapolated)",
        figures: &[memory(200.0)],
    },
    Goal {
        name: "latency-20",
        work: "readiness acknowledged to slice seen, 20 a second",
        go: "5.5 / 12.5 / 22 ms",
        figures: &[p50(3.3), p99(7.0), latest(10.0)],
    },
    Goal {
        name: "latency-100",
        work: "the same, 100 a second",
        go: "9.2 / 67 / 96 ms",
        figures: &[p50(3.3), p99(15.0), latest(30.0)],
    },
    Goal {
        name: "limits-auto",
        work: "the same, 60 a second, with `--kube-api-qps=auto`",
        go: "no such limit",
        figures: &[p99(50.0)],
    },
    Goal {
        name: "serving-handshakes",
        work: "scrapes while 5,000 handshakes a second are begun",
        go: "not measured",
        figures: SCRAPES,
    },
    Goal {
        name: "serving-slow",
        work: "scrapes while 10,000 slow clients connect",
        go: "not measured",
        figures: SCRAPES,
    },
    Goal {
        name: "serving-tokens",
        work: "scrapes while 32 clients send unknown tokens",
        go: "not measured",
        figures: SCRAPES,
    },
    Goal {
        name: "rollout",
        work: "rolling update of a Service of 5,000 Pods, 100 Pods a second, batch period 500 ms",
        go: "computed by a model",
        figures: &[UPSTREAM],
    },
    Goal {
        name: "storm-none",
        work: "readiness storm over 60 Pods of a Service, 100 flips a second",
        go: "computed by a model",
        figures: AS_MANY_WRITES,
    },
    Goal {
        name: "rollout-60-none",
        work: "rolling update of a Service of 60 Pods, 100 Pods a second",
        go: "computed by a model",
        figures: AS_MANY_WRITES,
    },
    Goal {
        name: "rollout-5000-none",
        work: "rolling update of a Service of 5,000 Pods, 100 Pods a second",
        go: "computed by a model",
        figures: AS_MANY_WRITES,
    },
    Goal {
        name: "recreation-none",
        work: "recreation of the 600 Pods of a Service, 20 Pods a second",
        go: "computed by a model",
        figures: AS_MANY_WRITES,
    },
    Goal {
        name: "storm-adaptive",
        work: "readiness storm over 60 Pods of a Service, 100 flips a second, adaptive batching",
        go: "computed by a model",
        figures: FEWER_WRITES,
    },
    Goal {
        name: "rollout-60-adaptive",
        work: "rolling update of a Service of 60 Pods, 100 Pods a second, adaptive batching",
        go: "computed by a model",
        figures: FEWER_WRITES,
    },
    Goal {
        name: "rollout-5000-adaptive",
        work: "rolling update of a Service of 5,000 Pods, 100 Pods a second, adaptive batching",
        go: "computed by a model",
        figures: FEWER_WRITES,
    },
    Goal {
        name: "recreation-adaptive",
        work: "recreation of the 600 Pods of a Service, 20 Pods a second, adaptive batching",
        go: "computed by a model",
        figures: FEWER_WRITES,
    },
    Goal {
        name: "million",
        work: "1,000,000 Pods, 50,000 Services, 5,000 Nodes, 1,000 flips a second",
        go: "not measured",
        figures: &[memory(900.0), p99(100.0), MISSING],
    },
];

/// Formats the table of goals with the measured values.
pub(crate) fn goals(outcomes: &[Outcome]) -> String {
    let rows = GOALS.iter().map(|goal| {
        let runs: Vec<&Outcome> = outcomes.iter().filter(|it| it.name == goal.name).collect();
        let cell = |text: &dyn Fn(&Figure) -> String| goal.figures.iter().map(text).collect::<Vec<_>>().join("; ");
        let measured = if runs.is_empty() { "not measured".to_owned() } else { cell(&|it| it.range(&runs)) };
        let (connection, command) = runs.first().map_or_else(Default::default, |it| {
            (format!("{}, {}", it.encoding, it.transport), format!("`{}`", it.command))
        });
        let (work, go) = (goal.work.to_owned(), goal.go.to_owned());
        vec![work, go, cell(&Figure::limit), measured, met(goal, &runs), connection, command]
    });
    table(&["Work", "Go", "Goal", "Measured", "Met", "Encoding, transport", "Command"], rows)
}

/// Returns in how many of the runs all figures are within their limits.
fn met(goal: &Goal, runs: &[&Outcome]) -> String {
    let met = runs.iter().filter(|run| goal.figures.iter().all(|it| it.is_met(run))).count();
    match (met, runs.len()) {
        (_, 0) => String::new(),
        (0, _) => "no".to_owned(),
        (met, all) if met == all => "yes".to_owned(),
        (met, all) => format!("{met} of {all}"),
    }
}

fn writes_of_both(it: &Outcome) -> f64 {
    as_f64(it.counts.writes_of("endpointslices").0 + it.counts.writes_of("endpoints").0)
}

/// Returns the writes of `resource`, divided by those of another program.
fn share(it: &Outcome, resource: &str, other: u64) -> f64 {
    as_f64(it.counts.writes_of(resource).0) / as_f64(other.max(1))
}

#[expect(clippy::cast_precision_loss, reason = "for display")]
fn as_f64(number: u64) -> f64 {
    number as f64
}
