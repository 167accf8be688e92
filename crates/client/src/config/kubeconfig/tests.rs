//! Tests of the selection and merging of kubeconfig files.

use display_full_error::DisplayFullErrorExt as _;
use rstest::rstest;
use tempfile::TempDir;

use super::*;
use crate::Config;

const FIRST: &str = "
current-context: ''
contexts:
- {name: dev, context: {cluster: one, user: alice, namespace: shop}}
- {name: other, context: {cluster: two, user: nobody, namespace: ''}}
clusters: [{name: one, cluster: {server: 'http://one.test:1'}}]
users: [{name: alice, user: {}}, {name: nobody, user: {}}]
";

const SECOND: &str = "
current-context: dev
contexts: [{name: dev, context: {cluster: two, user: bob, namespace: hidden}}, {name: plain, context: {cluster: two}}]
clusters: [{name: one, cluster: {server: 'http://hidden.test'}}, {name: two, cluster: {server: 'http://two.test:2'}}]
users: [{name: bob, user: {}}]
";

fn options(flags: &str) -> KubeconfigOptions {
    let mut options = KubeconfigOptions::default();
    for (flag, value) in flags.split_whitespace().filter_map(|flag| flag.split_once('=')) {
        match flag {
            "context" => options.context = Some(value.to_owned()),
            "cluster" => options.cluster = Some(value.to_owned()),
            "user" => options.user = Some(value.to_owned()),
            "server" => options.server = Some(value.to_owned()),
            "as" => options.impersonate = Some(value.to_owned()),
            "as-group" => options.impersonate_groups.push(value.to_owned()),
            "as-uid" => options.impersonate_uid = Some(value.to_owned()),
            "token" => options.token = Some(value.to_owned().into()),
            "certificate-authority" => options.certificate_authority = Some(value.into()),
            "insecure-skip-tls-verify" => options.insecure_skip_tls_verify = value == "true",
            "tls-server-name" => options.tls_server_name = Some(value.to_owned()),
            _ => panic!("{flag}"),
        }
    }
    options
}

/// Loads `first`, `missing` and `second` of `folder` as `$KUBECONFIG` lists them.
fn load(folder: &TempDir, flags: &str) -> Result<(String, String), String> {
    let paths = ["first", "", "missing", "first", "second"].map(|name| match name {
        "" => PathBuf::new(),
        name => folder.path().join(name),
    });
    let variable = env::join_paths(paths).unwrap();
    let loaded = KubeconfigFiles::resolve_in(options(flags), Some(variable), None).and_then(|files| files.load());
    match loaded {
        Ok((inner, _)) => Ok((inner.cluster_url.to_string(), inner.default_namespace)),
        Err(error) => Err(error.to_string_full().replace(&folder.path().display().to_string(), "")),
    }
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("first"), FIRST).unwrap();
    std::fs::write(folder.path().join("second"), SECOND).unwrap();
    folder
}

#[rstest]
#[case::current_context_of_the_second_file("", "http://one.test:1/", "shop")]
#[case::context("context=other", "http://two.test:2/", "default")]
#[case::context_without_namespace("context=plain", "http://two.test:2/", "default")]
#[case::cluster("cluster=two", "http://two.test:2/", "shop")]
#[case::cluster_of_a_context("context=other cluster=one", "http://one.test:1/", "default")]
#[case::user("user=bob", "http://one.test:1/", "shop")]
#[case::empty(
    "context= cluster= user= server= as= as-uid= token= certificate-authority= tls-server-name=",
    "http://one.test:1/",
    "shop"
)]
fn files_are_merged_and_overridden(#[case] flags: &str, #[case] server: &str, #[case] namespace: &str) {
    assert_eq!(load(&folder(), flags), Ok((server.to_owned(), namespace.to_owned())));
}

#[rstest]
#[case::of_the_kubeconfig("", Some("carol"), &["team"])]
#[case::user("as=dave", Some("dave"), &["team"])]
#[case::user_and_groups("as=dave as-group=a as-group=b", Some("dave"), &["a", "b"])]
#[case::user_without("user=alice", None, &[])]
#[case::override_alone("user=alice as=dave", Some("dave"), &[])]
fn impersonation_is_overridden(#[case] flags: &str, #[case] user: Option<&str>, #[case] groups: &[&str]) {
    let folder = folder();
    let first = FIRST.replace("users: [", "users: [{name: acting, user: {as: carol, as-groups: [team]}}, ");
    std::fs::write(folder.path().join("first"), first).unwrap();
    let mut options = options(flags);
    options.user = options.user.or(Some("acting".to_owned()));
    let variable = env::join_paths(["first", "second"].map(|name| folder.path().join(name))).unwrap();
    let (config, _) = KubeconfigFiles::resolve_in(options, Some(variable), None).unwrap().load().unwrap();
    assert_eq!(config.auth_info.impersonate.as_deref(), user);
    assert_eq!(config.auth_info.impersonate_groups.unwrap_or_default(), groups);
}

