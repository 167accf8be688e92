//! Integration tests: the program, against the embedded API server.

mod audit;
mod authorized;
mod check_and_diff;
mod cluster;
mod completion;
mod connection;
mod explain;
mod history;
mod incidents;
mod page;
mod record;
mod retire;
mod retire_plan;
mod rights;
mod shadow;
mod summary;
mod timeline;
mod view;
mod watch;
