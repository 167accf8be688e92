//! The HTTP shell: bytes to requests of the cluster and back.

mod body;
mod connection;
mod continuation;
mod discovery;
mod list;
mod path;
mod query;
mod reply;
mod request;
mod watch;

pub(crate) use connection::serve;
