//! The clusters, and what is needed in each.

use kube_endpoints_retire::Facts;
use serde_json::{Value, json};

use super::cluster::{Seed, custom, pod, service, spec};
use super::log::{Log, request};

/// A cluster with its truth.
pub(super) struct Case {
    pub(super) name: &'static str,
    /// Names of the managed Endpoints that somebody needs.
    pub(super) needed: &'static str,
    /// What the plan says about the cluster.
    pub(super) answer: &'static str,
    pub(super) facts: Facts,
}

const ALL: &str = "web api tool";
const PROMETHEUS: &str = "system:serviceaccount:monitoring:prometheus";

fn case(name: &'static str, needed: &'static str, answer: &'static str, seed: &Seed) -> Case {
    Case { name, needed, answer, facts: seed.facts() }
}

/// A complete log with more requests.
fn logged(requests: impl IntoIterator<Item = Value>) -> Log {
    Log::week().with(requests)
}

fn read(user: &str, verb: &str, path: &str) -> Log {
    logged([request(30, user, verb, path), request(2, user, verb, path)])
}

/// Gives a request other fields.
fn with(mut request: Value, field: &str, value: Value) -> Value {
    request[field] = value;
    request
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = logs();
    cases.extend(readers());
    cases.extend(programs());
    cases.extend(contents());
    cases.extend(others());
    cases
}

fn logs() -> Vec<Case> {
    let shop = Seed::shop();
    let with_log = |log: Log| shop.clone().log(log);
    let with_file = |hours, resource, verb| with_log(Log::default().file(hours, resource, verb));
    let server = |log: Log| log.file(0..=168, "endpoints", "watch");
    vec![
        case("no audit log", "", "unknown", &shop),
        case("no reader", "", "safe", &with_log(Log::week())),
        case("audit log of three days", "web", "unknown", &with_file(0..=72, "endpoints", "watch")),
        case("audit log that ended three days ago", ALL, "unknown", &with_file(72..=250, "endpoints", "watch")),
        case("audit log of writes only", ALL, "unknown", &with_file(0..=168, "endpoints", "update")),
        case("audit log of reads, but not of Endpoints", ALL, "unknown", &with_file(0..=168, "pods", "list")),
        case(
            "audit log without one night",
            "api",
            "unknown",
            &with_log(Log::default().file(60..=168, "endpoints", "watch").file(0..=50, "endpoints", "watch")),
        ),
        case(
            "audit log of one of three API servers; the reader uses another",
            ALL,
            "unknown",
            &with_log(Log::week()).api_servers(3, false),
        ),
        case(
            "audit log of one of two API servers, and a copy that begins later",
            ALL,
            "unknown",
            &with_log(Log::default().file(0..=170, "endpoints", "watch").copied_from(1)).api_servers(2, false),
        ),
        case(
            "audit logs of three API servers",
            "",
            "safe",
            &with_log(server(server(Log::week()))).api_servers(3, false),
        ),
        case(
            "one file of three API servers, from a log pipeline",
            "",
            "safe",
            &with_log(Log::week()).api_servers(3, true),
        ),
        case("audit log of four weeks, no reader", "", "safe", &with_file(0..=672, "endpoints", "watch")),
    ]
}

fn readers() -> Vec<Case> {
    let shop = Seed::shop();
    let with_log = |log: Log| shop.clone().log(log);
    let alice = |verb, path| with_log(read("alice", verb, path));
    let denied = with(request(2, "alice", "list", "/"), "responseStatus", json!({"code": 403}));
    let not_found = with(request(2, "alice", "get", "shop/web"), "responseStatus", json!({"code": 404}));
    let plugin = with(request(2, "alice", "list", "/"), "userAgent", json!("kubectl-endpoints/0.1.0"));
    let human = with(request(99, "alice", "list", "/"), "userAgent", json!("kubectl/v1.36.0"));
    let as_bob = with(request(2, "alice", "get", "shop/web"), "impersonatedUser", json!({"username": "bob"}));
    let collector = "system:serviceaccount:kube-system:generic-garbage-collector";
    let at_first = logged([request(167, "alice", "get", "shop/web")]);
    vec![
        case("a program watches all Endpoints", ALL, "not safe", &with_log(read(PROMETHEUS, "watch", "/"))),
        case("a program lists one namespace", "web api", "not safe", &alice("list", "shop/")),
        case("a job gets one object", "web", "not safe", &alice("get", "shop/web")),
        case("a job has got one object, at the beginning of the log", "web", "not safe", &with_log(at_first)),
        case("a program gets an object that is missing at times", "web", "not safe", &with_log(logged([not_found]))),
        case("a watch selects one name", "api", "not safe", &alice("watch", "shop/?fieldSelector=metadata.name%3Dapi")),
        case(
            "a watch selects labels of one object",
            "web",
            "not safe",
            &alice("watch", "shop/?labelSelector=app%3Dweb"),
        ),
        case(
            "a watch selects labels of no managed object",
            "",
            "safe",
            &alice("watch", "shop/?labelSelector=cluster-name%3Ddb"),
        ),
        case("a user acts as another", "web", "not safe", &with_log(logged([as_bob]))),
        case("requests that were denied", "", "safe", &with_log(logged([denied]))),
        case("only controllers, and this plugin", "", "safe", &with_log(read(collector, "watch", "/").with([plugin]))),
        case("somebody has looked once, with kubectl", "", "not safe", &with_log(logged([human]))),
        case(
            "a backup lists everything",
            "",
            "not safe",
            &with_log(read("system:serviceaccount:velero:velero", "list", "/")),
        ),
    ]
}

