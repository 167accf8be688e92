//! Runs the tests that the command line selects, and prints the report.

use std::{
    fs,
    io::Write as _,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use anyhow::{Context as _, Result, ensure};
use kube_endpoints_conformance::{
    Access, CommandLine, Entry, External, Hostile, Kit, Limits, Plan, Profile, QUIET, Recording, Subject, Target,
    Verdict, junit, split,
};

use crate::arguments::{Arguments, Cluster, Controller, Timing};

/// Returns whether all scenarios passed.
pub(crate) async fn run(arguments: Arguments) -> Result<bool> {
    if arguments.show_profiles {
        return show_profiles().map(|()| true);
    }
    let kit = kit(&arguments)?;
    let Arguments { filters, exclude, .. } = &arguments;
    let contains = |key: &str, parts: &[String]| parts.iter().any(|part| key.contains(part.as_str()));
    let selects = |key: &str| (filters.is_empty() || contains(key, filters)) && !contains(key, exclude);
    let plan = kit.plan(Recording::builtin()?, Hostile::all(), selects);
    if arguments.list {
        return list(&plan).map(|()| true);
    }
    let count = plan.scenarios();
    ensure!(count > 0 || !plan.skipped.is_empty(), "no scenario matches the filters");
    ensure!(count > 0, "none of the selected scenarios applies to profile {}; see --list", kit.profile.name);
    eprintln!("profile {}, scenarios: {count}", kit.profile.name);
    let shared = kit.start_shared().await?;
    if let Some(cluster) = shared.as_ref().filter(|_| arguments.controller.command.is_none()) {
        let seconds = kit.limits.start.as_secs();
        eprintln!("kubeconfig: {}", cluster.kubeconfig().display());
        eprintln!("waiting up to {seconds} s for a controller that uses it");
    }
    let done = AtomicUsize::new(0);
    let report = Arc::new(kit).run(plan, shared, move |key, entry| progress(key, entry, &done, count)).await;
    print(&format!("{report}\n"))?;
    if let Some(path) = &arguments.junit {
        fs::write(path, junit(&report, "slice-conformance")?).with_context(|| path.display().to_string())?;
    }
    Ok(report.is_good())
}

fn kit(arguments: &Arguments) -> Result<Kit> {
    let Arguments { controller, cluster, timing, .. } = arguments;
    let Cluster { kubeconfig, audit_log, plain_http, jobs } = cluster;
    let profile = Profile::find(&arguments.profile)?;
    let limits = limits(timing);
    let target = match kubeconfig {
        Some(kubeconfig) => Target::Cluster { kubeconfig: std::path::absolute(kubeconfig)? },
        None => Target::Embedded,
    };
    let subject = subject(controller, &profile, limits)?;
    Ok(Kit {
        access: access(controller)?,
        profile: Arc::new(profile),
        external: subject.is_none(),
        subject: subject.unwrap_or_else(|| Arc::new(External)),
        target,
        tls: !plain_http,
        limits,
        audit_log: audit_log.clone(),
        jobs: jobs.get(),
    })
}

/// Returns the command lines of the controller; `None` if it is started elsewhere.
fn subject(controller: &Controller, profile: &Profile, limits: Limits) -> Result<Option<Arc<dyn Subject>>> {
    let Some(text) = &controller.command else { return Ok(None) };
    let variant = |text: &Option<String>| text.as_deref().map(split).transpose();
    let line = CommandLine {
        resync: variant(&controller.resync_command)?,
        elected: variant(&controller.elected_command)?,
        clean_exit: profile.clean_exit,
        stop: limits.stop,
        ..CommandLine::parse(text)?
    };
    Ok(Some(Arc::new(line)))
}

fn access(Controller { rights, user, .. }: &Controller) -> Result<Access> {
    match rights {
        None => Ok(Access { user: user.clone(), ..Access::all() }),
        Some(path) => {
            let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
            Access::with_rights(user, &text).with_context(|| path.display().to_string())
        }
    }
}

fn limits(timing: &Timing) -> Limits {
    let Timing { start_timeout, timeout, settle, stop_timeout } = *timing;
    let default = Limits::default();
    Limits {
        start: start_timeout,
        settle: timeout.unwrap_or(default.settle),
        state: timeout.unwrap_or(default.state),
        // By default, recordings are played with the time with which they were recorded.
        settled_after: if settle > default.calm { settle } else { QUIET },
        calm: settle,
        quiet: settle,
        stop: stop_timeout,
    }
}

fn progress(key: &str, entry: &Entry, done: &AtomicUsize, count: usize) {
    let Entry { verdict, time, .. } = entry;
    let verdict = match verdict {
        Verdict::Passed => "PASSED",
        Verdict::Failed(_) => "FAILED",
        Verdict::Skipped(_) => "SKIPPED",
    };
    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
    eprintln!("[{done}/{count}] {verdict} {key} ({:.1} s)", time.as_secs_f64());
}

fn list(plan: &Plan) -> Result<()> {
    let mut lines = Vec::new();
    for (file, recording) in &plan.recordings {
        lines.extend(recording.scenarios.iter().map(|it| format!("{file}/{}: {}", it.name, it.about)));
    }
    lines.extend(plan.hostile.iter().map(|it| format!("hostile/{}: {}", it.name(), it.about())));
    lines.extend(plan.skipped.iter().map(|(key, reason)| format!("SKIPPED {key}: {reason}")));
    print(&(lines.join("\n") + "\n"))
}

fn show_profiles() -> Result<()> {
    let texts: Vec<_> = Profile::builtins().map(|(_, text)| text).collect();
    print(&texts.join("---\n"))
}

/// Prints to standard output. A closed pipe is not an error.
fn print(text: &str) -> Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error).context("cannot write the report"),
        _ => Ok(()),
    }
}
