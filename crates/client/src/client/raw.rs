//! Arbitrary requests.

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode};
use kube_wire::Accept;
use tokio::time::{Instant, timeout};
use tower::ServiceExt as _;

use super::{Client, read_body, timeout_error};
use crate::{Call, Error, failure::transport_error, outgoing::Outgoing};

impl Client {
    /// Sends an arbitrary request once and returns status code and body, also for error statuses. For development
    /// tools.
    ///
    /// The request passes the rate limiter and, unless it is a GET, the write gate. It is not retried, and
    /// [`Timeouts::request`](crate::Timeouts::request) bounds the whole exchange.
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
        let call = Call::new(verb(&method), path_and_query, "", "");
        let invalid_request = |cause: &str| Error::Request { call: call.clone(), source: cause.into() };
        let content_type = content_type.map(HeaderValue::from_str).transpose();
        let content_type = content_type.map_err(|_| invalid_request("the content type is not a valid header value"))?;
        let path_and_query = path_and_query.to_owned();
        let request = Outgoing { method, path_and_query, accept: Accept::default(), content_type, body: body.into() };
        let request = self.request(&call, &request)?;
        let method = request.method().clone();
        self.check_writable(&call, &method)?;
        let permit = self.unless_shutdown(&call, self.wait_for_limiter(&method, &call)).await?;
        let limit = self.shared.request_timeout;
        let exchange = async {
            let response = self.shared.transport.calls().oneshot(request).await;
            permit.finish(response.as_ref().ok());
            let response = response.map_err(|error| transport_error(&call, error));
            self.record_attempt(&call, &response);
            let response = response?;
            self.shared.credentials.record_response(response.status(), Instant::now());
            Ok::<_, Error>((response.status(), read_body(&call, response.into_body(), limit).await?))
        };
        self.run_gated(&method, &call, timeout(limit, exchange)).await?.map_err(|_| timeout_error(&call, limit))?
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
