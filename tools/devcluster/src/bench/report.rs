//! Reports of the measurements: a table, JSON, and a directory with both and plots.

use std::{fs, path::Path};

use anyhow::Context as _;
use jiff::Timestamp;
use serde::Serialize;

use super::{
    goals::goals,
    growth::growth,
    latencies::Latencies,
    outcome::{Outcome, mib},
    plots::plots,
    table::{number, table},
};

/// Results of all measurements.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    pub(crate) date: Timestamp,
    pub(crate) machine: String,
    pub(crate) controller: String,
    pub(crate) outcomes: Vec<Outcome>,
}

impl Report {
    /// Returns a Markdown table with one row per measurement.
    pub(crate) fn table(&self) -> String {
        table(
            &[
                "Measurement",
                "CPU s",
                "CPU ms a change",
                "Server CPU s",
                "MiB",
                "Peak MiB",
                "Received MiB",
                "Slice writes",
                "Endpoints writes",
                "Refused",
                "Seconds",
                "p50 / p99 / max ms",
                "Additions",
            ],
            self.outcomes.iter().map(row),
        )
    }

    /// Returns the complete results as JSON.
    pub(crate) fn json(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    /// Writes `results.md`, `results.json` and the plots to `folder`, which is created if it does not exist.
    pub(crate) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
        };
        write("results.json", &format!("{}\n", self.json()?))?;
        write("results.md", &self.markdown())?;
        for (name, svg) in plots(&self.first_runs())? {
            write(name, &svg)?;
        }
        Ok(())
    }

    fn markdown(&self) -> String {
        let Self { date, machine, controller, outcomes } = self;
        let date = date.strftime("%Y-%m-%d");
        format!(
            "<!-- Written by `devcluster bench --report`. -->\n\nMeasured on {date} on {machine}; {controller}.\n\n\
             ## Goals\n\nMinimum / median / maximum of the runs; a goal is met if no run exceeds it.\n\n{}\n## Growth\n\n{}",
            goals(outcomes),
            growth(outcomes),
        )
    }

    /// Returns the outcomes to plot: one curve per measurement.
    fn first_runs(&self) -> Vec<Outcome> {
        self.outcomes.iter().filter(|it| it.run == 1).cloned().collect()
    }
}

fn row(it: &Outcome) -> Vec<String> {
    let writes = |resource| number(it.counts.writes_of(resource).0);
    vec![
        if it.run == 1 { it.name.clone() } else { format!("{} ({})", it.name, it.run) },
        format!("{:.2}", it.cpu()),
        it.cpu_of_a_change().map_or_else(String::new, |it| format!("{it:.3}")),
        format!("{:.2} ({:.0} %)", it.server.cpu.as_secs_f64(), 100.0 * it.share_of_the_server()),
        format!("{:.1}", mib(it.usage.resident_kib)),
        format!("{:.1}", mib(it.usage.peak_kib)),
        format!("{:.1}", mib(it.counts.sent / 1_024)),
        writes("endpointslices"),
        writes("endpoints"),
        number(it.counts.refused),
        format!("{:.1}", it.seconds),
        latencies(it.latencies.as_ref()),
        latencies(it.additions.as_ref()),
    ]
}

fn latencies(all: Option<&Latencies>) -> String {
    all.map_or_else(String::new, |it| format!("{:.1} / {:.1} / {:.1}", it.p50, it.p99, it.max))
}
