//! Default identity of a candidate.

use uuid::Builder;

/// Returns a new holder identity `<hostname>_<random UUID>`, as upstream does (CM-21).
///
/// A restarted process gets another identity, so that it does not continue the term of its predecessor.
pub fn identity() -> String {
    let host = hostname::get().unwrap_or_default();
    let id = Builder::from_random_bytes(kube_ambient::random()).into_uuid();
    format!("{}_{id}", host.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_unique() {
        let (one, other) = (identity(), identity());
        assert_ne!(one, other);
        assert_eq!(one.split_once('_').map(|(_, id)| uuid::Uuid::parse_str(id).is_ok()), Some(true), "{one}");
    }
}
