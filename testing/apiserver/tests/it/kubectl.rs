//! Tests with kubectl. Skipped with a message if it is not installed.

use std::process::Stdio;
use std::time::Duration;

use kube_dev_apiserver::{Authorization, Config, Server, Transport, User};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use crate::client::LIMIT;

const MANIFEST: &str = "
apiVersion: v1
kind: Namespace
metadata: {name: kx}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: kx, labels: {a: b}}
spec:
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080}, {name: https, port: 443}]
---
apiVersion: v1
kind: Pod
metadata: {name: p1, namespace: kx, labels: {app: web}}
spec: {nodeName: n1, containers: [{name: c, image: 'app:1'}]}
";

const DEFINITION: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: integer}}}}
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
";

/// kubectl with its own server, home directory and cache.
pub(crate) struct Kubectl {
    server: Server,
    directory: TempDir,
}

impl Kubectl {
    /// Returns `None` if kubectl is not installed.
    pub(crate) async fn start(name: &str) -> Option<Self> {
        Self::start_with(name, Config::default()).await
    }

    async fn start_with(name: &str, config: Config) -> Option<Self> {
        let found = Command::new("kubectl").args(["version", "--client"]).stdout(Stdio::null()).status().await;
        if !found.is_ok_and(|status| status.success()) {
            eprintln!("SKIPPED {name}: kubectl is not installed");
            return None;
        }
        let server = Server::start(config).await.unwrap();
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("config"), server.kubeconfig()).unwrap();
        Some(Self { server, directory })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("kubectl");
        command
            .args(arguments)
            .env("KUBECONFIG", self.directory.path().join("config"))
            .env("KUBECACHEDIR", self.directory.path().join("cache"))
            .env("HOME", self.directory.path())
            .env_remove("HTTP_PROXY")
            .env_remove("http_proxy")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// Runs kubectl with standard input, and returns whether it succeeded and its output, standard error included.
    async fn run(&self, arguments: &[&str], input: &str) -> (bool, String) {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // Ignore a broken pipe: kubectl may exit without reading.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
        let output = timeout(LIMIT, child.wait_with_output()).await;
        let output = output.unwrap_or_else(|_| panic!("kubectl {arguments:?} timed out")).unwrap();
        let printed = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(printed).unwrap())
    }

    #[track_caller]
    fn line(line: &str) -> Vec<&str> {
        line.split_whitespace().collect()
    }

    /// Runs a command line that must succeed and whose output must contain all of `expect`.
    pub(crate) async fn expect_success(&self, line: &str, input: &str, expect: &[&str]) -> String {
        let (success, printed) = self.run(&Self::line(line), input).await;
        assert!(success, "kubectl {line}: {printed}");
        // Ignore column widths.
        let normalized = printed.split_whitespace().collect::<Vec<_>>().join(" ");
        for text in expect {
            assert!(normalized.contains(text), "output of kubectl {line} does not contain {text:?}: {printed}");
        }
        printed
    }

    pub(crate) async fn expect_failure(&self, line: &str, input: &str, expect: &str) {
        let (success, printed) = self.run(&Self::line(line), input).await;
        assert!(!success && printed.contains(expect), "kubectl {line}: {printed}");
    }
}

