//! HTTP layer: connections, content negotiation, and the translation between requests and cluster operations.

mod accept;
mod body;
mod connection;
mod containers;
mod continuation;
mod debug;
mod discovery;
mod form;
mod handler;
mod health;
mod impersonation;
mod in_process;
mod lag;
mod list;
mod openapi;
mod outgoing;
mod path;
mod payload;
mod query;
mod reply;
mod request;
mod request_info;
mod reviews;
mod socket;
mod unserved;
mod watch;

pub(crate) use connection::serve;
pub use in_process::{InProcess, ResponseBody};
pub use lag::Lag;
pub(crate) use reviews::virtual_resources;
