// Test of the controller with a client of kube in `src/writing-a-controller.md`, which includes it after its own code.

#[tokio::main(flavor = "current_thread")]
async fn test() -> Result<()> {
    use kube_dev_apiserver::{Config, Server};
    let server = Server::in_process(Config::default())?;
    let stop = CancellationToken::new();
    let controller = tokio::spawn(run(kube::Client::new(server.service(), "default"), stop.clone()));
    let metadata = json!({"name": "web", "namespace": "default"});
    server.load([
        json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": [{"port": 80}]}}),
    ])?;
    let services = server.typed::<Service>();
    let seen = || services.get("web").ok()?.metadata.labels?.remove("example.com/seen");
    assert_eq!(server.wait_until(Duration::from_secs(60), seen).await?, "yes");
    stop.cancel();
    controller.await??;
    Ok(())
}
