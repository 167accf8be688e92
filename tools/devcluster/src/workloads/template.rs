//! Pod templates: hash and comparison.

use std::hash::Hasher as _;

use k8s_openapi::api::core::v1::PodTemplateSpec;

/// Label of the `ReplicaSet`s and Pods of a Deployment with the hash of their template (Go:
/// `apps.DefaultDeploymentUniqueLabelKey`).
pub(super) const HASH_LABEL: &str = "pod-template-hash";

/// Letters and digits that form no words (Go: `rand.SafeEncodeString`).
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// Length of the random suffix of a generated name.
const SUFFIX: usize = 5;

/// Returns the hash of a template; `collisions` distinguishes different templates of equal hash. The values are not those of
/// upstream, which hashes the memory of a Go struct.
pub(super) fn hash(template: &PodTemplateSpec, collisions: i32) -> String {
    let mut hasher = fnv::FnvHasher::default();
    // A template is always encodable.
    hasher.write(&serde_json::to_vec(template).unwrap_or_default());
    hasher.write_i32(collisions);
    let hash = hasher.finish();
    let folded = (hash ^ (hash >> 32)) & u64::from(u32::MAX);
    folded.to_string().bytes().map(|byte| letter(usize::from(byte))).collect()
}

/// Returns a name of an owned object: the name of the owner and a random suffix.
pub(super) fn generated_name(owner: &str) -> String {
    let suffix = (0..SUFFIX).map(|_| letter(kube_ambient::random_range(0..ALPHABET.len())));
    format!("{owner}-{}", suffix.collect::<String>())
}

fn letter(number: usize) -> char {
    char::from(ALPHABET[number % ALPHABET.len()])
}

/// Returns whether two templates differ in nothing but the label with the hash (Go: `EqualIgnoreHash`).
pub(super) fn are_equal(a: &PodTemplateSpec, b: &PodTemplateSpec) -> bool {
    without_hash(a) == without_hash(b)
}

/// Returns a template with the label of its hash.
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
    fn hash_depends_on_the_template_and_the_collisions() {
        let hashes = [hash(&template("a"), 0), hash(&template("b"), 0), hash(&template("a"), 1)];
        assert_eq!(hash(&template("a"), 0), hashes[0]);
        assert!(hashes[0] != hashes[1] && hashes[0] != hashes[2], "{hashes:?}");
        for hash in hashes {
            assert!((1..=10).contains(&hash.len()) && hash.bytes().all(|byte| ALPHABET.contains(&byte)), "{hash}");
        }
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