fn programs() -> Vec<Case> {
    let shop = Seed::shop();
    let nginx = |version: &str| {
        let image = format!("registry.k8s.io/ingress-nginx/controller:{version}");
        shop.clone().program("ingress", "nginx", &image, &[])
    };
    let prometheus = shop.clone().program("monitoring", "prometheus", "quay.io/prometheus/prometheus:v3.0.0", &[]);
    let metrics = |resources: &str| {
        shop.clone().program(
            "monitoring",
            "ksm",
            "registry.k8s.io/kube-state-metrics/kube-state-metrics:v2.15.0",
            &[resources],
        )
    };
    let everything = json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]});
    let of_web = json!({"apiGroups": [""], "resources": ["endpoints"], "resourceNames": ["web"], "verbs": ["get"]});
    let mut new = pod("shop", "new", "registry.example/new:1", &[]);
    new["metadata"]["creationTimestamp"] = json!("2026-11-27T13:59:30Z");
    let linkerd =
        shop.clone().program("linkerd", "destination", "cr.l5d.io/linkerd/controller:edge-25.11.1", &["destination"]);
    let unused = read("system:serviceaccount:linkerd:destination", "watch", "/");
    let without_rights =
        shop.clone().pod(pod("ingress", "nginx", "registry.k8s.io/ingress-nginx/controller:v1.3.1", &[]));
    let proxy = shop.clone().program("kube-system", "kube-proxy", "registry.k8s.io/kube-proxy:v1.18.20", &[]);
    vec![
        case("ingress-nginx 1.3.1, no audit log", ALL, "not safe", &nginx("v1.3.1")),
        case("ingress-nginx 1.9.4, no audit log", "", "unknown", &nginx("v1.9.4")),
        case("ingress-nginx 1.9.4", "", "safe", &nginx("v1.9.4").log(Log::week())),
        case("ingress-nginx 1.3.1 without rights, its work in vain", "", "safe", &without_rights.log(Log::week())),
        case("an old kube-proxy, whose requests the audit policy leaves out", ALL, "unknown", &proxy.log(Log::week())),
        case("Prometheus, no audit log", "", "unknown", &prometheus),
        case("Prometheus with the role endpointslice", "", "safe", &prometheus.clone().log(Log::week())),
        case(
            "Prometheus with the role endpoints",
            ALL,
            "not safe",
            &prometheus.clone().log(read(PROMETHEUS, "watch", "/")),
        ),
        case(
            "kube-state-metrics with its defaults",
            ALL,
            "not safe",
            &metrics("").log(read("system:serviceaccount:monitoring:ksm", "watch", "/")),
        ),
        case("kube-state-metrics without Endpoints", "", "safe", &metrics("--resources=pods").log(Log::week())),
        case("Linkerd, which watches Endpoints and uses EndpointSlices", "", "not safe", &linkerd.log(unused)),
        case(
            "a role with all rights, and no Pod",
            "",
            "safe",
            &shop.clone().right("shop/admin", "", &everything).log(Log::week()),
        ),
        case(
            "a role with all rights, and a Pod that does not use them",
            "",
            "safe",
            &shop
                .clone()
                .pod(pod("shop", "admin", "registry.example/admin:1", &[]))
                .right("shop/admin", "", &everything)
                .log(Log::week()),
        ),
        case(
            "a new program, whose Pod is newer than the audit log",
            "web",
            "unknown",
            &shop.clone().pod(new).right("shop/new", "shop", &of_web).log(Log::week()),
        ),
    ]
}

