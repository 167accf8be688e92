//! Integration tests: the program, against the embedded API server.

mod check_and_diff;
mod cluster;
mod completion;
mod explain;
mod hand_written;
mod rights;
mod shadow;
mod watch;
