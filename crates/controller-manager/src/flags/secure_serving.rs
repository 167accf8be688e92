//! Flags for address and certificate of the HTTPS server.

use std::net::IpAddr;

use clap::Args;
use kube_controller_serving::{
    AuthenticationSettings, AuthorizationSettings, CertificateFiles, ServerCertificate, ServingSettings, TlsVersion,
};

use super::value::path;
use crate::go_int;

/// Default of `--secure-port`, that of kube-controller-manager.
const PORT: u16 = 10_257;
/// File name, without extension, of the generated pair in `--cert-dir`; upstream's.
const PAIR_NAME: &str = "kube-controller-manager";

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Secure serving flags")]
pub(super) struct SecureServing {
    /// Address to serve health checks and metrics on; 0.0.0.0 or :: for all interfaces.
    #[arg(long, value_name = "ADDRESS", default_value_t = ServingSettings::default().bind_address)]
    bind_address: IpAddr,

    /// Port to serve health checks and metrics on, with HTTPS; 0 disables serving.
    #[arg(long, value_name = "PORT", value_parser = go_int::parse, default_value_t = i64::from(PORT))]
    secure_port: i64,

    /// Directory of the self-signed certificate that is generated if --tls-cert-file is not given. Without it, the
    /// certificate is in memory only.
    #[arg(long, value_name = "FOLDER", default_value = "", hide_default_value = true)]
    cert_dir: String,

    /// Server certificate in PEM, followed by its intermediate CA certificates. Without it, a self-signed one is
    /// generated at start.
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    tls_cert_file: String,

    /// Private key of the server certificate, in PEM.
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    tls_private_key_file: String,

    /// Minimum TLS version: `VersionTLS12` or `VersionTLS13`.
    #[arg(long, value_name = "VERSION", default_value = "VersionTLS12")]
    tls_min_version: String,
}

impl SecureServing {
    pub(super) fn settings(
        &self,
        authentication: AuthenticationSettings,
        authorization: AuthorizationSettings,
        errors: &mut Vec<String>,
    ) -> ServingSettings {
        let SecureServing { bind_address, secure_port, cert_dir, tls_cert_file, tls_private_key_file, tls_min_version } =
            self;
        let port = u16::try_from(*secure_port).unwrap_or_else(|_| {
            errors.push(format!(
                "--secure-port {secure_port} must be between 0 and 65535, inclusive. 0 for turning off secure port"
            ));
            0
        });
        let certificate = match (path(tls_cert_file), path(tls_private_key_file)) {
            (Some(certificate), Some(key)) => ServerCertificate::Files(CertificateFiles { certificate, key }),
            (None, None) => path(cert_dir).map_or(ServerCertificate::Generated, |folder| {
                ServerCertificate::Stored(CertificateFiles::pair(&folder, PAIR_NAME))
            }),
            _ => {
                errors.push("tls-cert-file and tls-private-key-file must be given together".to_owned());
                ServerCertificate::Generated
            }
        };
        ServingSettings {
            bind_address: *bind_address,
            port,
            certificate,
            min_tls_version: tls_version(tls_min_version, errors),
            authentication,
            authorization,
        }
    }
}

fn tls_version(text: &str, errors: &mut Vec<String>) -> TlsVersion {
    match text {
        "" | "VersionTLS12" => return TlsVersion::Tls12,
        "VersionTLS13" => return TlsVersion::Tls13,
        "VersionTLS10" | "VersionTLS11" => {
            errors.push(format!("tls-min-version {text} is not supported, use VersionTLS12 or VersionTLS13"));
        }
        _ => errors.push(format!("unknown tls version {text:?}")),
    }
    TlsVersion::default()
}
