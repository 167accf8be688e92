//! Commands of kubectl, and their answers from a real server (`tests/kubectl/answers.txt`).
//!
//! The file has for each command its line, the output of kubectl 1.32 with kube-apiserver 1.36.2 and RBAC but without
//! controllers, and the exit status. If the embedded server answers differently on purpose, a line `! reason` and its own
//! answer follow. `UPDATE_ANSWERS=1` writes the answers of this run, with the reasons that the file has, or none.
//!
//! Answers are compared without what differs between two runs: times, ages, uids, versions, tokens, generated names,
//! addresses and ports, widths of columns, a race of kubectl at the end of `--timeout`, and the order of members of JSON
//! documents in one line.
//!
//! Skipped with a message if kubectl is not installed. Most commands run one after the other, so that the name of the test
//! lets it start among the first.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use kube_dev_apiserver::{Authorization, Config, FieldTracking, Server, Transport, User};
use regex::{Captures, Regex};

const ANSWERS: &str = include_str!("../kubectl/answers.txt");

/// Answer of a command that did not end within the limit of the recording, which was 30 s.
const TIMED_OUT: &str = "[TIMEOUT][rc=-1]";
/// Limit in seconds for a command that is expected to end.
const LIMIT: u32 = 60;
/// Seconds after which a limit that is expected to be reached ends a command: the answer is the same as after more, but
/// kubectl warns of a watch that lasts less than a second.
const SHORT: u32 = 2;
/// Factor of the limits that a busy machine may reach too early.
const PATIENCE: u32 = 10;
/// Maximum number of commands at the same time.
const PROCESSES: usize = 4;
/// Exit status of `timeout` for a command that it killed. Differs from that of commands that end by their own timeout.
const KILLED: i32 = 137;

/// A command, its answer from a real server, and that of the embedded server if it differs.
#[derive(Debug, Default)]
struct Case {
    command: String,
    real: String,
    differs: Option<(String, String)>,
}

impl Case {
    fn expected(&self) -> &str {
        self.differs.as_ref().map_or(&self.real, |it| &it.1)
    }

    /// Whether the command changes nothing, so that others can run at the same time.
    fn only_reads(&self) -> bool {
        const READS: [&str; 15] = [
            "attach",
            "auth can-i",
            "auth whoami",
            "cp",
            "describe",
            "diff",
            "events",
            "exec",
            "explain",
            "get",
            "logs",
            "port-forward",
            "rollout status",
            "top",
            "wait",
        ];
        let kubectl = self.command.split_once("kubectl ").map_or("", |(_, arguments)| arguments);
        READS.iter().any(|verb| kubectl.starts_with(verb))
    }
}

fn parse(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    // Whether the last answer is complete.
    let mut ended = true;
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ").filter(|_| ended) {
            cases.push(Case { command: command.to_owned(), ..Case::default() });
            ended = false;
            continue;
        }
        let Some(case) = cases.last_mut() else { continue };
        if let Some(reason) = line.strip_prefix("! ").filter(|_| ended) {
            case.differs = Some((reason.to_owned(), String::new()));
            ended = false;
        } else {
            let answer = case.differs.as_mut().map_or(&mut case.real, |it| &mut it.1);
            writeln!(answer, "{line}").unwrap();
            ended = line.contains("[rc=");
        }
    }
    cases
}

