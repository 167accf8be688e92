//! The server on its own thread.

use kube_controller_serving::ServerThread;
use kube_endpoints_testing::until;
use tokio::net::{TcpListener, TcpStream};

use super::*;

#[tokio::test]
async fn server_runs_until_it_is_stopped() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let listener = listener.into_std().unwrap();
    let running = ServerThread::start(async move || {
        let listener = TcpListener::from_std(listener).map_err(ServingError::Thread)?;
        Ok::<_, ServingError>(Server::plain(listener, Routes::new(Health::default()), ServingMetrics::default()))
    });
    let running = running.await.unwrap();
    TcpStream::connect(address).await.unwrap();
    running.stop().await;
    let _ = until("closed socket", || TcpStream::connect(address), Result::is_err).await;
}

#[tokio::test]
async fn failed_start_is_an_error() {
    let address = SocketAddr::from(([127, 0, 0, 1], 1));
    let source = || std::io::ErrorKind::AddrInUse.into();
    let started = ServerThread::start(async move || Err(ServingError::Listen { address, source: source() })).await;
    assert_eq!(started.err().unwrap().to_string(), "cannot listen on 127.0.0.1:1");
    let panicked = ServerThread::start(async || -> Result<Server, ServingError> { panic!("no server") }).await;
    assert!(matches!(panicked.err(), Some(ServingError::Thread(_))));
}
