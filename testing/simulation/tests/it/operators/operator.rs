//! The operator under simulation: three Controllers of `kube` over the same caches.
//!
//! A site, a `ConfigMap` with the label `role=site`, owns Secrets, its pages. Their text names the theme, a `ServiceAccount`, which
//! in turn has the number of sites. All fields are annotations or data, and the names of sites are fixed: each has a
//! Controller of its own, because a Controller starts the reconciliations of several objects in an order that no seed determines.

use std::convert::Infallible;
use std::future::{pending, ready};
use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt as _, StreamExt as _, future};
use k8s_openapi::api::core::v1::{ConfigMap, Secret, ServiceAccount};
use kube::api::{DeleteParams, ObjectMeta, PostParams};
use kube::runtime::controller::Action;
use kube::runtime::reflector::ObjectRef;
use kube::runtime::{Controller, finalizer};
use kube::{Api, Client, Error, Resource as _, ResourceExt as _};
use kube_informer::runtime::{Cache, Caches};
use kube_simulation::Environment;
use prometheus::{IntGaugeVec, Opts};
use tokio::select;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::acknowledged::{Acknowledged, checked, is_synced};
use super::subscribers::{self, Checks};

pub(super) const SITES: [&str; 2] = ["blog", "shop"];
pub(super) const THEME: &str = "dark";
const FINALIZER: &str = "example.com/pages";

/// Time after which Controllers whose caches have ended must have ended as well: some delayed requests.
const SHUTDOWN: Duration = Duration::from_secs(300);

/// Time after which a failed reconciliation is repeated.
const RETRY: Duration = Duration::from_secs(3);

/// What one process of a run does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life {
    /// Time after which the Controller of the theme subscribes.
    pub(super) late: Duration,
    /// Time after which the process shuts down, and how.
    pub(super) shutdown: Option<(Duration, Shutdown)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shutdown {
    /// The future of the caches is dropped, which ends the streams.
    Caches,
    /// The Controllers are shut down gracefully, then the caches.
    Controllers,
}

struct Context {
    client: Client,
    acknowledged: Arc<Acknowledged>,
    sites: Cache<ConfigMap>,
    pages: Cache<Secret>,
    themes: Cache<ServiceAccount>,
}

/// The main function of a process. Its checks are those that the stores and subscribers must pass at the end.
pub(super) async fn run(environment: Environment, life: Life, checks: &Checks) -> Result<(), Infallible> {
    let caches = Caches::new(Client::new(environment.transport, "default"));
    let sites = caches.builder::<ConfigMap>().labels("role=site").build();
    let owner = |page: &Secret| page.owner_references().iter().map(|owner| owner.uid.clone()).collect();
    let pages = caches.builder::<Secret>().index("owner", owner).build();
    let (maps, themes) = (caches.of::<ConfigMap>(), caches.of::<ServiceAccount>());
    let acknowledged = Arc::new(Acknowledged::new(&sites, &maps, &pages, &themes));
    let client = checked(caches.client(), acknowledged.clone());

    checks.begin();
    let subscribers = future::join_all([
        subscribers::follow(checks, &sites, "configmaps", |it| it["metadata"]["labels"]["role"] == "site"),
        subscribers::follow(checks, &maps, "configmaps", |_| true),
        subscribers::follow(checks, &pages, "secrets", |_| true),
        subscribers::follow(checks, &themes, "serviceaccounts", |_| true),
    ]);
    let gauge = IntGaugeVec::new(Opts::new("operator_pending_keys", "Checks at the end."), &["controller"]);
    let gauge = gauge.expect("a valid name");
    gauge.with_label_values(&["stores"]).set(1);
    environment.metrics.register(Box::new(gauge)).expect("no other metric");

    let context = Arc::new(Context { client, acknowledged, sites, pages, themes });
    let graceful = CancellationToken::new();
    let mut caches = caches.run().boxed();
    let mut controllers: Vec<_> =
        SITES.map(|site| control_site(context.clone(), site, graceful.clone()).boxed()).into();
    controllers.push(control_theme(context.clone(), life.late, graceful.clone()).boxed());
    let mut controllers = future::join(future::join_all(controllers), subscribers).boxed();
    let shutdown = async {
        match life.shutdown {
            Some((after, how)) => sleep(after).map(|()| how).await,
            None => pending().await,
        }
    };
    let how = select! {
        biased;
        () = &mut caches => panic!("the caches have ended"),
        _ = &mut controllers => panic!("a Controller has ended"),
        how = shutdown => how,
    };
    if how == Shutdown::Controllers {
        graceful.cancel();
        // The subscribers do not end before the caches.
        let limit = sleep(Duration::from_secs(5));
        select! {
            biased;
            () = &mut caches => panic!("the caches have ended"),
            _ = &mut controllers => panic!("a stream has ended"),
            () = limit => {}
        }
    }
    drop(caches);
    timeout(SHUTDOWN, controllers).await.expect("the Controllers and streams end with the caches");
    Ok(())
}

