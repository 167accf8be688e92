//! Requests of lists, page by page.

use std::time::Duration;

use kube_wire::ListParams;
use tokio::time::timeout;

use super::{
    Reflector,
    error::ReflectorError,
    steps::{ListRequest, Observation},
};

/// Maximum time without data in the response to a list: the server gives up on a list after 60 s.
const LIST_READ_TIMEOUT: Duration = Duration::from_secs(60);

impl Reflector {
    pub(super) async fn list(&mut self, request: ListRequest) {
        let ListRequest { version, limit, continue_token } = request;
        if continue_token.is_none() {
            self.begin_list(&version.clone().unwrap_or_default());
        }
        let params = ListParams {
            label_selector: self.scope.label_selector.clone(),
            field_selector: self.scope.field_selector.clone(),
            limit,
            continue_token,
            resource_version: version,
            accept: self.cache.accept(self.machine.encoding()),
        };
        let observation = match self.read_page(&params).await {
            Ok(observation) => observation,
            Err(error) => {
                self.cache.clear();
                self.informer.meter.record(|metrics| metrics.list_failed());
                self.log_failure("list failed", &error);
                Observation::ListFailed(error.failure())
            }
        };
        self.observe(observation);
    }

    async fn read_page(&mut self, params: &ListParams) -> Result<Observation, ReflectorError> {
        let mut body =
            self.source.requests.list(&self.informer.resource, self.scope.namespace.as_deref(), params).await?;
        self.observe(Observation::ResponseStarted(body.encoding()));
        self.cache.open_page(body.encoding());
        while let Some(chunk) = timeout(LIST_READ_TIMEOUT, body.next())
            .await
            .map_err(|_| ReflectorError::ReadTimeout(LIST_READ_TIMEOUT))?
            .transpose()?
        {
            self.cache.gather(&chunk, &mut self.undecodable)?;
        }
        let meta = self.cache.finish_page()?;
        if let Some(continue_token) = meta.continue_token {
            if params.continue_token.as_ref() == Some(&continue_token) {
                return Err(ReflectorError::RepeatedPage);
            }
            return Ok(Observation::Page { continue_token });
        }
        let held = self.replace(&meta.resource_version).await?;
        Ok(Observation::Listed { version: meta.resource_version, held })
    }
}
