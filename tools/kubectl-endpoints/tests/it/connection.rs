//! Options for the server and the credentials, which are those of kubectl.

use std::fs;

use kube_dev_apiserver::User;
use rstest::rstest;

use crate::cluster::Cluster;

/// A cluster over TLS whose kubeconfig has the users `alice` and `admin`, the context `none` without a user, and the
/// context `unknown` with a user that does not exist; none of them knows the authority of the server, which is in the file
/// `ca.crt`.
async fn cluster() -> Cluster {
    let cluster = Cluster::with_rules(&serde_json::json!([])).await;
    let url = cluster.server.url();
    let token = cluster.server.token_for(User::new("alice"));
    cluster.write_kubeconfig(&format!(
        "{{current-context: dev, contexts: [
            {{name: dev, context: {{cluster: dev, user: alice, namespace: shop}}}},
            {{name: none, context: {{cluster: dev, namespace: shop}}}},
            {{name: unknown, context: {{cluster: dev, user: nobody, namespace: shop}}}}],
        clusters: [{{name: dev, cluster: {{server: '{url}'}}}}], users: [{{name: alice, user: {{token: {token}}}}}]}}"
    ));
    let authority = cluster.server.ca_certificate().expect("a server with TLS");
    fs::write(cluster.folder().join("ca.crt"), authority).expect("written");
    cluster
}

/// `FOLDER` and `ADMIN` in the flags are the folder of the cluster and a token of its administrator.
#[rstest]
#[case::untrusted("", "invalid peer certificate: UnknownIssuer")]
#[case::insecure("--insecure-skip-tls-verify", "User \"alice\" cannot get resource")]
#[case::authority("--certificate-authority=FOLDER/ca.crt", "User \"alice\" cannot get resource")]
#[case::missing_authority("--certificate-authority=FOLDER/no.crt", "no.crt")]
#[case::authority_and_insecure(
    "--certificate-authority=FOLDER/ca.crt --insecure-skip-tls-verify",
    "specifying a root certificates file with the insecure flag is not allowed"
)]
#[case::server_name("--certificate-authority=FOLDER/ca.crt --tls-server-name=other.test", "not valid for name")]
#[case::token("--insecure-skip-tls-verify --token=ADMIN", "")]
#[case::no_user("--insecure-skip-tls-verify --context=none", "User \"system:anonymous\" cannot get resource")]
#[case::token_without_a_user("--insecure-skip-tls-verify --context=none --token=ADMIN", "")]
#[case::uid("--insecure-skip-tls-verify --token=ADMIN --as=bob --as-uid=7", "User \"bob\" cannot get resource")]
#[case::unknown_user("--user=nobody", "error: kubeconfig FOLDER/kubeconfig: auth info \"nobody\" does not exist")]
#[case::context_of_an_unknown_user(
    "--context=unknown",
    "error: kubeconfig FOLDER/kubeconfig: user \"nobody\" was not found for context \"unknown\""
)]
#[tokio::test]
async fn options_are_those_of_kubectl(#[case] flags: &str, #[case] expect: &str) {
    let cluster = cluster().await;
    let folder = cluster.folder().display().to_string();
    let admin = cluster.server.token_for(User::new("admin").group("system:masters"));
    let flags = flags.replace("FOLDER", &folder).replace("ADMIN", &admin);
    let run = cluster.run(format!("explain svc/web {flags}").trim_end()).await;
    assert_eq!(run.status, i32::from(!expect.is_empty()), "{run:?}");
    assert!(run.stderr.contains(&expect.replace("FOLDER", &folder)), "{run:?}");
    // Libraries warn about connections whose server is not verified; the user has asked for that.
    assert_eq!(run.stderr.is_empty(), expect.is_empty(), "{run:?}");
}
