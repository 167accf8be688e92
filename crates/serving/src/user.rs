//! The user of a request.

use std::collections::BTreeMap;

use k8s_openapi::api::authentication::v1::UserInfo;
use x509_parser::prelude::{FromDer as _, X509Certificate};

/// The group whose members are authorized for everything, without a `SubjectAccessReview`.
pub(crate) const MASTERS: &str = "system:masters";
const AUTHENTICATED: &str = "system:authenticated";

/// User info, with the fields of the API's `UserInfo`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) groups: Vec<String>,
    pub(crate) extra: BTreeMap<String, Vec<String>>,
}

impl User {
    pub(crate) fn anonymous() -> User {
        let (name, groups) = ("system:anonymous".to_owned(), vec!["system:unauthenticated".to_owned()]);
        User { name, groups, ..User::default() }
    }

    pub(crate) fn reviewed(info: UserInfo) -> User {
        let UserInfo { username, uid, groups, extra } = info;
        User {
            name: username.unwrap_or_default(),
            uid: uid.unwrap_or_default(),
            groups: groups.unwrap_or_default(),
            extra: extra.unwrap_or_default(),
        }
        .authenticated()
    }

    /// Returns common name and organizations of a verified certificate; `None` without a common name.
    pub(crate) fn of_certificate(der: &[u8]) -> Option<User> {
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        let subject = certificate.subject();
        let name = subject.iter_common_name().find_map(|name| name.as_str().ok()).filter(|name| !name.is_empty())?;
        let groups = subject.iter_organization().filter_map(|group| group.as_str().ok()).map(str::to_owned);
        Some(User { name: name.to_owned(), groups: groups.collect(), ..User::default() }.authenticated())
    }

    fn authenticated(mut self) -> User {
        if !self.groups.iter().any(|group| group == AUTHENTICATED) {
            self.groups.push(AUTHENTICATED.to_owned());
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair};
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("alice", Some("ops"), Some(("alice", vec!["ops", "system:authenticated"])))]
    #[case("system:kube-scheduler", None, Some(("system:kube-scheduler", vec!["system:authenticated"])))]
    #[case("", Some("system:masters"), None)]
    fn certificate_subject_gives_name_and_groups(
        #[case] name: &str,
        #[case] group: Option<&str>,
        #[case] expect: Option<(&str, Vec<&str>)>,
    ) {
        let mut params = CertificateParams::default();
        params.distinguished_name.remove(DnType::CommonName);
        params.distinguished_name.push(DnType::CommonName, name);
        if let Some(group) = group {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        let found = User::of_certificate(certificate.der()).map(|user| (user.name, user.groups));
        let expect =
            expect.map(|(name, groups)| (name.to_owned(), groups.into_iter().map(str::to_owned).collect::<Vec<_>>()));
        assert_eq!(found, expect);
    }
}
