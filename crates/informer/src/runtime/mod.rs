//! Caches for operators that are written with `kube::runtime::Controller`.
//!
//! A [`Cache`] takes the place of the watches that a `Controller` opens, and of `reflector`. It is an
//! [`Informer`](crate::Informer) that fills a [`Store`](kube::runtime::reflector::Store) of `kube`: reconcilers, error policies,
//! `finalizer()` and `Api` stay as they are.
//!
//! - One list and one watch per type, however many controllers and late subscribers there are.
//! - The writes of [`Caches::client`] enter the stores before their responses are returned: a reconciler never reads a state
//!   older than its own writes, and gets no conflict with them.
//! - `metadata.managedFields` are not kept, and a [projection](crate::projection) keeps only the fields that it has.
//! - Look-ups by index, with [`Cache::by_index`].
//!
//! ```no_run
//! use std::{sync::Arc, time::Duration};
//!
//! use futures::StreamExt as _;
//! use k8s_openapi::api::{apps::v1::Deployment, core::v1::Pod};
//! use kube::{Client, Error, runtime::controller::Action};
//! use kube_informer::runtime::Caches;
//!
//! # struct Context { client: Client }
//! # async fn reconcile(_: Arc<Deployment>, _: Arc<Context>) -> Result<Action, Error> { Ok(Action::await_change()) }
//! # fn error_policy(_: Arc<Deployment>, _: &Error, _: Arc<Context>) -> Action { Action::requeue(Duration::from_secs(5)) }
//! # async fn operate(client: Client) {
//! let caches = Caches::new(client);
//! let (deployments, pods) = (caches.of::<Deployment>(), caches.of::<Pod>());
//! let context = Arc::new(Context { client: caches.client() });
//! let controller = deployments
//!     .controller()
//!     .owns_shared_stream(pods.touched_objects())
//!     .run(reconcile, error_policy, context)
//!     .for_each(|_| async {});
//! tokio::select! {
//!     () = caches.run() => {}
//!     () = controller => {}
//! }
//! # }
//! ```

mod answer;
mod builder;
mod cache;
mod cached;
mod caches;
mod client;
mod projection;
mod source;
mod store;
mod subscription;
mod target;
mod writes;

use std::{any::TypeId, fmt::Debug};

use kube::{Resource, core::NamespaceResourceScope};
use serde::de::DeserializeOwned;

pub use self::{builder::CacheBuilder, cache::Cache, caches::Caches};
#[doc(hidden)]
pub use kube;

/// A type that a [`Cache`] can hold: one of `k8s-openapi`, one that `kube::CustomResource` derives, a
/// [projection](crate::projection), or `kube::core::PartialObjectMeta` of one of the first two, for which only the metadata are
/// requested from the server.
pub trait CachedResource:
    Resource<DynamicType = (), Scope: 'static> + Clone + Debug + DeserializeOwned + Send + Sync + 'static
{
    /// Returns whether the resource is namespaced.
    fn is_namespaced() -> bool {
        TypeId::of::<Self::Scope>() == TypeId::of::<NamespaceResourceScope>()
    }
}

impl<K> CachedResource for K where
    K: Resource<DynamicType = (), Scope: 'static> + Clone + Debug + DeserializeOwned + Send + Sync + 'static
{
}
