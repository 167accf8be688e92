//! Deployments, `ReplicaSet`s, Jobs and Secrets: defaults, validation, generations and scales.

use rstest::rstest;

use super::*;

fn template(labels: Value) -> Value {
    json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "app:1"}]}})
}

fn deployment(spec: Value) -> Value {
    let mut whole = json!({"selector": {"matchLabels": {"app": "web"}}, "template": template(json!({"app": "web"}))});
    json_patch::merge(&mut whole, &spec);
    json!({"metadata": {"name": "web"}, "spec": whole})
}

fn job(spec: Value) -> Value {
    let mut whole = json!({"template": template(json!({}))});
    whole["template"]["spec"]["restartPolicy"] = json!("Never");
    json_patch::merge(&mut whole, &spec);
    json!({"metadata": {"name": "once"}, "spec": whole})
}

/// Returns the field errors, such as `spec.replicas: Invalid value: -1: …`.
fn reported(result: Result<Value, StatusError>) -> String {
    let error = result.expect_err("an invalid object");
    assert_eq!(error.code, 422, "{error}");
    error.to_string().split_once(" is invalid: ").unwrap().1.to_owned()
}

#[test]
fn deployment_defaults_are_set() {
    let stored = TestStore::new().create("deployments", deployment(json!({})));
    let container = json!({
        "name": "main", "image": "app:1", "imagePullPolicy": "IfNotPresent", "resources": {},
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"
    });
    let expect = json!({
        "progressDeadlineSeconds": 600, "replicas": 1, "revisionHistoryLimit": 10,
        "selector": {"matchLabels": {"app": "web"}},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "containers": [container], "dnsPolicy": "ClusterFirst", "restartPolicy": "Always",
                "schedulerName": "default-scheduler", "securityContext": {}, "terminationGracePeriodSeconds": 30
            }
        }
    });
    assert_eq!(stored["spec"], expect);
    assert_eq!((&stored["status"], &stored["metadata"]["generation"]), (&json!({}), &json!(1)));
}

#[test]
fn replica_set_and_job_defaults_are_set() {
    let mut store = TestStore::new();
    let set = store.create("replicasets", deployment(json!({})));
    assert_eq!((&set["spec"]["replicas"], &set["status"]), (&json!(1), &json!({"replicas": 0})));
    let job = store.create("jobs", job(json!({})));
    let uid = &job["metadata"]["uid"];
    assert_eq!(job["spec"]["selector"], json!({"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}));
    let labels = json!({
        "batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": "once", "controller-uid": uid,
        "job-name": "once"
    });
    assert_eq!(job["spec"]["template"]["metadata"]["labels"], labels);
    for (field, expect) in [
        ("completions", json!(1)),
        ("parallelism", json!(1)),
        ("backoffLimit", json!(6)),
        ("completionMode", json!("NonIndexed")),
        ("suspend", json!(false)),
        ("manualSelector", json!(false)),
        ("podReplacementPolicy", json!("TerminatingOrFailed")),
    ] {
        assert_eq!(job["spec"][field], expect, "{field}");
    }
}

#[rstest]
#[case::replicas(json!({"replicas": -1}), "spec.replicas: Invalid value: -1: must be greater than or equal to 0")]
#[case::no_selector(
    json!({"selector": null}),
    "[spec.selector: Required value, spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does \
     not match template `labels`]"
)]
#[case::labels(
    json!({"selector": {"matchLabels": {"app": "other"}}}),
    "spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match template `labels`"
)]
#[case::operator(
    json!({"selector": {"matchExpressions": [{"key": "app", "operator": "In"}]}}),
    "[spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn', \
     spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match template `labels`]"
)]
#[case::restart_policy(
    json!({"template": {"spec": {"restartPolicy": "Never"}}}),
    "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\""
)]
#[case::container(
    json!({"template": {"spec": {"containers": [{"name": "main"}]}}}),
    "spec.template.spec.containers[0].image: Required value"
)]
#[case::strategy(
    json!({"strategy": {"type": "Fast"}}),
    "spec.strategy.type: Unsupported value: \"Fast\": supported values: \"Recreate\", \"RollingUpdate\""
)]
#[case::recreate(
    json!({"strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}}),
    "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"
)]
#[case::no_room(
    json!({"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "0%"}}}),
    "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"0%\": may not be 0 when `maxSurge` is 0"
)]
#[case::too_much(
    json!({"strategy": {"rollingUpdate": {"maxUnavailable": "101%"}}}),
    "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"101%\": must not be greater than 100%"
)]
#[case::no_percentage(
    json!({"strategy": {"rollingUpdate": {"maxSurge": "five"}}}),
    "spec.strategy.rollingUpdate.maxSurge: Invalid value: \"five\": must be an integer or percentage (e.g '5%%')"
)]
#[case::deadline(
    json!({"minReadySeconds": 10, "progressDeadlineSeconds": 10}),
    "spec.progressDeadlineSeconds: Invalid value: 10: must be greater than minReadySeconds"
)]
fn invalid_deployments_are_rejected(#[case] spec: Value, #[case] expect: &str) {
    let result = TestStore::new().try_create("deployments", deployment(spec));
    assert_eq!(reported(result), expect);
}

