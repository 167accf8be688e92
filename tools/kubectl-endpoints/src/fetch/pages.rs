//! Lists of one kind, page by page.

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use futures::StreamExt as _;
use kube_controller_client::{Accept, Client, Error, ListParams};
use kube_wire::{Decode, ListReader};
use tokio::time::timeout;

use super::{Freshness, Select};
use crate::{connection::named, progress::Progress};

/// Objects of one page, as kubectl and client-go request them.
const PAGE: u32 = 500;
/// Maximum time without data in the response to a list: the server gives up on a list after 60 s.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// A list to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pages<'a> {
    pub(super) client: &'a Client,
    pub(super) namespace: Option<&'a str>,
    pub(super) select: &'a Select,
    pub(super) freshness: Freshness,
    pub(super) progress: &'a Progress,
}

/// Objects and messages about those that cannot be decoded.
type Read<T> = (Vec<Arc<T>>, Vec<String>);

impl Pages<'_> {
    /// Reads the list. If its version expires between two pages, the list is read again at once, without pages, as
    /// client-go's pager does.
    pub(super) async fn read<T: Decode>(&self) -> anyhow::Result<Read<T>> {
        let mut params = ListParams {
            label_selector: self.select.label_selector(),
            field_selector: self.select.field_selector(),
            // A cached list costs the server no more in one piece, and API servers ignore the limit for it.
            limit: (self.freshness == Freshness::MostRecent).then_some(PAGE),
            continue_token: None,
            resource_version: (self.freshness == Freshness::AnyCached).then(|| 0.into()),
            accept: Accept::of::<T>(self.client.content_type()),
        };
        let mut read = Read::default();
        loop {
            match self.read_page(&params, &mut read).await {
                Ok(None) => return Ok(read),
                Ok(Some(token)) => {
                    params.continue_token = Some(token);
                    // The token contains the version; the server rejects another one.
                    params.resource_version = None;
                }
                Err(error) if is_expired(&error) && params.continue_token.is_some() => {
                    params.continue_token = None;
                    params.limit = None;
                    read = Read::default();
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads one page and returns the continue token of the next, if there is one.
    async fn read_page<T: Decode>(&self, params: &ListParams, read: &mut Read<T>) -> anyhow::Result<Option<String>> {
        let (objects, warnings) = read;
        let reading = || format!("list {}", T::RESOURCE);
        let mut body = self.client.list_chunks(&T::RESOURCE, self.namespace, params).await.map_err(named)?;
        let mut items = ListReader::<T>::new(body.encoding());
        while let Some(chunk) =
            timeout(READ_TIMEOUT, body.next()).await.context("no data for 60 s").with_context(reading)?
        {
            items.push(&chunk.map_err(named)?);
            while let Some(item) = self.client.decode(|| items.next_item()).with_context(reading)? {
                match item {
                    Ok(object) => {
                        objects.push(Arc::new(object));
                        self.progress.add(1);
                    }
                    Err(it) => {
                        let key = it.key.as_ref().map(ToString::to_string).unwrap_or_default();
                        warnings.push(format!("{} {key} is ignored: {}", T::RESOURCE, it.error));
                    }
                }
            }
        }
        Ok(items.finish().with_context(reading)?.continue_token)
    }
}

fn is_expired(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Error>().is_some_and(Error::is_expired)
}
