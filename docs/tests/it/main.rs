//! Tests of the Markdown pages: links, flags, quoted messages, codes and the table of contents.

mod api;
mod codes;
mod flags;
mod links;
mod messages;
mod page;
mod summary;
