//! The service that sends requests.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{Full, combinators::UnsyncBoxBody};
use tower::{BoxError, util::BoxCloneSyncService};

/// Body of a response, from the network or from an in-process service.
pub(crate) type ResponseBody = UnsyncBoxBody<Bytes, BoxError>;

pub(crate) type Service = BoxCloneSyncService<Request<Full<Bytes>>, Response<ResponseBody>, BoxError>;
