//! Reaction to rejected credentials: the process becomes unready after 60 s of 401 answers and ends after 300 s.

use std::time::Duration;

use kube_controller_client::Credentials;
use tokio::time::{Instant, sleep};

/// Time of 401 answers after which the process is not ready: long enough for a token or certificate to be replaced when
/// it expires.
const UNREADY_AFTER: Duration = Duration::from_secs(60);
/// Time of 401 answers after which the process ends, if it is the leader or runs without leader election. Files are
/// reloaded every 30 s, so that waiting longer is unlikely to help, and another replica may have valid credentials.
const END_AFTER: Duration = Duration::from_secs(300);
/// Interval between two checks.
const INTERVAL: Duration = Duration::from_secs(10);

fn rejected_for(rejected_since: Option<Instant>, now: Instant) -> Duration {
    rejected_since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
}

/// The readiness check `credentials`: fails once the credentials have been rejected for [`UNREADY_AFTER`].
pub(crate) fn check(credentials: &Credentials, now: Instant) -> Result<(), String> {
    match rejected_for(credentials.rejected_since(), now) {
        rejected if rejected < UNREADY_AFTER => Ok(()),
        rejected => Err(format!("the API server has answered 401 for {} s", rejected.as_secs())),
    }
}

/// Waits until the credentials have been rejected for [`END_AFTER`] or longer and `is_active` returns `true` (this
/// process leads or has no leader election). Returns the time of rejection.
pub(crate) async fn wait_until_rejected(credentials: &Credentials, is_active: impl Fn() -> bool) -> Duration {
    loop {
        sleep(INTERVAL).await;
        let rejected = rejected_for(credentials.rejected_since(), Instant::now());
        if rejected >= END_AFTER && is_active() {
            return rejected;
        }
    }
}

#[cfg(test)]
mod tests {
    use kube_controller_client::{Client, ClientOptions, Config};
    use kube_dev_apiserver::{Server, Transport, User};

    use super::*;

    #[tokio::test]
    async fn readiness_fails_after_60_s_of_401() {
        let config = kube_dev_apiserver::Config { transport: Transport::Tls, ..kube_dev_apiserver::Config::default() };
        let server = Server::start(config).await.unwrap();
        let (folder, user) = (tempfile::tempdir().unwrap(), User::new("alice"));
        let (path, token) = (folder.path().join("kubeconfig"), server.token_for(user.clone()));
        let kubeconfig = server.kubeconfig_for(user).replace("{token: ", "{tokenFile: token} # ");
        std::fs::write(&path, kubeconfig).unwrap();
        std::fs::write(folder.path().join("token"), "expired").unwrap();
        let config = Config::from_kubeconfig(&path).await.unwrap();
        let client = Client::new(&config, ClientOptions::default()).unwrap();
        client.get_json("/api/v1/pods").await.unwrap_err();
        let since = config.credentials().rejected_since().unwrap();
        client.get_json("/api/v1/pods").await.unwrap_err();
        let check_after = |seconds| check(config.credentials(), since + Duration::from_secs(seconds));
        assert_eq!(check_after(59), Ok(()));
        assert_eq!(check_after(60), Err("the API server has answered 401 for 60 s".to_owned()));
        std::fs::write(folder.path().join("token"), token).unwrap();
        client.get_json("/api/v1/pods").await.unwrap();
        assert_eq!(check_after(60), Ok(()));
        server.shutdown().await;
    }
}
