//! Paused time of tests with sockets.

use std::{net::UdpSocket, sync::Arc, time::Duration};

use tokio::{runtime::Handle, task::JoinSet, time::sleep};

/// Least and greatest paused time between two waits for bytes in transit: the least after bytes, then twice as long each time.
const STEPS: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(100)];

/// Number of consecutive checks without bytes before the clock advances: more than the messages of a handshake.
const QUIET: usize = 8;

/// Real time after which a datagram counts as lost.
const LOST: Duration = Duration::from_secs(1);

/// Makes the paused clock of tokio wait, every 1 to 100 ms, until no bytes are in transit between sockets of this thread; ends when the
/// result is dropped. An exchange takes a few milliseconds on it, or up to 100 ms after a silence, however slow the machine is. Timers
/// that are closer together may fire before its end.
///
/// Alone, tokio advances to the next timer whenever no task is ready, for example to the timeout of a request whose answer the kernel
/// of a busy machine delivers late. The runtime must have one thread, on which clients and servers run. Bytes that the kernel of the
/// sender withholds are not noticed: the sockets need `TCP_NODELAY`, unless each message is one write.
#[must_use = "dropping it lets the clock advance"]
pub fn wait_for_bytes() -> JoinSet<()> {
    let [sender, receiver] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").expect("a socket"));
    sender.connect(receiver.local_addr().expect("an address")).expect("connected");
    receiver.set_read_timeout(Some(LOST)).expect("a timeout");
    let (receiver, runtime) = (Arc::new(receiver), Handle::current().metrics());
    let mut clock = JoinSet::new();
    clock.spawn(async move {
        let [least, greatest] = STEPS;
        let mut step = least;
        loop {
            sleep(step).await;
            step = greatest.min(2 * step);
            let mut quiet = 0;
            while quiet < QUIET {
                let parked = runtime.worker_park_count(0);
                // The datagram usually arrives after bytes that were sent before. The clock does not advance during a blocking call.
                sender.send(&[0]).expect("sent");
                let receiver = Arc::clone(&receiver);
                let received = tokio::task::spawn_blocking(move || receiver.recv(&mut [0]));
                let has_arrived = received.await.expect("no panic").is_ok();
                // Tasks that were woken at the same time run before the next check.
                tokio::task::yield_now().await;
                // One park is for the call. More mean bytes, or seldom a close timer: then it checks again.
                if has_arrived && runtime.worker_park_count(0) - parked <= 1 {
                    quiet += 1;
                } else {
                    (quiet, step) = (0, least);
                }
            }
        }
    });
    clock
}
