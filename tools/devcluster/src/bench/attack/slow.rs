//! Clients that are silent, or send everything slowly.

use std::{io, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    time::{sleep, timeout},
};

use super::{Counters, Https, connect, source};

/// Time between two bytes.
const BYTE_INTERVAL: Duration = Duration::from_secs(1);
/// Time from the end of a connection to the next attempt.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// A client with one connection. Of four, two are silent, one sends a handshake slowly, and one a request.
pub(super) struct Client {
    pub(super) number: usize,
    pub(super) https: Arc<Https>,
    pub(super) hello: Vec<u8>,
}

impl Client {
    /// Connects again and again until dropped.
    pub(super) async fn run(self, delay: Duration, counters: Arc<Counters>) {
        sleep(delay).await;
        loop {
            counters.attempted();
            // An error means that the server has closed the connection.
            let _ = self.connection(&counters).await;
            sleep(RETRY_INTERVAL).await;
        }
    }

    async fn connection(&self, counters: &Counters) -> io::Result<()> {
        let source = source(self.number);
        match self.number % 4 {
            0 | 1 => trickle(connect(source, self.https.address).await?, &[]).await,
            2 => trickle(connect(source, self.https.address).await?, &self.hello).await,
            _ => {
                let stream = self.https.connect(source).await?;
                counters.answered();
                trickle(stream, b"GET /livez HTTP/1.1\r\nhost: localhost\r\nx: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx").await
            }
        }
    }
}

/// Sends bytes slowly, then waits until the server closes the connection.
async fn trickle(mut stream: impl AsyncRead + AsyncWrite + Unpin, bytes: &[u8]) -> io::Result<()> {
    let mut ignored = [0; 256];
    for byte in bytes {
        stream.write_all(&[*byte]).await?;
        stream.flush().await?;
        if let Ok(read) = timeout(BYTE_INTERVAL, stream.read(&mut ignored)).await
            && read? == 0
        {
            return Ok(());
        }
    }
    while stream.read(&mut ignored).await? > 0 {}
    Ok(())
}