#[rstest]
#[case::restart_policy(
    json!({"template": {"spec": {"restartPolicy": "Always"}}}),
    "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\""
)]
#[case::indexed(
    json!({"completionMode": "Indexed", "parallelism": 2}),
    "spec.completions: Required value: when completion mode is Indexed"
)]
#[case::backoff(
    json!({"backoffLimit": -1}),
    "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0"
)]
fn invalid_jobs_are_rejected(#[case] spec: Value, #[case] expect: &str) {
    assert_eq!(reported(TestStore::new().try_create("jobs", job(spec))), expect);
}

#[rstest]
#[case::deployment("deployments")]
#[case::replica_set("replicasets")]
fn selector_is_immutable(#[case] plural: &str) {
    let mut store = TestStore::new();
    store.create(plural, deployment(json!({})));
    let changed = json!({"selector": {"matchLabels": {"b": "1"}}, "template": {"metadata": {"labels": {"b": "1"}}}});
    let result = store.try_merge(plural, "web", json!({"spec": changed}), Part::Main);
    let expect = "spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"web\",\"b\":\"1\"}}: field is immutable";
    assert_eq!(reported(result), expect);
}

#[test]
fn template_of_a_job_changes_only_while_it_is_suspended() {
    let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "app:2"}]}}}});
    let node = json!({"spec": {"template": {"spec": {"nodeSelector": {"disk": "fast"}}}}});
    let mut store = TestStore::new();
    store.create("jobs", job(json!({"suspend": true})));
    store.merge("jobs", "once", node.clone());
    let rejected = reported(store.try_merge("jobs", "once", image, Part::Main));
    assert!(rejected.starts_with("spec.template: ") && rejected.ends_with("field is immutable"), "{rejected}");
    store.merge("jobs", "once", json!({"spec": {"suspend": false}}));
    let slow = json!({"spec": {"template": {"spec": {"nodeSelector": {"disk": "slow"}}}}});
    assert!(store.try_merge("jobs", "once", slow, Part::Main).is_err());
}

/// As upstream, annotations of a Deployment are part of what its controller observes; those of a `ReplicaSet` are not.
#[rstest]
#[case::deployment_spec("deployments", json!({"spec": {"replicas": 3}}), 2)]
#[case::deployment_annotation("deployments", json!({"metadata": {"annotations": {"a": "b"}}}), 2)]
#[case::deployment_label("deployments", json!({"metadata": {"labels": {"a": "b"}}}), 1)]
#[case::set_spec("replicasets", json!({"spec": {"replicas": 3}}), 2)]
#[case::set_annotation("replicasets", json!({"metadata": {"annotations": {"a": "b"}}}), 1)]
fn generation_counts_changes_of_the_spec(#[case] plural: &str, #[case] patch: Value, #[case] expect: i64) {
    let mut store = TestStore::new();
    store.create(plural, deployment(json!({})));
    assert_eq!(store.merge(plural, "web", patch)["metadata"]["generation"], expect);
}

#[test]
fn status_update_keeps_spec_and_generation() {
    let mut store = TestStore::new();
    let created = store.create("deployments", deployment(json!({})));
    let condition = json!({"type": "Available", "status": "True", "lastUpdateTime": "2027-01-15T08:00:00Z",
                           "lastTransitionTime": "2027-01-15T08:00:00Z"});
    let status = json!({"observedGeneration": 1, "replicas": 1, "readyReplicas": 0, "conditions": [condition]});
    let patch = json!({"spec": {"replicas": 9}, "metadata": {"annotations": {"a": "b"}, "labels": {"c": "d"}},
                       "status": status});
    let stored = store.try_merge("deployments", "web", patch, Part::Status).unwrap();
    assert_eq!(stored["spec"], created["spec"]);
    let meta = &stored["metadata"];
    assert_eq!((&meta["generation"], &meta["annotations"]), (&json!(1), &json!({"a": "b"})));
    assert_eq!(meta.get("labels"), None);
    assert_eq!(stored["status"], json!({"observedGeneration": 1, "replicas": 1, "conditions": [condition]}));
    let result = store.try_merge("deployments", "web", json!({"status": {"readyReplicas": 2}}), Part::Status);
    assert_eq!(reported(result), "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas");
}

