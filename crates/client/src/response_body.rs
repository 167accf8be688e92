//! Response bodies, from the network or from an in-process service.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt as _, combinators::UnsyncBoxBody};
use hyper::body::Incoming;
use tower::BoxError;

/// The body of a response. Bodies from the network are not boxed.
#[derive(Debug)]
pub(crate) enum ResponseBody {
    Network(Incoming),
    InProcess(UnsyncBoxBody<Bytes, BoxError>),
}

impl ResponseBody {
    /// Wraps the body of a response from an in-process service.
    pub(crate) fn in_process<B>(body: B) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        ResponseBody::InProcess(body.map_err(Into::into).boxed_unsync())
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self.get_mut() {
            ResponseBody::Network(body) => {
                Pin::new(body).poll_frame(context).map(|frame| frame.map(|frame| frame.map_err(Into::into)))
            }
            ResponseBody::InProcess(body) => Pin::new(body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            ResponseBody::Network(body) => body.is_end_stream(),
            ResponseBody::InProcess(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            ResponseBody::Network(body) => body.size_hint(),
            ResponseBody::InProcess(body) => body.size_hint(),
        }
    }
}
