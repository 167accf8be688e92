//! The controllers of this repository as the controllers under test, with the options of the environment.

use std::{
    env,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use endpoint_controller_manager::{LeaderElection, Settings, run};
use futures::{
    FutureExt as _,
    future::{BoxFuture, ready},
};
use kube_endpoints_conformance::{
    Access, CommandLine, Connection, Kit, Limits, Mode, Profile, Running, Subject, Target, split,
};
use kube_endpoints_testing::{repository::root, virtual_clocks};
use tokio::{task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

/// Time limit of each wait. Only a hang reaches it, on any machine.
const LIMIT: Duration = Duration::from_secs(300);

/// Returns the path of the program to test, from `CONFORMANCE_CONTROLLERS`; `None` for the controllers in the process of the
/// test. Relative paths start at the root of the workspace.
pub(crate) fn program() -> Option<PathBuf> {
    let path = env::var("CONFORMANCE_CONTROLLERS").ok().filter(|path| !path.is_empty())?;
    Some(root().join(path))
}

/// Runs a future: in virtual time for the controllers in the process, in real time for a program.
///
/// In virtual time, what the controllers see between two requests does not depend on the machine.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = match program() {
        None => tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build(),
        Some(_) => tokio::runtime::Builder::new_multi_thread().enable_all().build(),
    };
    runtime.expect("a runtime").block_on(async {
        let _clocks = program().is_none().then(|| virtual_clocks(1));
        future.await
    })
}

/// Returns a kit for the profile `controller-manager`.
pub(crate) fn kit() -> Kit {
    let (subject, target): (Arc<dyn Subject>, _) = match program() {
        None => (Arc::new(InProcess), Target::InProcess),
        Some(path) => (Arc::new(command_line(&path)), Target::Embedded),
    };
    let rights = Access::with_rights("endpoint-controller-manager", include_str!("../../rights.yaml"));
    Kit {
        profile: Arc::new(Profile {
            checks_lists: true,
            ..Profile::find("controller-manager").expect("the built-in profile is valid")
        }),
        subject,
        external: false,
        target,
        access: rights.expect("rights.yaml is valid"),
        limits: Limits { start: LIMIT, settle: LIMIT, state: LIMIT, stop: LIMIT, ..Limits::default() },
        // More than three files at a time would overload a small machine at the start, and save no time: the longest
        // file takes as long as all others together.
        jobs: 3,
    }
}

/// Returns a command line of the `controller-manager` at `path` with the settings of the recorded cluster: batch periods of
/// 500 ms, and a request limit that has no effect. Leader election and HTTPS are as by default.
pub(crate) fn command(path: &Path, more: &str) -> String {
    let common = "--kubeconfig={kubeconfig} --secure-port={port} --bind-address=127.0.0.1 --kube-api-qps=2000 \
        --kube-api-burst=4000 --endpoint-updates-batch-period=500ms --endpointslice-updates-batch-period=500ms \
        --mirroring-endpointslice-updates-batch-period=500ms";
    format!("'{}' {common} {more}", path.display())
}

/// Flag for the rights of a service account for each controller.
pub(crate) const CREDENTIALS: &str = "--use-service-account-credentials=true";

fn command_line(path: &Path) -> CommandLine {
    let words = |more: &str| split(&command(path, more)).expect("the quotes are closed");
    CommandLine {
        plain: words(CREDENTIALS),
        resync: Some(words(&format!("{CREDENTIALS} --min-resync-period=2s"))),
        elected: Some(words("")),
        clean_exit: true,
        stop: LIMIT,
    }
}

/// The three controllers in the process of the test.
struct InProcess;

impl Subject for InProcess {
    fn supports(&self, _: Mode) -> bool {
        true
    }

    fn start<'a>(&'a self, connection: &'a Connection, mode: Mode) -> BoxFuture<'a, Result<Box<dyn Running>>> {
        let stop = CancellationToken::new();
        let mut task = JoinSet::new();
        // Boxed: the future of three controllers has many kilobytes.
        task.spawn(Box::pin(run(connection.config.clone(), settings(mode), stop.clone())));
        ready(Ok(Box::new(Instance { task, stop }) as Box<dyn Running>)).boxed()
    }
}

struct Instance {
    task: JoinSet<Result<(), endpoint_controller_manager::RunError>>,
    stop: CancellationToken,
}

impl Running for Instance {
    fn ended(&mut self) -> BoxFuture<'_, String> {
        async { format!("{:?}", self.task.join_next().await) }.boxed()
    }

    fn stop(mut self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        async move {
            self.stop.cancel();
            match timeout(LIMIT, self.task.join_next()).await.context("still running after the request to stop")? {
                Some(ended) => Ok(ended??),
                None => bail!("the controllers have exited already"),
            }
        }
        .boxed()
    }
}

/// Returns the settings of the recorded cluster. There too, the request limit was so high that it had no effect.
fn settings(mode: Mode) -> Settings {
    let mut settings = Settings::default();
    settings.client.qps = 2_000.0;
    settings.client.burst = 4_000;
    settings.client.service_account_credentials = mode != Mode::Elected;
    let batch_period = Duration::from_millis(500);
    settings.syncs.all_mut().for_each(|syncs| syncs.batch_period = batch_period);
    match mode {
        Mode::Plain | Mode::Restarted => {}
        Mode::Resync => settings.min_resync_period = Duration::from_secs(2),
        Mode::Elected => settings.leader_election = Some(LeaderElection::default()),
    }
    settings
}
