//! Reads the objects that an explanation needs, all kinds concurrently.

mod needs;
mod objects;
mod pages;

use std::{collections::BTreeSet, sync::Arc};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use kube_controller_client::{Client, Error};
use kube_endpoint_model::{EndpointSlice, Endpoints, Node, Pod, Service, Text, With};
use kube_endpoints_explain::{Kind, LastWrite, ObjectRef};
use kube_endpoints_history::{Author, recorder::LastAuthor};
use kube_wire::{Decode, Object};

use self::pages::Pages;
pub(crate) use self::{
    needs::{Needs, Select},
    objects::{Objects, find},
};
use crate::{args, progress::Progress};

/// Maximum number of lists that replace the list of all Pods. With more namespaces, the requests would take longer.
const MAX_LISTS: usize = 256;
/// Number of these lists that are requested at the same time.
const CONCURRENT_LISTS: usize = 4;

/// An object with the author of its last write.
pub(crate) type Authored<T> = With<T, LastAuthor>;

/// How current the objects must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// The most recent state.
    MostRecent,
    /// Any state that the server has cached (`resourceVersion=0`), which costs the server the least.
    AnyCached,
}

/// Reads objects of a namespace, or of all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fetch<'a> {
    pub(crate) client: &'a Client,
    /// Namespace; `None` for all.
    pub(crate) namespace: Option<&'a str>,
    /// How current the objects must be.
    pub(crate) freshness: Freshness,
    /// Counter of the objects.
    pub(crate) progress: &'a Progress,
}

/// Objects of one kind.
#[derive(Debug)]
pub(crate) struct Listed<T> {
    pub(crate) objects: Vec<Arc<T>>,
    last_writes: Vec<(ObjectRef, LastWrite)>,
    /// Messages about objects that could not be decoded, or why the kind could not be read.
    pub(crate) warnings: Vec<String>,
    /// Whether the kind could not be read.
    pub(crate) unreadable: bool,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Listed { objects: Vec::new(), last_writes: Vec::new(), warnings: Vec::new(), unreadable: false }
    }
}

impl<T: Object + Clone> Listed<Authored<T>> {
    fn split(self, kind: Kind) -> Listed<T> {
        let Listed { objects, last_writes: _, warnings, unreadable } = self;
        let (objects, last_writes) = split(kind, &objects);
        Listed { objects, last_writes, warnings, unreadable }
    }
}