/// Replaces what differs between two runs.
struct Mask(Vec<(Regex, &'static str)>);

impl Mask {
    fn new() -> Self {
        let rules = [
            (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
            (r#"("?resourceVersion"?:\s*)"\d+""#, "${1}VERSION"),
            (r#"("continue":)"[^"]+""#, "${1}TOKEN"),
            (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000)", "TIME"),
            (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000", "TIME"),
            (r"(?m)^[IWE]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ", "KLOG "),
            // At the end of `--timeout`, the reflector of kubectl may open one more watch, which fails: 4 of 200 runs.
            (r#"(?m)^KLOG reflector\.go:\d+\] "Unhandled Error" err=".*: context deadline exceeded"\n"#, ""),
            (r"https?://(127\.0\.0\.1|localhost):\d+|127\.0\.0\.1:\d+|SERVER", "SERVER"),
            (r"/\S*/(LIVE|MERGED)-\d+/\S+|/\S*/kubectl-edit-\d+\.yaml|TMPFILE", "FILE"),
            // The range of cluster IPs of the recorded server.
            (r"\b10\.(9[6-9]|10\d|11[01])\.\d+\.\d+\b", "IP"),
            (r":3\d{4}/TCP", ":PORT/TCP"),
            (r"nodePort: 3\d{4}", "nodePort: PORT"),
            (r"debugger-[a-z0-9]{5}", "debugger-NAME"),
            (r"(?m)^(kube-dev\.\w+|TOKEN)\[rc", "TOKEN[rc"),
            (r"hash=[0-9A-Fa-f]+", "hash=HASH"),
            // In a column, up to 99 minutes; other durations, and quantities such as `100m`, are compared.
            (r"([ \t]{2})(\d+m\d+s|\d+s|\d{1,2}m)\b", "${1}AGE"),
            // Not at the begin of a line, where they are the structure of a document.
            (r"(\S)[ \t]{2,}", "${1}  "),
            (r"(?m)[ \t]+$", ""),
        ];
        Self(rules.map(|(rule, with)| (Regex::new(rule).unwrap(), with)).into())
    }

    fn apply(&self, text: &str) -> String {
        let text = text.lines().fold(String::new(), |text, line| text + &sorted(line) + "\n");
        let text = self.0.iter().fold(text, |text, (rule, with)| rule.replace_all(&text, *with).into_owned());
        entries_sorted(&text).unwrap_or(text)
    }
}

/// Sorts the entries of a described `ConfigMap`: kubectl iterates over a map of Go, whose order is random. `None` if
/// the text describes none.
fn entries_sorted(text: &str) -> Option<String> {
    let (head, rest) = text.split_once("\nData\n====\n")?;
    let (entries, tail) = rest.split_once("\n\n\nBinaryData\n")?;
    let mut entries: Vec<&str> = entries.split("\n\n").collect();
    entries.sort_unstable();
    Some(format!("{head}\nData\n====\n{}\n\n\nBinaryData\n{tail}", entries.join("\n\n")))
}

/// Sorts the members of a line that is a JSON document.
fn sorted(line: &str) -> String {
    let document = Some(line).filter(|line| line.starts_with('{')).and_then(|line| serde_json::from_str(line).ok());
    document.map_or_else(|| line.to_owned(), |document: serde_json::Value| document.to_string())
}

/// Runs a command, and once more with longer limits if a limit ended it before it had printed what is expected. Those that
/// only a limit ends change nothing.
fn answer(case: &Case, folder: &Path, mask: &Mask) -> String {
    let (command, expect) = (&case.command, case.expected());
    let answer = run(command, expect, folder, 1);
    let ends_by_limit =
        command.starts_with("timeout ") || command.contains(" --request-timeout=") || expect.contains(TIMED_OUT);
    if ends_by_limit && mask.apply(&answer) != mask.apply(expect) {
        return run(command, expect, folder, PATIENCE);
    }
    answer
}

/// Runs a command as the recording did: in the namespace `ut-x`, with both outputs together.
fn run(command: &str, expect: &str, folder: &Path, patience: u32) -> String {
    let namespaced = |text: &str| text.replace("kubectl ", "kubectl -n ut-x ");
    let command = if command.contains("cluster-info") { command.to_owned() } else { namespaced(command) };
    // What succeeds ends before its limit, but for watches.
    let ends_before = expect.ends_with("[rc=0]\n") && !command.contains(" -w ");
    let command = if ends_before {
        with_limits(&command, |recorded| recorded * PATIENCE)
    } else {
        with_limits(&command, |recorded| recorded.min(SHORT) * patience)
    };
    let limit = if expect.contains(TIMED_OUT) { SHORT * patience } else { LIMIT };
    let output = Command::new("timeout")
        .args(["--signal=KILL", &limit.to_string(), "sh", "-c", &format!("exec 2>&1; {command}")])
        .current_dir(folder)
        .env("KUBECONFIG", folder.join("config"))
        .env("KUBECACHEDIR", folder.join("cache"))
        .env("HOME", folder)
        .env("TZ", "UTC")
        // Each process ends before it has much to collect.
        .env("GOGC", "off")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        // `timeout` reports its own end by the signal in either form.
        Some(KILLED) | None => format!("{printed}\n{TIMED_OUT}\n"),
        Some(code) => format!("{printed}[rc={code}]\n"),
    }
}

/// Replaces the limits in a command.
fn with_limits(command: &str, limit: impl Fn(u32) -> u32) -> String {
    static LIMITS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(timeout[ =])(\d+)").unwrap());
    let replaced = |it: &Captures<'_>| format!("{}{}", &it[1], limit(it[2].parse().unwrap()));
    LIMITS.replace_all(command, replaced).into_owned()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_those_of_a_real_server() {
    let found = Command::new("kubectl").args(["version", "--client"]).stdout(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED answers_are_those_of_a_real_server: kubectl is not installed");
        return;
    }
    let server = Server::start(Config {
        transport: Transport::Tls,
        authorization: Authorization::Rbac,
        field_tracking: FieldTracking::Always,
        // No controllers: nothing deletes the content of a namespace.
        namespace_grace: Duration::from_secs(3_600),
        ..Config::default()
    })
    .await
    .unwrap();
    let manifests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/kubectl");
    let folder = tempfile::tempdir().unwrap();
    copy(&manifests, folder.path());
    // The user of the recording.
    let admin = User { uid: "admin".to_owned(), ..User::new("admin").group("system:masters") };
    std::fs::write(folder.path().join("config"), server.kubeconfig_for(admin)).unwrap();

    let cases = parse(ANSWERS);
    assert!(cases.len() >= 199, "{} commands", cases.len());
    for case in &cases {
        let reason = case.differs.as_ref().map_or("equal", |it| &it.0);
        assert!(!reason.trim().is_empty(), "no reason for a different answer to {:?}", case.command);
    }
    let mask = Mask::new();
    let answers = tokio::task::spawn_blocking(move || {
        let side_by_side = cases.chunk_by(|one, next| one.only_reads() && next.only_reads());
        let answers: Vec<String> = side_by_side
            .flat_map(|cases| cases.chunks(PROCESSES))
            .flat_map(|cases| {
                let (folder, mask) = (folder.path(), &mask);
                thread::scope(|scope| {
                    let start = |case| scope.spawn(move || answer(case, folder, mask));
                    let running: Vec<_> = cases.iter().map(start).collect();
                    running.into_iter().map(|answer| answer.join().unwrap()).collect::<Vec<_>>()
                })
            })
            .collect();
        (cases.into_iter().zip(answers), mask)
    });
    let (answers, mask) = answers.await.unwrap();
    server.shutdown().await;

    let (mut wrong, mut updated) = (String::new(), String::new());
    for (case, answer) in answers {
        let expect = case.expected();
        let Case { command, real, differs } = &case;
        write!(updated, "$ {command}\n{real}").unwrap();
        let masked = mask.apply(&answer);
        if masked == mask.apply(real) {
            if differs.is_some() {
                writeln!(wrong, "$ {command}\nequals the real answer now: remove the other one\n").unwrap();
            }
            continue;
        }
        let reason = differs.as_ref().map_or("", |it| it.0.as_str());
        write!(updated, "! {reason}\n{answer}").unwrap();
        if masked != mask.apply(expect) {
            write!(wrong, "$ {command}\n{masked}--- expected\n{}\n", mask.apply(expect)).unwrap();
        }
    }
    if std::env::var_os("UPDATE_ANSWERS").is_some() {
        std::fs::write(manifests.join("answers.txt"), &updated).unwrap();
    }
    assert!(wrong.is_empty(), "answers that differ:\n{wrong}");
}

#[test]
fn order_of_the_entries_of_a_config_map_is_ignored() {
    let described = |entries: &str| format!("Name:  cm\n\nData\n====\n{entries}\n\n\nBinaryData\n====\n");
    let mask = Mask::new();
    let [sorted, other, different] =
        ["a:\n----\n1\n\nb:\n----\n2", "b:\n----\n2\n\na:\n----\n1", "a:\n----\n1\n\nb:\n----\n3"]
            .map(|entries| mask.apply(&described(entries)));
    assert_eq!(sorted, other);
    assert_ne!(sorted, different);
}

#[test]
fn watch_that_fails_at_the_end_of_the_timeout_is_ignored() {
    let klog = |error: &str| {
        format!(
            "E1125 23:10:05.123456   10150 reflector.go:166] \"Unhandled Error\" \
             err=\"k8s.io/client-go/tools/watch/informerwatcher.go:146: Failed to watch *unstructured.Unstructured: {error}\"\n"
        )
    };
    let mask = Mask::new();
    let end = "error: timed out waiting for the condition on pods/web\n";
    assert_eq!(mask.apply(&format!("{}{end}", klog("context deadline exceeded"))), end);
    assert_ne!(mask.apply(&format!("{}{end}", klog("unknown (get pods)"))), end);
}
