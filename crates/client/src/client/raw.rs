//! Arbitrary requests.

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode};
use kube_wire::Accept;

use super::{Client, sending::read_body};
use crate::{Call, Error, outgoing::Outgoing};

impl Client {
    /// Sends an arbitrary request once and returns status code and body, also for error statuses. For development
    /// tools.
    ///
    /// The request passes the rate limiter and, unless it is a GET, the write gate. It is not retried.
    ///
    /// # Errors
    ///
    /// [`Error::Transport`], [`Error::Request`], [`Error::ShuttingDown`], [`Error::Gated`] or [`Error::ReadOnly`].
    pub async fn raw(
        &self,
        method: Method,
        path_and_query: &str,
        content_type: Option<&str>,
        body: Vec<u8>,
    ) -> Result<(StatusCode, Bytes), Error> {
        let mut call = Call::new(verb(&method), path_and_query, "", "");
        let invalid_request = |cause: &str| Error::Request { call: call.clone(), source: cause.into() };
        let content_type = content_type.map(HeaderValue::from_str).transpose();
        let content_type = content_type.map_err(|_| invalid_request("the content type is not a valid header value"))?;
        let path_and_query = path_and_query.to_owned();
        let outgoing = Outgoing { method, path_and_query, accept: Accept::default(), content_type, body: body.into() };
        let service = self.shared.transport.calls();
        let response = self.without_retries().send(&service, &mut call, &outgoing, true).await?;
        Ok((response.status(), read_body(&call, response.into_body(), self.shared.options.timeouts.request).await?))
    }
}

fn verb(method: &Method) -> &'static str {
    match *method {
        Method::GET => "get",
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ => "call",
    }
}
