//! The program in a pseudoterminal, whose output is shown on an emulated screen.

use std::{
    cell::RefCell,
    fs::File,
    io::{Read as _, Write as _},
    num::NonZeroU16,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use vt100::Parser;

/// Initial size: lines and columns.
const SIZE: (u16, u16) = (24, 80);

/// Running program with its terminal. The program is killed when the value is dropped.
pub(crate) struct Terminal {
    child: RefCell<Child>,
    master: File,
    screen: Arc<Mutex<Parser>>,
}

impl Terminal {
    /// Starts the program under test.
    ///
    /// `setsid` makes the pseudoterminal the controlling terminal. Otherwise `/dev/tty`, where the program reads the
    /// size of the window, is the terminal in which the test was started.
    pub(crate) fn start(args: &[&str], kubeconfig: &Path) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        tcsetwinsize(&master, winsize(SIZE)).unwrap();
        let slave = ioctl_tiocgptpeer(&master, flags).unwrap();
        let stdio = || Stdio::from(slave.try_clone().unwrap());
        let child = Command::new("setsid")
            .args(["--ctty", "--wait", env!("CARGO_BIN_EXE_kubectl-endpoints")])
            .args(args)
            .env("KUBECONFIG", kubeconfig)
            .env("NO_PROXY", "*")
            .env("TERM", "xterm-256color")
            .stdin(stdio())
            .stdout(stdio())
            .stderr(stdio())
            .spawn()
            .unwrap();

        let master = File::from(master);
        let [lines, columns] = [SIZE.0, SIZE.1].map(non_zero);
        let screen = Arc::new(Mutex::new(Parser::new(lines, columns, 0)));
        let (mut output, shown) = (master.try_clone().unwrap(), Arc::clone(&screen));
        // Ends with an error when the program has closed its terminal.
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                shown.lock().unwrap().process(&buffer[..count]);
            }
        });
        Self { child: RefCell::new(child), master, screen }
    }

    /// Returns the text on the screen.
    pub(crate) fn contents(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    /// Returns whether the alternate screen is shown.
    pub(crate) fn is_alternate_screen(&self) -> bool {
        self.screen.lock().unwrap().screen().alternate_screen()
    }

    /// Returns whether the program gets keys instead of lines, without echo.
    pub(crate) fn is_raw(&self) -> bool {
        !tcgetattr(&self.master).unwrap().local_modes.intersects(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// Sends keys to the program.
    pub(crate) fn type_keys(&self, keys: &str) {
        (&self.master).write_all(keys.as_bytes()).unwrap();
    }

    /// Changes the size of the window.
    pub(crate) fn resize(&self, lines: u16, columns: u16) {
        self.screen.lock().unwrap().screen_mut().set_size(non_zero(lines), non_zero(columns));
        tcsetwinsize(&self.master, winsize((lines, columns))).unwrap();
    }

    /// Returns the exit status; `None` while the program runs.
    pub(crate) fn exit_status(&self) -> Option<ExitStatus> {
        self.child.borrow_mut().try_wait().unwrap()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let child = self.child.get_mut();
        // Fails if the program has ended.
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn winsize((lines, columns): (u16, u16)) -> Winsize {
    Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

fn non_zero(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).expect("not zero")
}
