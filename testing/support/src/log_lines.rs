//! Captured log lines.

use std::io;
use std::sync::{Arc, Mutex};

/// Log lines that a subscriber of `tracing` writes: pass `move || lines.clone()` as its writer. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct LogLines(Arc<Mutex<Vec<u8>>>);

impl LogLines {
    /// Returns the number of lines that contain this text.
    pub fn count(&self, text: &str) -> usize {
        self.text().lines().filter(|line| line.contains(text)).count()
    }

    /// Returns all lines.
    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("not poisoned").clone()).expect("UTF-8")
    }

    /// Drops all lines.
    pub fn clear(&self) {
        self.0.lock().expect("not poisoned").clear();
    }
}

impl io::Write for LogLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("not poisoned").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
