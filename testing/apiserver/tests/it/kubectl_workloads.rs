//! kubectl with Deployments, Jobs and Secrets. No controller runs, so that the tests write the status.

use super::kubectl::Kubectl;

#[tokio::test]
async fn kubectl_creates_scales_and_changes_deployments() {
    let Some(kubectl) = Kubectl::start("deployments").await else { return };
    let create = "create deployment web --image=nginx --replicas=3";
    kubectl.expect_success(create, "", &["deployment.apps/web created"]).await;
    kubectl.expect_failure(create, "", r#"deployments.apps "web" already exists"#).await;
    let columns = ["NAME READY UP-TO-DATE AVAILABLE AGE", "web 0/3 0 0"];
    kubectl.expect_success("get deploy", "", &columns).await;
    let wide = ["CONTAINERS IMAGES SELECTOR", "nginx nginx app=web"];
    kubectl.expect_success("get deployments -o wide", "", &wide).await;
    kubectl.expect_success("get all", "", &["deployment.apps/web 0/3"]).await;
    kubectl.expect_success("expose deployment web --port=80", "", &["service/web exposed"]).await;
    kubectl.expect_success("scale deployment web --replicas=5", "", &["deployment.apps/web scaled"]).await;
    let current = "scale deployment web --replicas=2 --current-replicas=3";
    kubectl.expect_failure(current, "", "Expected replicas to be 3, was 5").await;
    kubectl.expect_success("get deployment web -o jsonpath={.spec.replicas}", "", &["5"]).await;
    kubectl.expect_success("set image deployment/web nginx=nginx:2", "", &["image updated"]).await;
    kubectl.expect_success("set env deployment/web A=b", "", &["env updated"]).await;
    kubectl.expect_success("rollout restart deployment/web", "", &["deployment.apps/web restarted"]).await;
    kubectl.expect_success("rollout pause deployment/web", "", &["deployment.apps/web paused"]).await;
    kubectl.expect_success("rollout resume deployment/web", "", &["deployment.apps/web resumed"]).await;
    let described = ["Replicas: 5 desired", "StrategyType: RollingUpdate", "25% max unavailable, 25% max surge"];
    kubectl.expect_success("describe deployment web", "", &described).await;
    kubectl.expect_success("explain deployment.spec.strategy", "", &["rollingUpdate <RollingUpdateDeployment>"]).await;
    let applied = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: api}\nspec:\n  strategy: {type: RollingUpdate, \
                   rollingUpdate: {maxSurge: 1}}\n  selector: {matchLabels: {app: api}}\n  template:\n    metadata: {labels: \
                   {app: api}}\n    spec: {containers: [{name: c, image: a}]}\n";
    kubectl.expect_success("apply -f -", applied, &["deployment.apps/api created"]).await;
    let recreate = applied.replace("{type: RollingUpdate, rollingUpdate: {maxSurge: 1}}", "{type: Recreate}");
    kubectl.expect_success("apply -f -", &recreate, &["deployment.apps/api configured"]).await;
    let other = recreate.replace("{app: api}", "{app: other}");
    kubectl.expect_failure("apply -f -", &other, "field is immutable").await;
    kubectl.expect_success("delete deployment web api", "", &[r#"deployment.apps "web" deleted"#]).await;
}

#[tokio::test]
async fn kubectl_creates_secrets_and_jobs() {
    let Some(kubectl) = Kubectl::start("secrets").await else { return };
    kubectl.expect_success("create secret generic s --from-literal=a=b", "", &["secret/s created"]).await;
    kubectl.expect_success("get secrets", "", &["NAME TYPE DATA AGE", "s Opaque 1"]).await;
    kubectl.expect_success("get secret s -o jsonpath={.data.a}", "", &["Yg=="]).await;
    kubectl.expect_success("describe secret s", "", &["Type: Opaque", "a: 1 bytes"]).await;
    kubectl.expect_success("get secrets --field-selector type=Opaque", "", &["s Opaque"]).await;
    let registry = "create secret docker-registry r --docker-username=u --docker-password=p";
    kubectl.expect_success(registry, "", &["secret/r created"]).await;
    kubectl.expect_success("create job once --image=busybox -- date", "", &["job.batch/once created"]).await;
    let columns = ["NAME STATUS COMPLETIONS DURATION AGE", "once Running 0/1"];
    kubectl.expect_success("get jobs", "", &columns).await;
    kubectl.expect_success("delete job once", "", &[r#"job.batch "once" deleted"#]).await;
}
