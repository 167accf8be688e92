//! A running `devcluster` and what it says.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

/// Longer than anything here takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running program. Killed when dropped, so that a failed test leaves nothing behind.
pub(crate) struct Program {
    child: Child,
    lines: Receiver<String>,
    errors: thread::JoinHandle<String>,
}

/// What a program left behind.
pub(crate) struct Ended {
    /// How it ended.
    pub(crate) status: ExitStatus,
    /// What was not read of standard output before.
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

    /// Waits for a line that begins like this and returns its rest.
    pub(crate) fn line(&mut self, beginning: &str) -> String {
        let mut seen = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => match line.strip_prefix(beginning) {
                    Some(rest) => return rest.trim().to_owned(),
                    None => seen.push(line),
                },
                Err(error) => panic!("no line {beginning:?} ({error}); seen: {seen:#?}"),
            }
        }
    }

    /// Asks the program to end, as an operator does.
    pub(crate) fn terminate(&self) {
        let killed = Command::new("sh").args(["-c", &format!("kill {}", self.child.id())]).status().unwrap();
        assert!(killed.success());
    }

    /// Waits for the end.
    pub(crate) fn end(mut self) -> Ended {
        let mut stdout = Vec::new();
        // Standard output is closed by the end of the program.
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => stdout.push(line),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("still running after {stdout:#?}"),
            }
        }
        let status = self.child.wait().unwrap();
        let errors = std::mem::replace(&mut self.errors, thread::spawn(String::new));
        Ended { status, stdout, stderr: errors.join().unwrap() }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It has ended already in every test that passes.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the program to its end.
pub(crate) fn run(args: &[&str]) -> Ended {
    Program::start(args).end()
}

impl Ended {
    /// Insists that the program refused, and returns its one line of complaint.
    pub(crate) fn refusal(&self) -> &str {
        assert_eq!(self.status.code(), Some(1), "{}", self.stderr);
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        self.stderr.trim_end()
    }
}
