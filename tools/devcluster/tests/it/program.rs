//! The program as a child process, and its output.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
};

use kube_endpoints_testing::LIMIT;

/// Running program. It is killed when dropped, so that a failed test leaves no process behind.
pub(crate) struct Program {
    child: Child,
    lines: Receiver<String>,
    errors: thread::JoinHandle<String>,
}

pub(crate) struct Exited {
    pub(crate) status: ExitStatus,
    /// Lines of standard output that were not read before.
    pub(crate) stdout: Vec<String>,
    /// Standard error.
    pub(crate) stderr: String,
}

impl Program {
    /// Starts the program under test.
    pub(crate) fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_devcluster"))
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut stderr = child.stderr.take().unwrap();
        let errors = thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).map(|_| text).unwrap_or_default()
        });
        Self { child, lines, errors }
    }

    /// Waits for a line with this prefix and returns the rest of the line. Lines before it are discarded.
    pub(crate) fn line(&mut self, prefix: &str) -> String {
        let mut seen = Vec::new();
        loop {
            match self.lines.recv_timeout(LIMIT) {
                Ok(line) => match line.strip_prefix(prefix) {
                    Some(rest) => return rest.trim().to_owned(),
                    None => seen.push(line),
                },
                Err(error) => panic!("no line that starts with {prefix:?} ({error}); read: {seen:#?}"),
            }
        }
    }

    /// Sends SIGTERM.
    pub(crate) fn terminate(&self) {
        self.signal("TERM");
    }

    pub(crate) fn signal(&self, name: &str) {
        let killed = Command::new("sh").args(["-c", &format!("kill -{name} {}", self.child.id())]).status().unwrap();
        assert!(killed.success());
    }

    pub(crate) fn wait(mut self) -> Exited {
        let mut stdout = Vec::new();
        // The channel is disconnected when the program closes standard output.
        loop {
            match self.lines.recv_timeout(LIMIT) {
                Ok(line) => stdout.push(line),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("still running after {stdout:#?}"),
            }
        }
        let status = self.child.wait().unwrap();
        let errors = std::mem::replace(&mut self.errors, thread::spawn(String::new));
        Exited { status, stdout, stderr: errors.join().unwrap() }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // In a test that passes, the program has exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn run(args: &[&str]) -> Exited {
    Program::start(args).wait()
}

impl Exited {
    /// Asserts exit status 1 and one line on standard error, and returns that line.
    pub(crate) fn error_line(&self) -> &str {
        assert_eq!(self.status.code(), Some(1), "{}", self.stderr);
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        self.stderr.trim_end()
    }
}
