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
    Verdict, split,
};

use crate::arguments::{Arguments, Controller, Timing};

/// Returns whether all scenarios passed.
pub(crate) async fn run(arguments: Arguments) -> Result<bool> {
    if arguments.show_profiles {
        let texts: Vec<_> = Profile::builtins().map(|(_, text)| text).collect();
        return print(&texts.join("---\n")).map(|()| true);
    }
    let kit = kit(&arguments)?;
    let Arguments { filters, exclude, .. } = &arguments;
    let contains = |key: &str, parts: &[String]| parts.iter().any(|part| key.contains(part.as_str()));
    let selects = |key: &str| (filters.is_empty() || contains(key, filters)) && !contains(key, exclude);
    let plan = kit.plan(Recording::builtin()?, Hostile::all(), selects);
    if arguments.list {
        return print(&list(&plan)).map(|()| true);
    }
    let count = plan.scenarios();
    ensure!(count > 0 || !plan.skipped.is_empty(), "no scenario matches the filters");
    ensure!(count > 0, "none of the selected scenarios applies to profile {}; see --list", kit.profile.name);
    eprintln!("profile {}, scenarios: {count}", kit.profile.name);
    let shared = kit.start_shared().await?;
    if let Some(cluster) = shared.as_ref().filter(|_| arguments.controller.command.is_none()) {
        let seconds = kit.limits.start.as_secs();
        eprintln!("kubeconfig: {}", cluster.controllers().kubeconfig.display());
        eprintln!("waiting up to {seconds} s for a controller that uses it");
    }
    let done = AtomicUsize::new(0);
    let progress = move |key: &str, Entry { verdict, time, .. }: &Entry| {
        let verdict = if *verdict == Verdict::Passed { "PASSED" } else { "FAILED" };
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        eprintln!("[{done}/{count}] {verdict} {key} ({:.1} s)", time.as_secs_f64());
    };
    let report = Arc::new(kit).run(plan, shared, progress).await;
    print(&format!("{report}\n"))?;
    Ok(report.is_good())
}

fn kit(Arguments { profile, controller, cluster, timing, .. }: &Arguments) -> Result<Kit> {
    let profile = Profile::find(profile)?;
    let limits = limits(timing);
    let target = match &cluster.kubeconfig {
        Some(kubeconfig) => Target::Cluster { kubeconfig: std::path::absolute(kubeconfig)? },
        None => Target::Embedded,
    };
    let subject: Arc<dyn Subject> = match &controller.command {
        None => Arc::new(External),
        Some(command) => Arc::new(command_line(command, controller, &profile, limits)?),
    };
    Ok(Kit {
        access: access(controller)?,
        profile: Arc::new(profile),
        external: controller.command.is_none(),
        subject,
        target,
        limits,
        jobs: cluster.jobs.get(),
    })
}

fn command_line(command: &str, controller: &Controller, profile: &Profile, limits: Limits) -> Result<CommandLine> {
    let variant = |text: &Option<String>| text.as_deref().map(split).transpose();
    Ok(CommandLine {
        resync: variant(&controller.resync_command)?,
        elected: variant(&controller.elected_command)?,
        clean_exit: profile.clean_exit,
        stop: limits.stop,
        ..CommandLine::parse(command)?
    })
}

fn access(Controller { rights, user, .. }: &Controller) -> Result<Access> {
    let Some(path) = rights else { return Ok(Access { user: user.clone(), ..Access::all() }) };
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Access::with_rights(user, &text).with_context(|| path.display().to_string())
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
        stop: stop_timeout,
    }
}

fn list(plan: &Plan) -> String {
    let mut lines = Vec::new();
    for (file, recording) in &plan.recordings {
        lines.extend(recording.scenarios.iter().map(|it| format!("{file}/{}: {}", it.name, it.about)));
    }
    lines.extend(plan.hostile.iter().map(|it| format!("{}: {}", it.key(), it.about())));
    lines.extend(plan.skipped.iter().map(|(key, reason)| format!("SKIPPED {key}: {reason}")));
    lines.join("\n") + "\n"
}

/// Prints to standard output. A closed pipe is not an error.
fn print(text: &str) -> Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error).context("cannot write the report"),
        _ => Ok(()),
    }
}
