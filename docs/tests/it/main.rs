//! Tests of the Markdown pages: links, flags, quoted messages and the table of contents.

mod api;
mod flags;
mod links;
mod messages;
mod page;
mod summary;
