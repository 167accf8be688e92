//! Receiving of request bodies.

use std::io;

use bytes::{Buf as _, Bytes};
use http_body::Body;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tower::BoxError;

use crate::status::StatusError;

/// Maximum size of a request body in bytes, as `MaxRequestBodyBytes` of `k8s.io/apiserver`.
const MAX_BODY: usize = 3 * 1024 * 1024;

/// Body received from a connection, or passed to an [`InProcess`](super::InProcess) service.
pub(super) type RequestBody = UnsyncBoxBody<Bytes, io::Error>;

pub(super) fn boxed<B>(body: B) -> RequestBody
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    // `copy_to_bytes` passes `Bytes` on without a copy.
    let body = body.map_frame(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining())));
    body.map_err(io::Error::other).boxed_unsync()
}

/// Reads a body to its end. Fails with 413 if it exceeds 3 MiB, 400 if reading fails.
pub(super) async fn collect(body: RequestBody) -> Result<Bytes, StatusError> {
    match Limited::new(body, MAX_BODY).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(StatusError::too_large_body(MAX_BODY)),
        Err(error) => Err(StatusError::bad_request(format!("the body cannot be read: {error}"))),
    }
}