#[rstest]
#[case::none("", "ca skip=false name=db")]
#[case::authority("certificate-authority=CA", "ca skip=false name=db")]
#[case::authority_of_an_insecure_cluster("cluster=open certificate-authority=CA", "ca skip=false name=")]
#[case::insecure("insecure-skip-tls-verify=true", "skip=true name=db")]
#[case::insecure_cluster("cluster=open", "skip=true name=")]
#[case::not_insecure("cluster=open insecure-skip-tls-verify=false", "skip=true name=")]
#[case::name("tls-server-name=other", "ca skip=false name=other")]
fn tls_settings_are_overridden_as_by_client_go(#[case] flags: &str, #[case] expect: &str) {
    let folder = tempfile::tempdir().unwrap();
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let authority = folder.path().join("ca.crt");
    std::fs::write(&authority, certified.cert.pem()).unwrap();
    let path = folder.path().join("kubeconfig");
    let text = "
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters:
- {name: a, cluster: {server: 'https://a.test', certificate-authority: ca.crt, tls-server-name: db}}
- {name: open, cluster: {server: 'https://a.test', insecure-skip-tls-verify: true}}
users: [{name: a, user: {}}]
";
    std::fs::write(&path, text).unwrap();
    let mut options = options(&flags.replace("CA", authority.to_str().unwrap()));
    options.path = Some(path);
    let config = KubeconfigFiles::resolve_in(options, None, None).unwrap().load().unwrap().0;
    let authority = config.root_cert.map_or("", |certificates| if certificates.is_empty() { "empty " } else { "ca " });
    let (skip, name) = (config.accept_invalid_certs, config.tls_server_name.unwrap_or_default());
    assert_eq!(format!("{authority}skip={skip} name={name}"), expect);
}

#[rstest]
#[case::of_the_file("", "token=stored")]
#[case::token("token=given", "token=given")]
#[case::token_and_uid("token=given as=bob as-uid=7", "token=given as=bob uid=7")]
#[case::token_file("user=file token=given", "token=given")]
#[case::password("user=password token=given", "token=given")]
#[case::plugin("user=plugin token=given", "token=given")]
#[case::certificate("user=certificate token=given", "token=given certificate")]
#[case::context_without_user("context=none token=given", "token=given")]
#[case::context_with_unknown_user("context=unknown token=given", "token=given")]
#[case::empty_token("token=", "token=stored")]
#[case::uid_without_user("context=none as-uid=7", "uid=7")]
fn credentials_are_overridden(#[case] flags: &str, #[case] expect: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kubeconfig");
    let text = "
current-context: a
contexts:
- {name: a, context: {cluster: a, user: a}}
- {name: none, context: {cluster: a}}
- {name: unknown, context: {cluster: a, user: unknown}}
clusters: [{name: a, cluster: {server: 'https://a.test'}}]
users:
- {name: a, user: {token: stored}}
- {name: file, user: {tokenFile: token}}
- {name: password, user: {username: alice, password: secret}}
- {name: plugin, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: plugin, interactiveMode: Never}}}
- {name: certificate, user: {client-certificate: tls.crt, client-key: tls.key}}
";
    std::fs::write(&path, text).unwrap();
    let options = KubeconfigOptions { path: Some(path), ..options(flags) };
    assert!(!format!("{options:?}").contains("given"), "{options:?}");
    let user = KubeconfigFiles::resolve_in(options, None, None).unwrap().load().unwrap().0.auth_info;
    let plugin = user.exec.as_ref().and_then(|exec| exec.command.as_deref());
    let parts = [
        ("token=", serde_json::to_value(&user).unwrap()["token"].as_str().map(str::to_owned)),
        ("file=", user.token_file),
        ("name=", user.username),
        ("plugin=", plugin.map(str::to_owned)),
        ("as=", user.impersonate),
        ("uid=", user.impersonate_uid),
        ("certificate", user.client_certificate.map(|_| String::new())),
    ];
    let parts = parts.into_iter().filter_map(|(name, value)| Some(format!("{name}{}", value?)));
    assert_eq!(parts.collect::<Vec<_>>().join(" "), expect);
}

/// As with `kubectl --server`: the name belongs to the address of the kubeconfig.
#[rstest]
#[case::of_the_kubeconfig(None, None)]
#[case::given(Some("other"), Some("other"))]
fn another_address_drops_the_server_name_of_the_kubeconfig(#[case] given: Option<&str>, #[case] expect: Option<&str>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kubeconfig");
    let named = SECOND.replace("'http://two.test:2'", "'https://two.test:2', tls-server-name: db");
    std::fs::write(&path, named).unwrap();
    let options = KubeconfigOptions {
        path: Some(path),
        server: Some("https://10.0.0.1".to_owned()),
        tls_server_name: given.map(str::to_owned),
        ..KubeconfigOptions::default()
    };
    let (config, _) = KubeconfigFiles::resolve_in(options, None, None).unwrap().load().unwrap();
    assert_eq!((config.cluster_url.host(), config.tls_server_name.as_deref()), (Some("10.0.0.1"), expect));
}

