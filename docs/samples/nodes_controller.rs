// Test of the controller in `src/writing-a-controller.md`, against the embedded API server and with the permissions of that page.
// The page includes it after its own code.

#[tokio::main(flavor = "current_thread")]
async fn test() -> Result<()> {
    use anyhow::Context as _;
    use k8s_openapi::api::core::v1;
    use kube_controller_client::{Client, ClientOptions, Config};
    use kube_dev_apiserver::{Authorization, On, Server, Transport, User};
    use kube_lease_election::LeaseName;
    use serde_json::{Value, json};
    use std::collections::BTreeSet;
    use std::time::Duration;
    let (authorization, transport) = (Authorization::Rbac, Transport::Tls);
    let config = kube_dev_apiserver::Config { authorization, transport, ..Default::default() };
    let server = Server::start(config).await?;
    let page = std::fs::read_to_string("src/writing-a-controller.md")?;
    let yaml =
        page.split_once("```yaml\n").and_then(|(_, rest)| Some(rest.split_once("```")?.0)).context("no rules")?;
    let rules =
        yaml.split("---\n").map(|object| Ok(serde_saphyr::from_str(object)?)).collect::<Result<Vec<Value>>>()?;
    server.load(rules.clone())?;
    let node = |name: &str, address: &str| {
        let status = json!({"addresses": [{"type": "InternalIP", "address": address}]});
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status})
    };
    let metadata = json!({"name": "agent", "namespace": "default", "labels": {"example.com/nodes": "yes"}});
    let spec = json!({"clusterIP": "None", "ports": [{"name": "https", "port": 10250}]});
    let agent = json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec});
    server.load([node("n1", "192.0.2.1"), agent])?;
    let user = User::service_account("default", "nodes-controller");
    let config = Config::from_kubeconfig_text(&server.kubeconfig_for(user.clone()))?;
    let client = Client::new(&config, ClientOptions::default())?;
    let stop = CancellationToken::new();
    let controller = Controller::new("nodes.example.com", client)
        .with_leader_election(LeaseName::new("default", "nodes-controller"));
    let controller = tokio::spawn(run(controller, stop.clone()));
    let becomes = async |expected: &[&str]| {
        let holds = || {
            let slices = server.objects("discovery.k8s.io", "endpointslices");
            let endpoints = slices.iter().flat_map(|slice| slice["endpoints"].as_array().into_iter().flatten());
            endpoints.map(|it| it["addresses"][0].as_str()).eq(expected.iter().map(|it| Some(*it))).then_some(())
        };
        server.wait_until(Duration::from_secs(60), holds).await
    };
    becomes(&["192.0.2.1"]).await?;
    server.load([node("n2", "192.0.2.2")])?;
    becomes(&["192.0.2.1", "192.0.2.2"]).await?;
    server.typed::<v1::Service>().patch("agent", &json!({"metadata": {"labels": null}}))?;
    becomes(&[]).await?;
    let renewals = On::any().verb("update").resource("leases");
    server.wait_until(Duration::from_secs(60), || (server.requests().count(&renewals) > 0).then_some(())).await?;
    stop.cancel();
    controller.await??;

    // Nothing was forbidden, and no rule is superfluous but those that the table calls optional.
    let requests = server.requests().matching(&On::any().user(&user.name));
    assert!(requests.iter().all(|it| it.status != Some(403)), "{requests:#?}");
    let used: BTreeSet<_> = requests.iter().map(|it| format!("{} {}", it.verb, it.resource)).collect();
    let texts = |list: &Value| -> Vec<String> {
        list.as_array().into_iter().flatten().filter_map(|it| Some(it.as_str()?.to_owned())).collect()
    };
    let mut granted = BTreeSet::new();
    for rule in rules.iter().flat_map(|object| object["rules"].as_array().into_iter().flatten()) {
        for resource in texts(&rule["resources"]) {
            granted.extend(texts(&rule["verbs"]).iter().map(|verb| format!("{verb} {resource}")));
        }
    }
    let unused: Vec<_> = granted.difference(&used).map(String::as_str).collect();
    let optional = [
        "create events",
        "create subjectaccessreviews",
        "create tokenreviews",
        "patch events",
        "update services/finalizers",
        "watch leases",
    ];
    assert_eq!(unused, optional);
    server.shutdown().await;
    Ok(())
}
