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
users: [{name: alice, user: {}}]
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
            "as" => options.impersonate = Some(value.to_owned()),
            "as-group" => options.impersonate_groups.push(value.to_owned()),
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
        Ok((inner, _, _)) => Ok((inner.cluster_url.to_string(), inner.default_namespace)),
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
    let (config, _, _) = KubeconfigFiles::resolve_in(options, Some(variable), None).unwrap().load().unwrap();
    assert_eq!(config.auth_info.impersonate.as_deref(), user);
    assert_eq!(config.auth_info.impersonate_groups.unwrap_or_default(), groups);
}

#[rstest]
#[case::context("context=prod", "kubeconfig /first:/missing:/second: context \"prod\" does not exist")]
#[case::cluster("cluster=prod", "kubeconfig /first:/missing:/second: cluster \"prod\" does not exist")]
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
    let changed = || files.load().unwrap().2;
    let before = changed();
    assert!(before == changed(), "unchanged files are equal");
    std::fs::write(&missing, SECOND).unwrap();
    assert!(before != changed(), "a created file is a change");
}
