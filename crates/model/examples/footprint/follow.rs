//! The measured process.

use std::fs;
use std::time::Duration;

use kube_controller_client::{Client, ClientOptions, Config};
use kube_endpoint_model::{Endpoints, Interner, Node, PodIndex, ServiceIndex, SliceIndex};
use kube_informer::{HandlerHandle, Index, Informer, wait_for_sync};
use kube_wire::{Decode, Encoding};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Error;

/// Order in which the informers are started.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// All at once, as in the controller manager; measured by the kernel.
    AtOnce,
    /// One after the other, each after the previous one has synced, with an allocation profiler, which itself takes
    /// memory.
    OneByOne,
}

/// Maximum resident memory in KiB for 150,000 Pods and the objects that belong to them.
const MAX_KIB: u64 = 200 * 1024;
const SYNC_TIMEOUT: Duration = Duration::from_secs(600);

/// Runs informers of the five kinds and prints the memory that they take.
pub(crate) async fn follow(url: &str, encoding: Encoding, order: Order) -> Result<(), Error> {
    let options = ClientOptions { qps: 0.0, content_type: encoding, ..ClientOptions::default() };
    let client = Client::new(&Config::from_url(url)?, options)?.decoding_in(Interner::default());
    let profiler = (order == Order::OneByOne).then(|| dhat::Profiler::builder().testing().build());
    let mut all = Follower { client, order, stop: CancellationToken::new(), tasks: JoinSet::new(), synced: Vec::new() };
    let start = Instant::now();
    if order == Order::AtOnce {
        println!("{} KiB resident at the start", status("VmRSS")?);
    } else {
        println!("| kind | objects | heap, bytes each | heap, KiB |");
        println!("|---|---:|---:|---:|");
    }
    all.add(PodIndex::default()).await?;
    all.add(SliceIndex::default()).await?;
    all.add::<Endpoints, _>(()).await?;
    all.add(ServiceIndex::default()).await?;
    all.add::<Node, _>(()).await?;
    if order == Order::AtOnce {
        wait_for_sync(&all.synced, SYNC_TIMEOUT).await?;
        let elapsed = start.elapsed().as_secs_f64();
        let peak = status("VmHWM")?;
        println!("synced in {elapsed:.1} s: VmHWM {peak} KiB, VmRSS {} KiB", status("VmRSS")?);
        if peak > MAX_KIB {
            return Err(format!("more than {MAX_KIB} KiB").into());
        }
    }
    all.stop.cancel();
    all.tasks.join_all().await;
    drop(profiler);
    Ok(())
}

struct Follower {
    client: Client,
    order: Order,
    stop: CancellationToken,
    tasks: JoinSet<()>,
    synced: Vec<HandlerHandle>,
}

impl Follower {
    async fn add<T: Decode, X: Index<T>>(&mut self, index: X) -> Result<(), Error> {
        let before = (self.order == Order::OneByOne).then(|| dhat::HeapStats::get().curr_bytes);
        let informer = Informer::<T>::builder(self.client.clone()).index(index).build();
        let synced = informer.add_handler(drop);
        let lister = informer.lister();
        self.tasks.spawn(informer.run(self.stop.clone()));
        if let Some(before) = before {
            wait_for_sync([&synced], SYNC_TIMEOUT).await?;
            let (count, bytes) = (lister.len(), dhat::HeapStats::get().curr_bytes.saturating_sub(before));
            println!("| {} | {count} | {} | {} |", T::RESOURCE.kind, bytes / count.max(1), bytes / 1024);
        }
        self.synced.push(synced);
        Ok(())
    }
}

/// Returns a field of `/proc/self/status`, in KiB.
fn status(name: &str) -> Result<u64, Error> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).ok_or("no such line")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