fn contents() -> Vec<Case> {
    let shop = Seed::shop().log(Log::week());
    let without_selector = shop.clone().service(service("shop", "web", &spec(None)));
    let mut alias = spec(None);
    alias["type"] = json!("ExternalName");
    let no_addresses = json!({"subsets": []});
    let edited = json!([{"manager": "kube-controller-manager", "time": "2026-11-27T10:00:00Z"},
        {"manager": "kubectl-edit", "time": "2026-11-27T11:00:00Z"}]);
    let other_address =
        json!([{"addresses": [{"ip": "192.0.2.9"}], "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}]}]);
    let skip = json!({"metadata": {"labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}}});
    let lock = json!({"metadata": {"annotations": {"control-plane.alpha.kubernetes.io/leader": "{}"}}});
    let unlabelled = json!({"metadata": {"labels": null}});
    let mistaken = custom(
        "default",
        "kubernetes",
        "kube-apiserver",
        &json!({"labels": {"endpoints.kubernetes.io/managed-by": "endpoint-controller"}}),
    );
    let changed = |change| shop.clone().change("web", change);
    let apiserver = shop.clone().without_endpoints("kubernetes");
    let after =
        |name, needed, answer, seed: &Seed| Case { name, needed, answer, facts: seed.facts_after(&Seed::shop()) };
    vec![
        after("selector removed, addresses still in use through the mirror", "web", "not safe", &without_selector),
        after("selector removed, no address left", "", "safe", &without_selector.clone().change("web", no_addresses)),
        after("selector removed, and not mirrored", "", "safe", &without_selector.clone().change("web", skip)),
        after(
            "type changed to ExternalName, addresses still mirrored",
            "web",
            "not safe",
            &shop.clone().service(service("shop", "web", &alias)),
        ),
        after("Service deleted while no controller was running", "", "safe", &shop.clone().without_service("web")),
        case(
            "edited by hand",
            "web",
            "not safe",
            &changed(json!({"metadata": {"managedFields": edited}, "subsets": other_address})),
        ),
        case(
            "annotated by hand, which the controller keeps",
            "web",
            "not safe",
            &changed(json!({"metadata": {"managedFields": edited, "annotations": {"note": "x"}}})),
        ),
        case(
            "written by k3s, a part of which the controller is",
            "",
            "safe",
            &changed(json!({"metadata": {"managedFields": [{"manager": "k3s", "time": "2026-11-27T10:00:00Z"}]}})),
        ),
        case("half migrated: some Endpoints are deleted already", "", "safe", &shop.clone().change("api", json!(null))),
        case(
            "half migrated: controller off, Pods have changed since",
            "",
            "unknown",
            &changed(json!({"subsets": other_address})),
        ),
        case("a lock in managed Endpoints", "web", "not safe", &changed(lock)),
        case("default/kubernetes, labelled by mistake", "kubernetes", "not safe", &apiserver.endpoints(mistaken)),
        case("written by an old controller, without the label", "", "unknown", &changed(unlabelled)),
        case("Services may not be listed", ALL, "unknown", &shop.clone().denied("services")),
        case("Pods may not be listed", ALL, "unknown", &shop.clone().denied("pods")),
        case("Endpoints may not be listed", ALL, "unknown", &shop.clone().denied("endpoints")),
        case("roles may not be listed", "", "safe", &shop.clone().denied("clusterroles")),
    ]
}

/// Endpoints that stay.
fn others() -> Vec<Case> {
    let shop = Seed::shop().log(Log::week());
    let without_selector = |name: &str| service("shop", name, &spec(None));
    let custom = |name: &str, metadata: &Value| custom("shop", name, "operator", metadata);
    let leader = json!({"annotations": {"control-plane.alpha.kubernetes.io/leader": "{\"holderIdentity\":\"a\"}"}});
    let patroni = json!({"labels": {"application": "spilo", "cluster-name": "db"}, "annotations": {"leader": "db-0", "renewTime": "x"}});
    let config = json!({"annotations": {"initialize": "1", "config": "{}"}});
    let skip = json!({"labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}});
    let patroni_reads = logged([
        request(
            2,
            "system:serviceaccount:shop:db",
            "watch",
            "shop/?labelSelector=application%3Dspilo%2Ccluster-name%3Ddb",
        ),
        request(2, "system:serviceaccount:shop:db", "get", "shop/db"),
        request(2, "system:serviceaccount:shop:db", "get", "default/kubernetes"),
    ]);
    vec![
        case("a lock of an old client", "", "safe", &shop.clone().endpoints(custom("scheduler", &leader))),
        case(
            "Patroni, which keeps its state in Endpoints",
            "",
            "safe",
            &Seed::shop()
                .log(patroni_reads)
                .service(without_selector("db"))
                .service(without_selector("db-config"))
                .endpoints(custom("db", &patroni))
                .endpoints(custom("db-config", &config)),
        ),
        case(
            "Gluster: Endpoints by hand for a Service without a selector",
            "",
            "safe",
            &shop.clone().service(without_selector("gluster")).endpoints(custom("gluster", &json!({}))),
        ),
        case(
            "custom Endpoints that are not mirrored",
            "",
            "safe",
            &shop.clone().service(without_selector("legacy")).endpoints(custom("legacy", &skip)),
        ),
        case("custom Endpoints without a Service", "", "safe", &shop.clone().endpoints(custom("alone", &json!({})))),
    ]
}