#[tokio::test]
async fn kubectl_applies_gets_patches_and_deletes() {
    let Some(kubectl) = Kubectl::start("objects").await else { return };
    let created = ["namespace/kx created", "service/web created", "pod/p1 created"];
    kubectl.expect_success("apply -f -", MANIFEST, &created).await;
    let changed = MANIFEST.replace("targetPort: 8080", "targetPort: 9090");
    kubectl.expect_success("apply -f -", &changed, &["namespace/kx unchanged", "service/web configured"]).await;

    kubectl
        .expect_success("get pods,svc -A", "", &["kx pod/p1 0/1 Pending 0", "kx service/web ClusterIP 10.96."])
        .await;
    kubectl
        .expect_success("get svc -n kx -o wide", "", &["PORT(S) AGE SELECTOR", "<none> 80/TCP,443/TCP", "app=web"])
        .await;
    kubectl.expect_success("get svc web -n kx -o yaml", "", &["targetPort: 9090", "name: https", "a: b"]).await;
    kubectl.expect_success("describe svc web -n kx", "", &["Selector: app=web", "TargetPort: 9090/TCP"]).await;
    kubectl.expect_success("describe pod p1 -n kx", "", &["Status: Pending", "QoS Class: BestEffort"]).await;

    let strategic = r#"patch svc web -n kx -p {"spec":{"ports":[{"port":443,"targetPort":9443}]}}"#;
    kubectl.expect_success(strategic, "", &["service/web patched"]).await;
    let ports = kubectl.expect_success("get svc web -n kx -o jsonpath={.spec.ports[*].targetPort}", "", &[]).await;
    assert_eq!(ports, "9090 9443");
    let json = r#"patch svc web -n kx --type=json -p [{"op":"replace","path":"/metadata/labels/a","value":"z"}]"#;
    kubectl.expect_success(json, "", &["patched"]).await;
    kubectl.expect_success("label svc web -n kx x=y", "", &["labeled"]).await;
    kubectl.expect_success("annotate pod p1 -n kx n=1", "", &["annotated"]).await;
    let status = r#"patch pod p1 -n kx --subresource=status --type=merge -p {"status":{"podIP":"10.1.2.3"}}"#;
    kubectl.expect_success(status, "", &["patched"]).await;
    kubectl
        .expect_success(
            "wait --for=jsonpath={.status.podIP}=10.1.2.3 pod/p1 -n kx --timeout=5s",
            "",
            &["condition met"],
        )
        .await;

    let server_side =
        ["namespace/kx serverside-applied", "service/web serverside-applied", "pod/p1 serverside-applied"];
    kubectl.expect_success("apply --server-side --force-conflicts -f -", MANIFEST, &server_side).await;

    let unknown = MANIFEST.replace("nodeName: n1", "nodeNam: n1");
    kubectl.expect_failure("apply -f -", &unknown, r#"unknown field "spec.nodeNam""#).await;
    kubectl.expect_failure("scale --replicas=1 deploy/none -n kx", "", "deployments.apps \"none\" not found").await;

    kubectl.expect_success("delete pod p1 -n kx --grace-period=0 --force", "", &["force deleted"]).await;
    kubectl.expect_failure("get pod p1 -n kx", "", r#"pods "p1" not found"#).await;
    kubectl.expect_success("delete ns kx", "", &[r#"namespace "kx" deleted"#]).await;
    kubectl.expect_failure("get svc web -n kx", "", "NotFound").await;
}

#[tokio::test]
async fn kubectl_uses_discovery_and_openapi() {
    let Some(kubectl) = Kubectl::start("kinds").await else { return };
    let resources = ["pods po v1 true Pod", "nodes no v1 false Node", "endpointslices discovery.k8s.io/v1 true"];
    kubectl.expect_success("api-resources", "", &resources).await;
    kubectl
        .expect_success("explain svc.spec.ports", "", &["FIELD: ports <[]ServicePort>", "targetPort <IntOrString>"])
        .await;
    kubectl.expect_success("apply -f -", DEFINITION, &["created"]).await;
    kubectl
        .expect_success("wait --for=condition=Established crd/widgets.example.com --timeout=5s", "", &["condition met"])
        .await;
    let widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 3}\n";
    kubectl.expect_success("apply -f -", widget, &["widget.example.com/w created"]).await;
    kubectl
        .expect_success("apply -f -", &widget.replace("size: 3", "size: 4"), &["widget.example.com/w configured"])
        .await;
    kubectl.expect_success("get wd", "", &["NAME SIZE w 4"]).await;
    kubectl.expect_success("delete crd widgets.example.com", "", &["deleted"]).await;
    kubectl.expect_success("get ns", "", &["default Active", "kube-system Active"]).await;
}

#[tokio::test]
async fn kubectl_watch_prints_a_row_for_each_change() {
    let Some(kubectl) = Kubectl::start("watch").await else { return };
    kubectl.expect_success("apply -f -", MANIFEST, &[]).await;
    let mut watch = kubectl.command(&["get", "pods", "-n", "kx", "-w"]).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let mut next = async || timeout(LIMIT, lines.next_line()).await.expect("no row in time").unwrap().unwrap();
    assert!(next().await.starts_with("NAME"));
    assert!(next().await.contains("Pending"));
    let status = r#"patch pod p1 -n kx --subresource=status --type=merge -p {"status":{"phase":"Running"}}"#;
    kubectl.expect_success(status, "", &[]).await;
    assert!(next().await.contains("Running"));
    watch.kill().await.unwrap();
}

/// kubectl sends generated objects in protobuf.
#[tokio::test]
async fn kubectl_create_generators_work() {
    let Some(kubectl) = Kubectl::start("generators").await else { return };
    kubectl.expect_success("create namespace kx", "", &["namespace/kx created"]).await;
    kubectl
        .expect_success("create configmap settings -n kx --from-literal=a=b", "", &["configmap/settings created"])
        .await;
    assert_eq!(kubectl.expect_success("get cm settings -n kx -o jsonpath={.data}", "", &[]).await, r#"{"a":"b"}"#);
    kubectl.expect_success("create service clusterip web -n kx --tcp=80:8080", "", &["service/web created"]).await;
    kubectl.expect_success("create service nodeport front -n kx --tcp=443", "", &["service/front created"]).await;
    kubectl.expect_success("create service externalname far -n kx --external-name=example.com", "", &["created"]).await;
    let services = ["far ExternalName <none> example.com", "front NodePort 10.96.", "web ClusterIP 10.96.", "80/TCP"];
    kubectl.expect_success("get svc -n kx", "", &services).await;
    kubectl.expect_failure("create service clusterip web -n kx --tcp=80", "", r#"services "web" already exists"#).await;
    kubectl
        .expect_success("create service clusterip dry -n kx --tcp=80 --dry-run=server", "", &["(server dry run)"])
        .await;
    kubectl.expect_failure("get svc dry -n kx", "", "NotFound").await;

    kubectl.expect_success("create serviceaccount robot -n kx", "", &["serviceaccount/robot created"]).await;
    let token = kubectl.expect_success("create token robot -n kx --duration=20m --audience=me", "", &[]).await;
    assert!(token.trim().len() > 20, "{token}");
    kubectl.expect_failure("create token nobody -n kx", "", r#"serviceaccounts "nobody" not found"#).await;

    kubectl.expect_success("create role reader -n kx --verb=get,list --resource=pods", "", &["reader created"]).await;
    kubectl
        .expect_success("create rolebinding read -n kx --role=reader --serviceaccount=kx:robot", "", &["created"])
        .await;
    kubectl.expect_success("create clusterrole nodes --verb=get --resource=nodes", "", &["nodes created"]).await;
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: writer, namespace: kx}\n\
                rules: [{apiGroups: [''], resources: [pods], verbs: [create]}]\n";
    kubectl.expect_success("apply -f -", role, &["writer created"]).await;
    kubectl.expect_success("apply -f -", &role.replace("create]", "create, delete]"), &["writer configured"]).await;
    kubectl.expect_failure("apply -f -", &role.replace("verbs", "verb"), r#"unknown field "rules[0].verb""#).await;
    kubectl.expect_success("create clusterrolebinding nodes --clusterrole=nodes --user=jane", "", &["created"]).await;
    kubectl.expect_success("run one -n kx --image=app:1", "", &["pod/one created"]).await;
    kubectl.expect_success("expose pod one -n kx --port=80 --name=one", "", &["service/one exposed"]).await;
    kubectl.expect_success("set selector svc one run=two -n kx", "", &["selector updated"]).await;
}

#[tokio::test]
async fn kubectl_auth_can_i_uses_access_reviews() {
    // kubectl sends tokens over TLS only.
    let config = Config { authorization: Authorization::Rbac, transport: Transport::Tls, ..Config::default() };
    let Some(kubectl) = Kubectl::start_with("access", config).await else { return };
    kubectl.expect_success("create clusterrole reader --verb=get --resource=pods", "", &[]).await;
    kubectl.expect_success("create clusterrolebinding reader --clusterrole=reader --user=jane", "", &[]).await;
    assert_eq!(kubectl.expect_success("auth can-i create pods", "", &[]).await, "yes\n");
    let resources = ["tokenreviews authentication.k8s.io/v1 false TokenReview"];
    kubectl.expect_success("api-resources --api-group=authentication.k8s.io", "", &resources).await;
    let review = "apiVersion: authorization.k8s.io/v1\nkind: SubjectAccessReview\nspec: {user: jane, \
                  resourceAttributes: {verb: get, resource: pods, namespace: default}}";
    assert_eq!(kubectl.expect_success("create -f - -o jsonpath={.status.allowed}", review, &[]).await, "true");
    kubectl.expect_success("auth whoami --as=jane --as-group=staff", "", &["Username jane", "[staff"]).await;
    kubectl.expect_failure("delete pod p --as=jane", "", r#"User "jane" cannot delete resource "pods""#).await;
    for role in ["view", "edit", "admin"] {
        let binding = format!("create rolebinding {role} --clusterrole={role} --user={role}");
        kubectl.expect_success(&binding, "", &[]).await;
    }
    for (user, verb, resource, allowed) in [
        ("view", "list", "endpointslices", true),
        ("view", "create", "services", false),
        ("view", "list", "deployments", true),
        ("view", "list", "jobs", true),
        ("view", "get", "secrets", false),
        ("edit", "get", "secrets", true),
        ("edit", "create", "secrets", true),
        ("edit", "create", "deployments", true),
        ("edit", "create", "jobs", true),
        ("edit", "get", "pods", true),
        ("edit", "create", "services", true),
        ("edit", "create", "endpointslices", false),
        ("edit", "create", "rolebindings", false),
        ("admin", "create", "services", true),
        ("admin", "create", "rolebindings", true),
    ] {
        let (_, answer) = kubectl.run(&["auth", "can-i", verb, resource, &format!("--as={user}")], "").await;
        assert_eq!(answer.lines().last(), Some(if allowed { "yes" } else { "no" }), "{user} {verb} {resource}");
    }

    let janes = kubectl.server.kubeconfig_for(User::new("jane").group("system:authenticated"));
    std::fs::write(kubectl.directory.path().join("config"), janes).unwrap();
    assert_eq!(kubectl.expect_success("auth can-i get pods", "", &[]).await, "yes\n");
    kubectl
        .expect_failure("get pods --as=edit", "", r#"users "edit" is forbidden: User "jane" cannot impersonate"#)
        .await;
    kubectl.expect_failure("auth can-i delete pods", "", "no").await;
    kubectl.expect_failure("delete pod p", "", r#"User "jane" cannot delete resource "pods""#).await;
    kubectl.expect_success("auth can-i --list", "", &["pods [] [] [get]"]).await;
    kubectl.expect_success("auth whoami", "", &["Username jane"]).await;
}

/// kubectl deletes the namespace first, since it is the first object in the manifest.
#[tokio::test]
async fn kubectl_deletes_a_namespace_with_its_objects() {
    let config = Config { namespace_grace: Duration::MAX, ..Config::default() };
    let Some(kubectl) = Kubectl::start_with("namespace", config).await else { return };
    kubectl.expect_success("apply -f -", MANIFEST, &[]).await;
    let deleted = [r#"namespace "kx" deleted"#, r#"service "web" deleted"#, r#"pod "p1" deleted"#];
    kubectl.expect_success("delete -f - --wait=false", MANIFEST, &deleted).await;
    kubectl.expect_success("get ns kx", "", &["kx Terminating"]).await;
    kubectl.expect_failure("create configmap late -n kx", "", "namespace kx because it is being terminated").await;
    kubectl.server.empty_namespaces();
    kubectl.expect_failure("get ns kx", "", "NotFound").await;
}

/// kubectl requests `/openapi/v2` in protobuf for objects whose kind it does not know from discovery alone.
#[tokio::test]
async fn kubectl_reads_lists_and_new_kinds() {
    let Some(kubectl) = Kubectl::start("lists").await else { return };
    let list = "apiVersion: v1\nkind: List\nitems:\n\
                - {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n\
                - {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n";
    kubectl.expect_success("create -f -", list, &["configmap/a created", "configmap/b created"]).await;
    kubectl.expect_success("apply -f -", list, &["configmap/a configured", "configmap/b configured"]).await;
    kubectl.expect_success("replace -f -", list, &["configmap/a replaced", "configmap/b replaced"]).await;
    let both = format!("{DEFINITION}---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: w}}\n");
    let (_, printed) = kubectl.run(&["apply", "-f", "-"], &both).await;
    assert!(printed.contains("widgets.example.com created"), "{printed}");
    assert!(printed.contains(r#"no matches for kind "Widget" in version "example.com/v1""#), "{printed}");
    kubectl.expect_success("apply -f -", &both, &["widget.example.com/w created"]).await;
}

#[tokio::test]
async fn kubectl_hears_that_nothing_runs() {
    let Some(kubectl) = Kubectl::start("containers").await else { return };
    kubectl.expect_success("run pending --image=app:1", "", &[]).await;
    kubectl.expect_success(r#"run p --image=app:1 --overrides={"spec":{"nodeName":"n"}}"#, "", &[]).await;
    for line in ["logs p", "exec p -- ls"] {
        kubectl.expect_failure(line, "", "runs no containers").await;
    }
    // As a real server, which has no kubelet to ask.
    assert_eq!(kubectl.expect_success("logs pending", "", &[]).await, "");
    kubectl.expect_failure("exec pending -- ls", "", "pod pending does not have a host assigned").await;
    kubectl.expect_failure("logs gone", "", r#"pods "gone" not found"#).await;
    kubectl.expect_success("get --raw /readyz?verbose", "", &["[+]ping ok", "readyz check passed"]).await;
    kubectl.expect_success("get --raw /metrics", "", &[r#"resource="pods"} 2"#]).await;
    kubectl.expect_success("get --raw /", "", &["/apis/discovery.k8s.io/v1"]).await;
}