async fn control_site(context: Arc<Context>, site: &'static str, graceful: CancellationToken) {
    let Context { sites, pages, themes, .. } = &*context;
    let named = move |it: &Arc<ConfigMap>| ready(it.name_any() == site);
    let of_site = move |it: &Arc<Secret>| ready(it.name_any().starts_with(site));
    let controller = Controller::for_shared_stream(sites.applied_objects().filter(named), sites.store())
        .owns_shared_stream(pages.touched_objects().filter(of_site))
        .watches_shared_stream(themes.touched_objects(), move |_| Some(ObjectRef::new(site).within("default")))
        .graceful_shutdown_on(graceful.cancelled_owned());
    // The other stores may have no list yet: what the site lacks then is created in vain.
    let retry = |_, _: &finalizer::Error<Error>, _| Action::requeue(RETRY);
    controller.run(reconcile_site, retry, context.clone()).for_each(|_| ready(())).await;
}

async fn control_theme(context: Arc<Context>, late: Duration, graceful: CancellationToken) {
    sleep(late).await;
    let Context { sites, themes, .. } = &*context;
    let only = |it: &Arc<ServiceAccount>| ready(it.name_any() == THEME);
    let retry = |_, _: &Error, _| Action::requeue(RETRY);
    let controller = Controller::for_shared_stream(themes.applied_objects().filter(only), themes.store())
        .watches_shared_stream(sites.touched_objects(), |_| Some(ObjectRef::new(THEME).within("default")))
        .graceful_shutdown_on(graceful.cancelled_owned());
    controller.run(reconcile_theme, retry, context.clone()).for_each(|_| ready(())).await;
}

async fn reconcile_site(site: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, finalizer::Error<Error>> {
    context.acknowledged.check();
    let api = Api::<ConfigMap>::namespaced(context.client.clone(), "default");
    let reconcile = |event| async {
        match event {
            finalizer::Event::Apply(site) => context.show(&site).await,
            finalizer::Event::Cleanup(site) => context.clean_up(&site).await,
        }
        .map(|()| Action::await_change())
    };
    finalizer(&api, FINALIZER, site, reconcile).await
}

async fn reconcile_theme(theme: Arc<ServiceAccount>, context: Arc<Context>) -> Result<Action, Error> {
    context.acknowledged.check();
    let sites = context.sites.store().len().to_string();
    if theme.annotations().get("sites") != Some(&sites) {
        let api = Api::<ServiceAccount>::namespaced(context.client.clone(), "default");
        let mut next = (*theme).clone();
        next.annotations_mut().insert("sites".to_owned(), sites);
        api.replace(THEME, &PostParams::default(), &next).await?;
    }
    Ok(Action::await_change())
}

impl Context {
    /// Makes the pages of a site those that its data and the theme demand.
    async fn show(&self, site: &ConfigMap) -> Result<(), Error> {
        let value = |key: &str| site.data.as_ref().and_then(|data| data.get(key)).map_or("", String::as_str);
        let theme = self.themes.store().get(&ObjectRef::new(THEME).within("default"));
        let color = theme.and_then(|theme| theme.annotations().get("color").cloned()).unwrap_or_default();
        let text = format!("{} {color}", value("title"));
        let count = value("pages").parse().unwrap_or(0);
        self.remove_pages(site, count).await?;
        let api = Api::<Secret>::namespaced(self.client.clone(), "default");
        for index in 0..count {
            let name = format!("{}-{index}", site.name_any());
            let uid = site.uid().unwrap_or_default();
            let page = self.pages.by_index("owner", &uid).into_iter().find(|page| page.name_any() == name);
            match page {
                None => {
                    let metadata = ObjectMeta {
                        name: Some(name),
                        annotations: Some([("text".to_owned(), text.clone())].into()),
                        owner_references: site.controller_owner_ref(&()).map(|owner| vec![owner]),
                        ..ObjectMeta::default()
                    };
                    api.create(&PostParams::default(), &Secret { metadata, ..Secret::default() }).await?;
                }
                Some(page) if page.annotations().get("text") != Some(&text) => {
                    let mut next = (*page).clone();
                    next.annotations_mut().insert("text".to_owned(), text.clone());
                    api.replace(&name, &PostParams::default(), &next).await?;
                }
                Some(_) => {}
            }
        }
        // The version to replace is that of the store, which may have changed during the writes.
        let reference = ObjectRef::from_obj(site);
        let newest = self.sites.store().get(&reference).filter(|newest| newest.uid() == site.uid());
        if let Some(newest) = newest
            && newest.data.as_ref().and_then(|data| data.get("shown")) != Some(&text)
        {
            let mut next = (*newest).clone();
            next.data.get_or_insert_default().insert("shown".to_owned(), text);
            let api = Api::<ConfigMap>::namespaced(self.client.clone(), "default");
            api.replace(&site.name_any(), &PostParams::default(), &next).await?;
        }
        Ok(())
    }

    /// Deletes all pages of a site, which a list must have shown.
    async fn clean_up(&self, site: &ConfigMap) -> Result<(), Error> {
        if !is_synced(&self.pages) {
            return Err(Error::Service("the pages are not listed yet".into()));
        }
        self.remove_pages(site, 0).await
    }

    /// Deletes the pages of a site except for the first `keep`.
    async fn remove_pages(&self, site: &ConfigMap, keep: usize) -> Result<(), Error> {
        let api = Api::<Secret>::namespaced(self.client.clone(), "default");
        for page in self.pages.by_index("owner", &site.uid().unwrap_or_default()) {
            let name = page.name_any();
            let index = name.rsplit_once('-').and_then(|(_, index)| index.parse().ok()).unwrap_or(0);
            if index >= keep {
                api.delete(&name, &DeleteParams::default()).await?;
            }
        }
        Ok(())
    }
}
