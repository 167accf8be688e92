//! Paused time of tests with sockets.

use std::{net::UdpSocket, sync::Arc, time::Duration};

use tokio::{runtime::Handle, task::JoinSet, time::sleep};

/// Time after which the clock waits for bytes that are on their way.
const STEP: Duration = Duration::from_millis(100);

/// Number of looks in a row at which no bytes arrive before the clock goes on.
const QUIET: usize = 2;

/// Lets the paused clock of tokio advance only while no bytes are on their way between sockets of this thread, until the result is
/// dropped. Work then takes at most some 100 ms on it, however slow the machine is.
///
/// Alone, tokio goes on to the next timer whenever no task is ready, such as a timeout of the request whose answer the kernel of a
/// busy machine delivers late. The runtime must have one thread, on which clients and servers run.
pub fn wait_for_bytes() -> JoinSet<()> {
    let [sender, receiver] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").expect("a socket"));
    sender.connect(receiver.local_addr().expect("an address")).expect("connected");
    let (receiver, runtime) = (Arc::new(receiver), Handle::current().metrics());
    let mut clock = JoinSet::new();
    clock.spawn(async move {
        loop {
            sleep(STEP).await;
            let mut quiet = 0;
            while quiet < QUIET {
                let parked = runtime.worker_park_count(0);
                // It arrives after the bytes that were sent before. The clock does not advance during a blocking call.
                sender.send(&[0]).expect("sent");
                let receiver = Arc::clone(&receiver);
                let received = tokio::task::spawn_blocking(move || receiver.recv(&mut [0]));
                received.await.expect("no panic").expect("received");
                // The runtime has waited once, for this call, unless bytes have woken another task.
                quiet = if runtime.worker_park_count(0) - parked <= 1 { quiet + 1 } else { 0 };
            }
        }
    });
    clock
}
