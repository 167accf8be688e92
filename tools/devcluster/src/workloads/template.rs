//! Hashes of Pod templates, and generated names.

use std::hash::{DefaultHasher, Hasher as _};

use super::objects::PodTemplate;

/// Label of the `ReplicaSet`s and Pods of a Deployment with the hash of their template (Go:
/// `apps.DefaultDeploymentUniqueLabelKey`).
pub(super) const HASH_LABEL: &str = "pod-template-hash";

/// Letters and digits that form no words (Go: `rand.SafeEncodeString`).
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// Length of the random suffix of a generated name.
const SUFFIX: usize = 5;

/// Returns the hash of a template. The values are not those of upstream, which hashes the memory of a Go struct.
pub(super) fn hash(template: &PodTemplate) -> String {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn template(image: &str) -> PodTemplate {
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
    fn generated_names_differ() {
        let names = [generated_name("web"), generated_name("web")];
        assert!(names[0] != names[1] && names.iter().all(|name| name.len() == "web-".len() + SUFFIX), "{names:?}");
    }
}
