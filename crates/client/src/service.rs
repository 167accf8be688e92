//! The type of the services that send requests.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tower::{BoxError, util::BoxCloneSyncService};

use crate::response_body::ResponseBody;

/// A stack of layers that authenticates requests and sends them.
pub(crate) type Service = BoxCloneSyncService<Request<Full<Bytes>>, Response<ResponseBody>, BoxError>;