#[test]
fn secrets_store_strings_as_data() {
    let mut store = TestStore::new();
    let secret =
        json!({"metadata": {"name": "s"}, "data": {"a": "eA==", "b": "eQ=="}, "stringData": {"b": "z", "c": "ü"}});
    let stored = store.create("secrets", secret);
    assert_eq!(stored["type"], "Opaque");
    assert_eq!(stored["data"], json!({"a": "eA==", "b": "eg==", "c": "w7w="}));
    assert_eq!(stored.get("stringData"), None);
}

#[rstest]
#[case::key(json!({"data": {"a/b": ""}}), "data[a/b]: Invalid value: \"a/b\": a valid config key must consist of")]
#[case::tls(json!({"type": "kubernetes.io/tls", "data": {"tls.crt": ""}}), "data[tls.key]: Required value")]
#[case::basic(
    json!({"type": "kubernetes.io/basic-auth"}),
    "[data[username]: Required value, data[password]: Required value]"
)]
#[case::docker(
    json!({"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": "x"}}),
    "data[.dockerconfigjson]: Invalid value: \"<secret contents redacted>\": "
)]
#[case::account(
    json!({"type": "kubernetes.io/service-account-token"}),
    "metadata.annotations[kubernetes.io/service-account.name]: Required value"
)]
fn invalid_secrets_are_rejected(#[case] mut secret: Value, #[case] expect: &str) {
    secret["metadata"] = json!({"name": "s"});
    let rejected = reported(TestStore::new().try_create("secrets", secret));
    assert!(rejected.starts_with(expect), "{rejected}");
}

#[test]
fn immutable_secrets_and_types_of_secrets_do_not_change() {
    let mut store = TestStore::new();
    store.create("secrets", json!({"metadata": {"name": "s"}, "immutable": true, "data": {"a": ""}}));
    let reported_by = |store: &mut TestStore, patch| reported(store.try_merge("secrets", "s", patch, Part::Main));
    let detail = "field is immutable when `immutable` is set";
    let result = reported_by(&mut store, json!({"immutable": null}));
    assert_eq!(result, format!("immutable: Forbidden: {detail}"));
    let result = reported_by(&mut store, json!({"stringData": {"a": "b"}}));
    assert_eq!(result, format!("data: Forbidden: {detail}"));
    let result = reported_by(&mut store, json!({"type": "example.com/other"}));
    assert_eq!(result, "type: Invalid value: \"example.com/other\": field is immutable");
}

#[test]
fn scale_of_a_deployment_is_read_and_written() {
    let mut store = TestStore::new();
    let created = store.create("deployments", deployment(json!({"replicas": 2})));
    store.merge_status("deployments", "web", json!({"replicas": 1}));
    let kind = store.kind("deployments");
    let target = WriteTarget { part: Part::Scale, ..WriteTarget::object(&kind, "default", "web") };
    let scale = kind.scale_of(&store.get("deployments", "web").unwrap());
    assert_eq!(
        (&scale["spec"], &scale["status"]),
        (&json!({"replicas": 2}), &json!({"replicas": 1, "selector": "app=web"}))
    );
    assert_eq!(scale["metadata"]["uid"], created["metadata"]["uid"]);

    let wanted = json!({"metadata": {"name": "web", "resourceVersion": "1"}, "spec": {"replicas": 4}});
    let stale = store.cluster.update(target, wanted.clone(), store.options());
    assert_eq!(stale.unwrap_err().code, 409);
    let mut wanted = scale;
    wanted["spec"]["replicas"] = json!(4);
    let written = store.cluster.update(target, wanted.clone(), store.options()).unwrap();
    let object = written.object.value().unwrap();
    assert_eq!((&object["spec"]["replicas"], &object["metadata"]["generation"]), (&json!(4), &json!(2)));
    wanted["spec"]["replicas"] = json!(-4);
    let error = store.cluster.update(target, wanted.clone(), store.options()).unwrap_err();
    let expect = "Scale.autoscaling \"web\" is invalid: spec.replicas: Invalid value: -4: must be greater than or \
                  equal to 0";
    assert_eq!((error.code, error.to_string().as_str()), (422, expect));
}
