//! Where requests go.

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
use crate::{response_body::ResponseBody, transport::Service};

/// Where the requests of a configuration go.
#[derive(Clone)]
pub(crate) enum Target {
    /// To the address of a configuration.
    Network(Arc<Live>),
    /// To a service of this process.
    InProcess(Service),
}

/// The address of a service in this process, for messages and metrics.
const IN_PROCESS: &str = "http://in-process/";
const IN_PROCESS_HOST: &str = "in-process";

impl Target {
    pub(crate) fn in_process<S, B>(service: S) -> Self
    where
        S: TowerService<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let service = MapErr::new(service, Into::into);
        let service = service.map_response(|answer: Response<B>| answer.map(ResponseBody::in_process));
        Target::InProcess(BoxCloneSyncService::new(service))
    }

    /// The address of the server.
    pub(crate) fn server(&self) -> String {
        match self {
            Target::Network(live) => live.loaded().inner.cluster_url.to_string(),
            Target::InProcess(_) => IN_PROCESS.to_owned(),
        }
    }

    /// The host of the server, with its port if the address has one.
    pub(crate) fn host(&self) -> String {
        match self {
            Target::Network(live) => {
                let loaded = live.loaded();
                let authority = loaded.inner.cluster_url.authority().map_or("", http::uri::Authority::as_str);
                authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_owned()
            }
            Target::InProcess(_) => IN_PROCESS_HOST.to_owned(),
        }
    }

    /// Reads files again when they change. A service of this process has none.
    pub(crate) async fn follow_files(self) -> Infallible {
        match self {
            Target::Network(live) => live.follow().await,
            Target::InProcess(_) => pending().await,
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Target").field(&self.server()).finish()
    }
}
