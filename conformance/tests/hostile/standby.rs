//! Failover between two processes.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use endpoint_controller_manager::{LeaderElection, run};
use kube_controller_client::Config;
use kube_dev_apiserver::{Fault, LoggedRequest, On, User};
use kube_endpoints_conformance::Kind;
use serde_json::Value;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::cluster;
use crate::objects::{service_of, slices_of};
use crate::world::{Needs, World};

const IP: &str = "10.1.0.1";
const OTHER: &str = "10.1.0.2";
const THIRD: &str = "10.1.0.3";

/// A standby whose caches are behind becomes leader. It must not act on these caches.
#[tokio::test(flavor = "multi_thread")]
async fn a_standby_that_is_behind_makes_no_duplicates() -> Result<()> {
    let Some(world) = World::start(Needs::IN_PROCESS).await? else { return Ok(()) };
    let mut settings = cluster::settings();
    // All requests are made by the users below, so that faults can apply to one of the processes.
    settings.client.service_account_credentials = false;
    settings.leader_election = Some(LeaderElection::default());
    let config = async |user: &str| -> Result<Config> {
        let files = tempfile::tempdir()?;
        let path = files.path().join("kubeconfig");
        std::fs::write(&path, world.server()?.kubeconfig_for(User::new(user).group("system:masters")))?;
        Ok(Config::from_kubeconfig(&path).await?)
    };
    let (stop_leader, stop_standby) = (CancellationToken::new(), CancellationToken::new());
    let mut leader = Box::pin(run(config("leader").await?, settings.clone(), stop_leader.clone()));
    let work = async {
        world.pod("web", "a", IP, true).await?;
        world.service("web").await?;
        world.until_both("web", &[IP]).await?;
        anyhow::Ok(())
    };
    tokio::select! {
        done = work => done?,
        ended = &mut leader => bail!("the leader exited: {ended:?}"),
    }
    // Only events of slices and Endpoints are late, by more than the duration of a failover.
    let late = Duration::from_secs(4);
    let mut standby = Box::pin(run(config("standby").await?, settings, stop_standby.clone()));
    let work = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        for resource in ["endpointslices", "endpoints"] {
            let on = On::any().verb("watch").resource(resource).user("standby");
            world.server()?.faults().inject(Fault::delay_events(late, late).on(on.clone()));
            // Existing watches are cut, so that they are reopened with the delay.
            world.server()?.faults().cut_watches(&on);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        world.pod("web", "b", OTHER, true).await?;
        world.service("later").await?;
        world.own_endpoints("own", &[IP]).await?;
        world.until_both("web", &[IP, OTHER]).await?;
        world
            .until("the new slices exist", Kind::EndpointSlice, |all| {
                !slices_of(all, "later").is_empty() && !slices_of(all, "own").is_empty()
            })
            .await?;
        stop_leader.cancel();
        anyhow::Ok(())
    };
    let (led, worked) = tokio::select! {
        both = async { tokio::join!(&mut leader, work) } => both,
        ended = &mut standby => bail!("the standby exited: {ended:?}"),
    };
    worked?;
    led?;
    let work = async {
        world.pod("web", "c", THIRD, true).await?;
        world.until_both("web", &[IP, OTHER, THIRD]).await?;
        world.settled().await?;
        world.stays_quiet().await?;
        let conflicts = world.server()?.requests().all();
        let conflicts: Vec<_> =
            conflicts.iter().filter(|it| it.status == Some(409) && it.resource != "leases").collect();
        let described = |it: &&LoggedRequest| format!("{} {} {}", it.user, it.verb, it.path);
        let conflicts: Vec<_> = conflicts.iter().map(described).collect();
        ensure!(conflicts.is_empty(), "conflicts: {conflicts:#?}");
        let events = world.list(Kind::Event).await?;
        ensure!(!events.iter().any(|event| event["type"] == "Warning"), "{events:#?}");
        let of = |slice: &Value| service_of(slice).map(str::to_owned);
        let most = world.slice_history().most_at_once(&world.namespace, of);
        ensure!(most == 1, "{most} slices of one Service at the same time");
        anyhow::Ok(())
    };
    tokio::select! {
        done = work => done?,
        ended = &mut standby => bail!("the standby exited: {ended:?}"),
    }
    stop_standby.cancel();
    timeout(Duration::from_secs(10), standby).await??;
    Ok(())
}