#[rstest]
#[case::context("context=prod", "kubeconfig /first:/missing:/second: context \"prod\" does not exist")]
#[case::cluster("cluster=prod", "kubeconfig /first:/missing:/second: cluster \"prod\" does not exist")]
#[case::user("user=prod", "kubeconfig /first:/missing:/second: auth info \"prod\" does not exist")]
#[case::user_of_a_cluster(
    "user=prod cluster=one",
    "kubeconfig /first:/missing:/second: auth info \"prod\" does not exist"
)]
#[case::user_of_a_token("user=prod token=t", "kubeconfig /first:/missing:/second: auth info \"prod\" does not exist")]
#[case::authority_and_insecure(
    "certificate-authority=ca.crt insecure-skip-tls-verify=true",
    "kubeconfig /first:/missing:/second: specifying a root certificates file with the insecure flag is not allowed"
)]
fn override_that_does_not_exist_is_an_error(#[case] flags: &str, #[case] expect: &str) {
    assert_eq!(load(&folder(), flags), Err(expect.to_owned()));
}

#[test]
fn error_of_one_of_several_files_contains_its_path() {
    let folder = folder();
    std::fs::write(folder.path().join("second"), "{{{{").unwrap();
    let error = load(&folder, "").unwrap_err();
    assert!(error.starts_with("kubeconfig /second: failed to parse"), "{error}");
}

#[test]
fn missing_files_are_an_error_only_if_none_exists() {
    let folder = tempfile::tempdir().unwrap();
    let error = load(&folder, "").unwrap_err();
    assert!(error.starts_with("kubeconfig /first:/missing:/second: "), "{error}");
    std::fs::write(folder.path().join("second"), SECOND).unwrap();
    assert_eq!(load(&folder, ""), Ok(("http://two.test:2/".to_owned(), "hidden".to_owned())));
}

#[test]
fn explicit_cluster_needs_no_context() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("first"), FIRST).unwrap();
    assert_eq!(load(&folder, ""), Err("kubeconfig /first:/missing:/second: current-context is not set".to_owned()));
    assert_eq!(load(&folder, "cluster=one"), Ok(("http://one.test:1/".to_owned(), "default".to_owned())));
}

#[rstest]
#[case::variable(Some("/a:/b"), Some("/home/me"), &["/a", "/b"])]
#[case::duplicates(Some("/a::/b:/a"), Some("/home/me"), &["/a", "/b"])]
#[case::no_variable(None, Some("/home/me"), &["/home/me/.kube/config"])]
#[case::empty_variable(Some(""), Some("/home/me"), &["/home/me/.kube/config"])]
#[case::separators_only(Some("::"), Some("/home/me"), &["/home/me/.kube/config"])]
#[case::neither(None, None, &[])]
#[case::empty_home(None, Some(""), &[])]
fn paths_are_those_of_kubectl(#[case] variable: Option<&str>, #[case] home: Option<&str>, #[case] expect: &[&str]) {
    let paths = default_paths(variable.map(OsString::from), home.map(PathBuf::from)).unwrap_or_default();
    assert_eq!(paths, expect.iter().map(PathBuf::from).collect::<Vec<_>>());
}

#[tokio::test]
async fn explicit_path_is_the_only_file_and_must_exist() {
    let folder = folder();
    let read = async |name: &str, flags: &str| {
        let path = Some(folder.path().join(name));
        Config::from_kubeconfig_with(KubeconfigOptions { path, ..options(flags) }).await
    };
    let config = read("second", "context=plain").await.unwrap();
    assert_eq!((config.server(), config.default_namespace()), ("http://two.test:2/".into(), "default".into()));
    assert!(read("second", "context=other").await.is_err());
    assert!(read("missing", "").await.is_err());
}

#[test]
fn all_files_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (first, missing) = (folder.path().join("first"), folder.path().join("missing"));
    std::fs::write(&first, FIRST.replace("''", "dev")).unwrap();
    let variable = env::join_paths([&first, &missing]).unwrap();
    let files = KubeconfigFiles::resolve_in(KubeconfigOptions::default(), Some(variable), None).unwrap();
    let changed = || files.load().unwrap().1;
    let before = changed();
    assert!(before == changed(), "unchanged files are equal");
    std::fs::write(&missing, SECOND).unwrap();
    assert!(before != changed(), "a created file is a change");
}
