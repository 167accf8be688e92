//! A Pod of `deploy/`, started as the kubelet starts it: in the root file system of the image, read-only, with the user and the
//! mounts of the manifest, and with no other file of the node.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use tempfile::TempDir;
use tokio::process::{Child, Command};

use super::{arguments, deploy, skipped, text};

/// Path at which the kubelet mounts the token of a `ServiceAccount`.
pub(super) const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Shell script for a mount namespace: `$0 ROOT USER:GROUP MOUNTS ARGUMENTS`. Each line of `MOUNTS` is a path outside and a path inside,
/// separated by `:`.
const CONTAINER: &str = r#"
set -e
root=$1 user=$2
mount --bind "$root" "$root"
mount -t proc none "$root/proc"
printf '%s' "$3" | while IFS=: read -r outside inside; do
  mount --bind "$outside" "$root$inside"
  mount -o remount,bind,ro "$root$inside"
done
mount -o remount,bind,ro "$root"
shift 3
exec chroot --userspec="$user" --groups="${user#*:}" "$root" /controller-manager "$@"
"#;

/// Tries what [`CONTAINER`] needs.
const PROBE: &str = "mount -t tmpfs none /mnt && chroot --userspec=65532:65532 / true";

fn in_a_mount_namespace(script: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--no-new-privs", "unshare", "--mount", "--propagation=private", "sh", "-c", script, "sh"]);
    command.kill_on_drop(true).stdin(Stdio::null()).stderr(Stdio::piped());
    command
}

/// Returns whether containers can be started here. Needs root.
pub(super) async fn can_start() -> bool {
    match in_a_mount_namespace(PROBE).output().await {
        Ok(output) if output.status.success() => true,
        other => {
            skipped(&format!("no Pod of deploy/ is started in the files of its image, which needs root: {other:?}"));
            false
        }
    }
}

/// The files of a node and of the image, and the Secrets and the `ServiceAccount` of a Pod.
pub(super) struct Node {
    folder: TempDir,
}

impl Node {
    /// Returns a node whose control plane has certificates and kubeconfigs that this program must not read.
    pub(super) fn new() -> Node {
        let node = Node { folder: tempfile::tempdir().expect("a folder") };
        for file in ["pki/ca.key", "pki/ca.crt", "pki/sa.key", "controller-manager.conf", "admin.conf"] {
            node.write(&format!("host/etc/kubernetes/{file}"), "of the control plane", 0o600, 0, 0);
        }
        node
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path.trim_start_matches('/'))
    }

    fn write(&self, path: &str, content: &str, mode: u32, user: u32, group: u32) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(&path, content).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
        chown(&path, Some(user), Some(group)).expect("an owner");
    }

    /// Writes a file of the host that only this user can read.
    pub(super) fn host_file(&self, path: &str, content: &str, user: u32) {
        self.write(&format!("host{path}"), content, 0o400, user, user);
    }

    /// Writes the files of a Secret, or of the token of a `ServiceAccount`, as the kubelet does: readable by `group`.
    pub(super) fn projected(&self, volume: &str, files: &[(&str, &str)], group: u32) {
        for (name, content) in files {
            self.write(&format!("volumes/{volume}/{name}"), content, 0o440, 0, group);
        }
    }

    /// Returns what is mounted into a Pod: paths outside and inside.
    fn mounts(&self, pod: &Value) -> Vec<(PathBuf, String)> {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let volumes = list(&pod["spec"]["volumes"]);
        let outside = |volume: &Value| {
            let path = text(&volume["hostPath"]["path"]);
            if path.is_empty() {
                return self.path(&format!("volumes/{}", text(&volume["secret"]["secretName"])));
            }
            assert_eq!(volume["hostPath"]["type"], "File", "{path}: single files only");
            self.path(&format!("host{path}"))
        };
        let mounts = list(&pod["spec"]["containers"][0]["volumeMounts"]);
        let mut mounts: Vec<_> = mounts
            .iter()
            .map(|mount| {
                let volume = volumes.iter().find(|it| it["name"] == mount["name"]).expect("a volume");
                assert_eq!(mount["readOnly"], true, "{mount}");
                (outside(volume), text(&mount["mountPath"]).to_owned())
            })
            .collect();
        if pod["spec"]["serviceAccountName"].is_string() {
            mounts.push((self.path("volumes/service-account"), SERVICE_ACCOUNT.to_owned()));
        }
        mounts
    }

    /// Starts the container of a Pod with further arguments and environment variables.
    pub(super) async fn start(&self, pod: &Value, more: &[String], environment: &BTreeMap<&str, String>) -> Container {
        let root = self.path("root");
        let script = deploy("image/rootfs.sh");
        let mut layout = Command::new(script);
        let layout = layout.arg(env!("CARGO_BIN_EXE_controller-manager")).arg(&root).output().await;
        let layout = layout.expect("the script runs");
        assert!(layout.status.success(), "{}", String::from_utf8_lossy(&layout.stderr));
        let image = files(&root);

        let mounts = self.mounts(pod);
        // As container runtimes do, on a layer of their own.
        fs::create_dir(root.join("proc")).expect("a mount point");
        for (outside, inside) in &mounts {
            let point = root.join(inside.trim_start_matches('/'));
            fs::create_dir_all(point.parent().expect("a parent")).expect("a folder");
            if outside.is_dir() {
                fs::create_dir(point).expect("a mount point");
            } else {
                fs::write(point, "").expect("a mount point");
            }
        }
        let lines: Vec<String> =
            mounts.iter().map(|(outside, inside)| format!("{}:{inside}\n", outside.display())).collect();

        let security = &pod["spec"]["containers"][0]["securityContext"];
        assert_eq!(security["readOnlyRootFilesystem"], true);
        let user = format!("{}:{}", security["runAsUser"], security["runAsGroup"]);
        let mut command = in_a_mount_namespace(CONTAINER);
        command.arg(&root).arg(user).arg(lines.concat()).args(arguments(pod)).args(more);
        command.env_clear().env("PATH", std::env::var("PATH").unwrap_or_default()).envs(environment);
        let child = command.spawn().expect("it starts");
        Container { child, image }
    }
}

