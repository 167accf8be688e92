//! Tests of the Markdown pages: links, flags, quoted messages, codes, names of other
//! projects and the table of contents.

mod codes;
mod custom_resource;
mod dependencies;
mod figures;
mod flags;
mod kube_operators;
mod links;
mod messages;
mod names;
mod page;
mod summary;
mod writes;
