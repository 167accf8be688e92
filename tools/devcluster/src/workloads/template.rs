//! Pod templates: hash and comparison.

use std::hash::{DefaultHasher, Hasher as _};

use k8s_openapi::api::core::v1::PodTemplateSpec;

/// Label of the `ReplicaSet`s and Pods of a Deployment with the hash of their template (Go:
/// `apps.DefaultDeploymentUniqueLabelKey`).
pub(super) const HASH_LABEL: &str = "pod-template-hash";

/// Letters and digits that form no words (Go: `rand.SafeEncodeString`).
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// Length of the random suffix of a generated name.
const SUFFIX: usize = 5;

/// Returns the hash of a template. The values are not those of upstream, which hashes the memory of a Go struct.
pub(super) fn hash(template: &PodTemplateSpec) -> String {
    let mut hasher = DefaultHasher::new();
    // A template is always encodable.
    hasher.write(&serde_json::to_vec(template).unwrap_or_default());
    format!("{:08x}", hasher.finish() >> 32)
}

/// Returns a name of an owned object: the name of the owner and a random suffix.
pub(super) fn generated_name(owner: &str) -> String {
    let suffix = (0..SUFFIX).map(|_| char::from(ALPHABET[kube_ambient::random_range(0..ALPHABET.len())]));
    format!("{owner}-{}", suffix.collect::<String>())
}

/// Returns whether two templates differ in nothing but the label with the hash (Go: `EqualIgnoreHash`).
pub(super) fn are_equal(a: &PodTemplateSpec, b: &PodTemplateSpec) -> bool {
    without_hash(a) == without_hash(b)
}

pub(super) fn with_hash(template: &PodTemplateSpec, hash: &str) -> PodTemplateSpec {
    let mut template = template.clone();
    let labels = template.metadata.get_or_insert_default().labels.get_or_insert_default();
    labels.insert(HASH_LABEL.to_owned(), hash.to_owned());
    template
}

fn without_hash(template: &PodTemplateSpec) -> PodTemplateSpec {
    let mut template = template.clone();
    template.metadata.get_or_insert_default().labels.get_or_insert_default().remove(HASH_LABEL);
    template
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn template(image: &str) -> PodTemplateSpec {
        let spec =
            json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": image}]}});
        serde_json::from_value(spec).unwrap()
    }

    #[test]
    fn hash_depends_on_the_template() {
        assert_eq!(hash(&template("a")), hash(&template("a")));
        assert_ne!(hash(&template("a")), hash(&template("b")));
    }

    #[test]
    fn hash_label_is_no_difference() {
        assert!(are_equal(&template("a"), &with_hash(&template("a"), "x")));
        assert!(!are_equal(&template("a"), &with_hash(&template("b"), "x")));
        let bare: PodTemplateSpec = serde_json::from_value(json!({"spec": {"containers": []}})).unwrap();
        assert!(are_equal(&bare, &with_hash(&bare, "x")), "a template without labels");
    }

    #[test]
    fn generated_names_differ() {
        let names = [generated_name("web"), generated_name("web")];
        assert!(names[0] != names[1] && names.iter().all(|name| name.len() == "web-".len() + SUFFIX), "{names:?}");
    }
}