pub(super) struct Container {
    pub(super) child: Child,
    /// Files of the image.
    image: BTreeSet<String>,
}

impl Container {
    fn proc(&self, file: &str) -> PathBuf {
        Path::new("/proc").join(self.child.id().expect("still running").to_string()).join(file)
    }

    /// Returns the files that the process can reach and that are not part of the image. Panics if the process is root, can
    /// gain rights, cannot read one of them, or can write anywhere. Waits for nothing: the program must have started.
    pub(super) fn mounted_files(&self) -> BTreeSet<String> {
        let status = fs::read_to_string(self.proc("status")).expect("the status");
        let field = |name: &str| -> Vec<&str> {
            let line = status.lines().find_map(|line| line.strip_prefix(&format!("{name}:"))).expect("a field");
            line.split_whitespace().collect()
        };
        assert_eq!(field("Name"), ["controller-mana"], "the kernel keeps 15 bytes of the name");
        let user = field("Uid")[0];
        assert_eq!((user, field("Uid")), ("65532", vec![user; 4]));
        assert_eq!((field("CapEff"), field("CapPrm")), (vec!["0000000000000000"], vec!["0000000000000000"]));
        assert_eq!(field("NoNewPrivs"), ["1"]);

        let table = fs::read_to_string(self.proc("mountinfo")).expect("the mounts");
        let mounts: Vec<Vec<&str>> = table.lines().map(|line| line.split(' ').collect()).collect();
        assert!(!mounts.is_empty());
        for mount in mounts.iter().filter(|mount| mount[4] != "/proc") {
            assert!(mount[5].split(',').any(|option| option == "ro"), "{mount:?} can be written");
        }

        let root = self.proc("root");
        let found = files(&root);
        assert!(found.is_superset(&self.image), "left: {found:?}, right: {:?}", self.image);
        for file in &found {
            let metadata = fs::metadata(root.join(file.trim_start_matches('/'))).expect("a file");
            let readable = match (metadata.uid(), metadata.gid()) {
                (65532, _) => metadata.mode() & 0o400,
                (_, 65532) => metadata.mode() & 0o040,
                _ => metadata.mode() & 0o004,
            };
            assert_ne!(readable, 0, "{file} cannot be read");
        }
        found.difference(&self.image).cloned().collect()
    }

    /// Files of the image, except the libraries of a binary that is linked dynamically.
    pub(super) fn image_without_libraries(&self) -> Vec<&str> {
        let is_library = |file: &&str| file.starts_with("/lib") || file.starts_with("/usr/lib");
        self.image.iter().map(String::as_str).filter(|file| !is_library(file)).collect()
    }
}

/// Paths of all files below a folder, which is `/` in them; without those of `/proc`.
fn files(root: &Path) -> BTreeSet<String> {
    let (mut found, mut folders) = (BTreeSet::new(), vec![PathBuf::new()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).expect("a folder") {
            let entry = entry.expect("an entry");
            let path = folder.join(entry.file_name());
            if entry.file_type().expect("a type").is_dir() {
                if path != Path::new("proc") {
                    folders.push(path);
                }
            } else {
                found.insert(format!("/{}", path.display()));
            }
        }
    }
    found
}
