//! Admission policies: policy objects on a real API server, rules in code on the embedded one.

use std::time::Duration;

use anyhow::{Context as _, Result};
use kube_dev_apiserver::{AdmissionRequest, Denial};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::World;
use crate::Request;

/// Time until a real API server enforces a new policy.
const NOTICE: Duration = Duration::from_secs(5);

const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";

/// Change of an object on the embedded server.
pub(super) type Rule = Box<dyn Fn(&mut Value) + Send + Sync>;

/// Change of every object of a resource in the namespace of the scenario, on create and update.
pub(super) struct Mutation {
    pub(super) name: &'static str,
    pub(super) resource: &'static str,
    /// CEL expression that returns a list of `JSONPatch`es.
    pub(super) cel: String,
    pub(super) rule: Rule,
}

/// Rejection of some writes of a resource in the namespace of the scenario.
pub(super) struct Veto {
    pub(super) name: &'static str,
    pub(super) resource: &'static str,
    /// CEL expression that is false for writes to reject.
    pub(super) cel: &'static str,
    /// Function that returns whether the embedded server rejects a write.
    pub(super) refuses: fn(&AdmissionRequest<'_>, Option<&Value>) -> bool,
}

/// Handle of a policy that is in force.
pub(super) enum InForce {
    Rule(u64),
    Objects(Vec<String>),
}

impl World {
    pub(super) async fn mutate(&self, Mutation { name, resource, cel, rule }: Mutation) -> Result<InForce> {
        if self.is_embedded() {
            let namespace = self.namespace.clone();
            let id = self.server()?.admission().mutate(move |request, object| {
                if request.resource == resource && request.namespace == namespace {
                    rule(object);
                }
                Ok(())
            });
            return Ok(InForce::Rule(id));
        }
        let spec = json!({
            "matchConstraints": self.constraints(resource, &["CREATE", "UPDATE"]),
            "failurePolicy": "Fail", "reinvocationPolicy": "Never",
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": cel}}],
        });
        self.put_in_force("mutatingadmissionpolicies", name, spec, json!({})).await
    }

    pub(super) async fn veto(&self, Veto { name, resource, cel, refuses }: Veto) -> Result<InForce> {
        if self.is_embedded() {
            let namespace = self.namespace.clone();
            let id = self.server()?.admission().validate(move |request, object| {
                let refused =
                    request.resource == resource && request.namespace == namespace && refuses(request, object);
                if refused { Err(Denial::invalid("refused by a policy of this scenario")) } else { Ok(()) }
            });
            return Ok(InForce::Rule(id));
        }
        let spec = json!({
            "matchConstraints": self.constraints(resource, &["CREATE", "UPDATE", "DELETE"]),
            "failurePolicy": "Fail", "validations": [{"expression": cel}],
        });
        let binding = json!({"validationActions": ["Deny"]});
        self.put_in_force("validatingadmissionpolicies", name, spec, binding).await
    }

    /// Removes a policy.
    pub(super) async fn lift(&self, policy: InForce) -> Result<()> {
        match policy {
            InForce::Rule(id) => drop(self.server()?.admission().remove(id)),
            InForce::Objects(paths) => {
                for path in paths {
                    self.api().ok(Request::delete(path, None)).await?;
                }
                sleep(NOTICE).await;
            }
        }
        Ok(())
    }

    fn constraints(&self, resource: &str, operations: &[&str]) -> Value {
        let group = if resource == "endpointslices" { "discovery.k8s.io" } else { "" };
        json!({
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}},
            "resourceRules": [{
                "apiGroups": [group], "apiVersions": ["v1"], "operations": operations, "resources": [resource]
            }],
        })
    }

    async fn put_in_force(&self, plural: &str, name: &str, spec: Value, binding: Value) -> Result<InForce> {
        let name = format!("{name}.{}.example.com", self.namespace);
        let bindings = plural.replace("policies", "policybindings");
        let object = json!({"metadata": {"name": name}, "spec": spec});
        self.api()
            .ok(Request::create(format!("{GROUP}/{plural}"), object))
            .await
            .context("cannot create the policy")?;
        let mut spec = binding;
        spec["policyName"] = json!(name);
        let object = json!({"metadata": {"name": name}, "spec": spec});
        self.api().ok(Request::create(format!("{GROUP}/{bindings}"), object)).await?;
        sleep(NOTICE).await;
        Ok(InForce::Objects(vec![format!("{GROUP}/{bindings}/{name}"), format!("{GROUP}/{plural}/{name}")]))
    }
}
