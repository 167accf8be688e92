//! A user who may view one namespace: no Nodes, and nothing of other namespaces.

use kube_dev_apiserver::{Authorization, Config, Transport, User};
use serde_json::json;

use crate::cluster::Cluster;
use crate::record::{Recorder, client, flip, is_flip};
use crate::rights::rules;

/// Rules of the cluster role `view` of Kubernetes, as far as they are about objects that the program reads.
const VIEW: [&str; 2] = [
    "get,list,watch endpoints,namespaces,namespaces/status,pods,pods/status,services,services/status",
    "get,list,watch endpointslices.discovery.k8s.io",
];

/// Starts a cluster in which `alice` has the role `view` in the namespace `shop`.
async fn cluster() -> Cluster {
    let api_version = "rbac.authorization.k8s.io/v1";
    let metadata = json!({"name": "view"});
    let role = json!({"apiVersion": api_version, "kind": "ClusterRole", "metadata": metadata, "rules": rules(&VIEW)});
    let named = |kind: &str, name: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name});
    let binding = json!({"apiVersion": api_version, "kind": "RoleBinding",
        "metadata": {"namespace": "shop", "name": "viewers"},
        "roleRef": named("ClusterRole", "view"), "subjects": [named("User", "alice")]});
    let (authorization, transport) = (Authorization::Rbac, Transport::Tls);
    Cluster::start_with(Config { authorization, transport, ..Config::default() }, [role, binding]).await
}

#[tokio::test]
async fn everything_but_nodes_is_recorded_and_explained() {
    let cluster = cluster().await;
    let administrator = client(&cluster).await;
    cluster.write_kubeconfig(&cluster.server.kubeconfig_for(User::new("alice")));
    let recorder = Recorder::start(&cluster).await;
    assert!(recorder.beginning.starts_with("warning: may not list nodes: "), "{}", recorder.beginning);
    flip(&administrator, "web-1", true).await;
    let flipped = recorder.recorded("flip", |change| is_flip(change, "web-1", true)).await;
    let path = recorder.path.display().to_string();
    let (status, end) = recorder.stop("TERM").await;
    assert!(status == 0 && end.lines().count() == 1, "{end}");

    let warning = "warning: the recorder may not read Nodes\n";
    let run = cluster.run(&format!("history web -n shop --history {path}")).await;
    let cause = "10.0.0.2 (Pod web-1): not ready -> ready, 2 ready: no longer EP102 not ready";
    assert_eq!((run.status, run.stderr.as_str()), (0, warning), "{run:?}");
    assert!(run.stdout.contains(cause) && run.stdout.contains("; Pod shop/web-1 was changed"), "{run:?}");
    assert_eq!(run.stdout.lines().count(), 1, "{run:?}");
    let run = cluster.run(&format!("history --summary -n shop --history {path}")).await;
    assert_eq!((run.status, run.stderr.as_str()), (0, warning), "{run:?}");
    assert!(run.stdout.contains(": 2 Services, 1 change of endpoints.\n"), "{run:?}");

    let before = flipped - jiff::SignedDuration::from_micros(1);
    for (at, ready) in [(before, 1), (flipped, 2)] {
        let run = cluster.run(&format!("explain svc/web -n shop -o json --history {path} --at {at}")).await;
        assert_eq!((run.status, run.stderr.as_str()), (0, warning), "{run:?}");
        assert_eq!((&run.json()["unknown"], &run.json()["wouldServe"]), (&json!(["Node"]), &json!(ready)));
    }
}
