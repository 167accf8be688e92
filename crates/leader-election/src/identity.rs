//! Who we are in the Lease.

use uuid::Builder;

/// A name for this run of this process, as upstream forms it (CM-21): `<hostname>_<uuid>`.
///
/// A process that is started again is another candidate: it must not take up the term of the one before.
pub fn identity() -> String {
    let host = rustix::system::uname();
    let id = Builder::from_random_bytes(kube_ambient::random()).into_uuid();
    format!("{}_{id}", host.nodename().to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_another() {
        let (one, other) = (identity(), identity());
        assert_ne!(one, other);
        assert_eq!(one.split_once('_').map(|(_, id)| uuid::Uuid::parse_str(id).is_ok()), Some(true), "{one}");
    }
}
