//! The pages for users and contributors: what they refer to is there.

mod flags;
mod links;
mod messages;
mod page;
mod summary;
