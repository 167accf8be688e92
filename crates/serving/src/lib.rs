#![doc = include_str!("../README.md")]

mod authentication;
mod authorities;
mod authorization;
mod certificate;
mod connection;
mod connections;
mod debug_page;
mod error;
mod exposition;
mod handler;
mod lifetime;
mod listener;
mod metrics;
mod negotiation;
mod pacer;
mod peer;
pub mod response;
mod review_queue;
mod reviewer;
mod reviewers;
mod routes;
mod server;
mod settings;
mod socket;
mod thread;
mod tls;
mod user;

pub use certificate::CertificateError;
pub use debug_page::DebugPage;
pub use error::ServingError;
pub use metrics::ServingMetrics;
pub use reviewers::Reviewers;
pub use routes::{PageRequest, Routes};
pub use server::{Certificates, Server};
pub use settings::{
    AuthenticationSettings, AuthorizationSettings, CertificateFiles, ServerCertificate, ServingSettings, TlsVersion,
};
pub use thread::ServerThread;