impl Fetch<'_> {
    /// Reads the objects. A kind that the user may not list, or that the server does not serve, is recorded in the
    /// result; every other failure is an error.
    pub(crate) async fn objects(&self, needs: &Needs) -> anyhow::Result<Objects> {
        let Needs { services, pods, nodes, slices, endpoints, last_writes } = needs;
        let ((services, mut pods, listed), nodes, slices, endpoints) = tokio::try_join!(
            self.services_and_pods(services, pods),
            self.list::<Node>(nodes),
            async {
                if *last_writes {
                    self.list::<Authored<EndpointSlice>>(slices).await.map(|it| it.split(Kind::EndpointSlice))
                } else {
                    self.list::<EndpointSlice>(slices).await
                }
            },
            async {
                if *last_writes {
                    self.list::<Authored<Endpoints>>(endpoints).await.map(|it| it.split(Kind::Endpoints))
                } else {
                    self.list::<Endpoints>(endpoints).await
                }
            },
        )?;
        if let Some(listed) = listed.filter(|_| !pods.unreadable) {
            // A slice can be left over in a namespace without Services, and refer to Pods there.
            let of_slices = slices.objects.iter().map(|slice| slice.metadata.namespace.clone());
            let more = self.pods_of(&of_slices.filter(|namespace| !listed.contains(namespace)).collect()).await?;
            pods.objects.extend(more.objects);
            pods.warnings.extend(more.warnings);
            pods.unreadable = more.unreadable;
        }
        let mut objects = Objects::default();
        objects.services = objects.take(Kind::Service, services);
        objects.pods = objects.take(Kind::Pod, pods);
        objects.nodes = objects.take(Kind::Node, nodes);
        objects.slices = objects.take(Kind::EndpointSlice, slices);
        objects.endpoints = objects.take(Kind::Endpoints, endpoints);
        Ok(objects)
    }

    /// Lists Services and Pods. In all namespaces, Pods are listed for each namespace with Services: the server encodes
    /// several shorter lists at the same time, and no Pod is sent that no Service could select. Returns these namespaces, too; `None` if
    /// Pods were listed at once.
    async fn services_and_pods(
        &self,
        services: &Select,
        pods: &Select,
    ) -> anyhow::Result<(Listed<Service>, Listed<Pod>, Option<BTreeSet<Text>>)> {
        if self.namespace.is_some() || *pods != Select::All {
            let (services, pods) = tokio::try_join!(self.list(services), self.list(pods))?;
            return Ok((services, pods, None));
        }
        let services: Listed<Service> = self.list(services).await?;
        if services.unreadable {
            return Ok((services, self.list(pods).await?, None));
        }
        let namespaces: BTreeSet<Text> = services.objects.iter().map(|service| service.namespace.clone()).collect();
        let pods = self.pods_of(&namespaces).await?;
        Ok((services, pods, (namespaces.len() <= MAX_LISTS).then_some(namespaces)))
    }

    /// Lists the Pods of namespaces. If there are too many, those of all.
    async fn pods_of(&self, namespaces: &BTreeSet<Text>) -> anyhow::Result<Listed<Pod>> {
        if namespaces.len() > MAX_LISTS {
            return self.list(&Select::All).await;
        }
        let list = async |namespace: &Text| {
            Fetch { namespace: Some(namespace.as_str()), ..*self }.list::<Pod>(&Select::All).await
        };
        let mut lists = stream::iter(namespaces).map(list).buffer_unordered(CONCURRENT_LISTS);
        let mut pods = Listed::default();
        while let Some(listed) = lists.try_next().await? {
            if listed.unreadable {
                // What is missing in one namespace is probably missing in all; one message is enough.
                return Ok(listed);
            }
            pods.objects.extend(listed.objects);
            pods.warnings.extend(listed.warnings);
        }
        Ok(pods)
    }

    /// Lists the Services that a label selector selects.
    pub(crate) async fn select_services(&self, selector: &str) -> anyhow::Result<Vec<Arc<Service>>> {
        Ok(self.read::<Service>(&Select::Labels(selector.to_owned())).await?.objects)
    }

    /// Returns the sorted names of the objects of a kind that a label selector selects; of all without one.
    pub(crate) async fn names_of(&self, kind: args::Kind, selector: Option<&str>) -> anyhow::Result<Vec<String>> {
        match kind {
            args::Kind::Service => self.names::<Service>(selector).await,
            args::Kind::Pod => self.names::<Pod>(selector).await,
            // As the requests of `explain`, so that the server need not encode them twice.
            args::Kind::EndpointSlice => self.names::<Authored<EndpointSlice>>(selector).await,
            args::Kind::Endpoints => self.names::<Authored<Endpoints>>(selector).await,
        }
    }

    /// Returns the sorted names of the objects that a label selector selects; of all without one.
    pub(crate) async fn names<T: Decode>(&self, selector: Option<&str>) -> anyhow::Result<Vec<String>> {
        let select = selector.map_or(Select::All, |selector| Select::Labels(selector.to_owned()));
        let listed = self.read::<T>(&select).await?;
        let mut names: Vec<String> = listed.objects.iter().map(|object| object.name().to_owned()).collect();
        names.sort();
        Ok(names)
    }

    /// Lists a kind. A rejected list is an error, as is an object that cannot be decoded.
    pub(crate) async fn complete<T: Decode>(&self, select: &Select) -> anyhow::Result<Vec<Arc<T>>> {
        let Listed { objects, warnings, .. } = self.read(select).await?;
        anyhow::ensure!(warnings.is_empty(), "{}", warnings.join("; "));
        Ok(objects)
    }

    /// Lists a kind; a rejected list is not an error.
    pub(crate) async fn list<T: Decode>(&self, select: &Select) -> anyhow::Result<Listed<T>> {
        if *select == Select::Nothing {
            return Ok(Listed::default());
        }
        match self.read(select).await {
            Ok(listed) => Ok(listed),
            Err(error) => match error.downcast_ref().and_then(missing::<T>) {
                Some(warning) => Ok(Listed { warnings: vec![warning], unreadable: true, ..Listed::default() }),
                None => Err(error),
            },
        }
    }

    async fn read<T: Decode>(&self, select: &Select) -> anyhow::Result<Listed<T>> {
        let namespace = self.namespace.filter(|_| T::RESOURCE.namespaced);
        let pages =
            Pages { client: self.client, namespace, select, freshness: self.freshness, progress: self.progress };
        let (objects, warnings) = pages.read().await?;
        Ok(Listed { objects, warnings, ..Listed::default() })
    }
}

/// Returns the write of an author; `None` without a time.
pub(crate) fn last_write(author: &Author) -> Option<LastWrite> {
    Some(LastWrite { manager: author.manager.to_string(), time: author.time? })
}

/// Returns objects without their authors, and their last writes.
pub(crate) fn split<T: Object + Clone>(
    kind: Kind,
    authored: &[Arc<Authored<T>>],
) -> (Vec<Arc<T>>, Vec<(ObjectRef, LastWrite)>) {
    let of_object = |it: &Arc<Authored<T>>| Some((ObjectRef::new(kind, &it.key()), last_write(it.part.0.as_ref()?)?));
    let last_writes = authored.iter().filter_map(of_object).collect();
    (authored.iter().map(|it| Arc::new(it.object.clone())).collect(), last_writes)
}

/// Returns the message about a kind that cannot be read although the request is right; `None` for other failures.
pub(crate) fn missing<T: Decode>(error: &Error) -> Option<String> {
    if error.is_forbidden() {
        return Some(format!("may not {}: {error}", error.call()));
    }
    // Clusters can disable the API of EndpointSlices; the APIs of the other kinds always exist.
    let optional = !T::RESOURCE.group.is_empty();
    (optional && error.is_not_found()).then(|| format!("the server does not serve {}: {error}", T::RESOURCE))
}
