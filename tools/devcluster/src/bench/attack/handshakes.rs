//! Handshakes that are begun and not finished.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    task::JoinSet,
    time::{MissedTickBehavior, interval, timeout},
};

use super::{Counters, connect, source};

/// Interval at which connections are opened.
const TICK: Duration = Duration::from_millis(10);
const TICKS_PER_SECOND: usize = 100;
/// Time for which an unfinished handshake is kept open.
const PATIENCE: Duration = Duration::from_secs(1);

/// Begins `rate` handshakes per second until dropped.
pub(super) async fn run(to: SocketAddr, hello: Vec<u8>, rate: usize, counters: Arc<Counters>) {
    let hello: Arc<[u8]> = hello.into();
    let mut ticks = interval(TICK);
    // What a busy machine delays is made up for.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let (mut tasks, mut number, mut due) = (JoinSet::new(), 0, 0);
    loop {
        ticks.tick().await;
        while tasks.try_join_next().is_some() {}
        due += rate;
        while due >= TICKS_PER_SECOND {
            due -= TICKS_PER_SECOND;
            number += 1;
            tasks.spawn(begin(to, Arc::clone(&hello), number, Arc::clone(&counters)));
        }
    }
}

async fn begin(to: SocketAddr, hello: Arc<[u8]>, number: usize, counters: Arc<Counters>) {
    counters.attempted();
    let _ = timeout(PATIENCE, async {
        let mut stream = connect(source(number), to).await?;
        stream.write_all(&hello).await?;
        if stream.read(&mut [0; 1_024]).await? > 0 {
            counters.answered();
            // The rest of the answer, until the server closes the connection.
            while stream.read(&mut [0; 1_024]).await? > 0 {}
        }
        std::io::Result::Ok(())
    })
    .await;
}
