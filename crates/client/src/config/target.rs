//! Destination of requests: an API server or an in-process service.

use std::{convert::Infallible, fmt, future::pending, sync::Arc};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use tower::{
    BoxError, Service as TowerService, ServiceExt as _,
    util::{BoxCloneSyncService, MapErr},
};

use super::Live;
use crate::{response_body::ResponseBody, service::Service};

/// Destination of the requests of a configuration.
#[derive(Clone)]
pub(crate) enum Target {
    /// The server of a loaded configuration.
    Network(Arc<Live>),
    /// A `tower` service of this process.
    InProcess {
        service: Service,
        /// Namespace of the configuration that the service stands for.
        namespace: Arc<str>,
    },
}

/// URL and host of an in-process service in messages and metrics.
const IN_PROCESS: &str = "http://in-process/";
const IN_PROCESS_HOST: &str = "in-process";

impl Target {
    pub(crate) fn in_process<S, B>(service: S, namespace: &str) -> Self
    where
        S: TowerService<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let service = MapErr::new(service, Into::into);
        let service = service.map_response(|response: Response<B>| response.map(ResponseBody::in_process));
        Target::InProcess { service: BoxCloneSyncService::new(service), namespace: namespace.into() }
    }

    /// Returns the URL of the server.
    pub(crate) fn server(&self) -> String {
        match self {
            Target::Network(live) => live.loaded().inner.cluster_url.to_string(),
            Target::InProcess { .. } => IN_PROCESS.to_owned(),
        }
    }

    /// Returns the namespace of the loaded configuration, or of what an in-process service stands for.
    pub(crate) fn default_namespace(&self) -> String {
        match self {
            Target::Network(live) => live.loaded().inner.default_namespace.clone(),
            Target::InProcess { namespace, .. } => namespace.as_ref().to_owned(),
        }
    }

    /// Returns whether connections check the certificate of the server, if there is one: not with
    /// `insecure-skip-tls-verify`.
    pub(crate) fn verifies_server(&self) -> bool {
        match self {
            Target::Network(live) => {
                let loaded = live.loaded();
                !loaded.inner.accept_invalid_certs || loaded.inner.cluster_url.scheme_str() == Some("http")
            }
            Target::InProcess { .. } => true,
        }
    }

    /// Returns the host of the server, with the port if the address has one.
    pub(crate) fn host(&self) -> String {
        match self {
            Target::Network(live) => {
                let loaded = live.loaded();
                let authority = loaded.inner.cluster_url.authority().map_or("", http::uri::Authority::as_str);
                authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_owned()
            }
            Target::InProcess { .. } => IN_PROCESS_HOST.to_owned(),
        }
    }

    /// Reloads the configuration when its files change. Never returns; does nothing for an in-process service.
    pub(crate) async fn follow_files(self) -> Infallible {
        match self {
            Target::Network(live) => live.follow().await,
            Target::InProcess { .. } => pending().await,
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Target").field(&self.server()).finish()
    }
}
