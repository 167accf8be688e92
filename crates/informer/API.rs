// Public API, listed by docs/tests/it/api.rs.

// crate

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackoffPolicy {
    pub initial: Duration,
    pub max: Duration,
    pub reset_after: Duration,
}
impl Default for BackoffPolicy {}
#[must_use]
pub struct Builder<T, X = ()> {}
impl<T: Decode, X: Index<T>> Builder<T, X> {
    pub fn index<Y: Index<T>>(self, index: Y) -> Builder<T, Y> {}
    pub fn transform(
        mut self,
        transform: impl Fn(&mut T) + Send + Sync + 'static,
    ) -> Self {}
    pub fn resync(mut self, every: Duration) -> Self {}
    pub fn metrics(mut self, provider: impl InformerMetricsProvider + 'static) -> Self {}
    pub fn resource(mut self, resource: Resource) -> Self {}
    pub fn namespace(mut self, namespace: &str) -> Self {}
    pub fn label_selector(mut self, selector: &str) -> Self {}
    pub fn field_selector(mut self, selector: &str) -> Self {}
    pub fn backoff(mut self, policy: BackoffPolicy) -> Self {}
    pub fn restores(mut self, signal: RestoreSignal) -> Self {}
    pub fn guard(mut self, guard: Guard) -> Self {}
    pub fn on_undecodable(
        mut self,
        choose: impl Fn(&Undecodable) -> OnUndecodable + Send + Sync + 'static,
    ) -> Self {}
    pub fn build(self) -> Informer<T, X> {}
    pub fn build_manual(self) -> (Informer<T, X>, ManualSource<T, X>) {}
}
impl<T, X> fmt::Debug for Builder<T, X> {}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheState {
    NotStarted,
    Syncing { since: Duration },
    Synced { idle: Duration },
    Held { since: Duration, idle: Duration },
}
pub enum Event<T> {
    Added { object: Arc<T>, initial: bool, relisted: bool },
    Updated { old: Arc<T>, new: Arc<T>, relisted: bool },
    Deleted { object: Arc<T>, tombstone: bool },
}
impl<T> Event<T> {
    pub fn object(&self) -> &Arc<T> {}
    pub fn is_change(&self) -> bool {}
    pub fn is_from_list(&self) -> bool {}
    pub fn states(&self) -> States<'_, T> {}
}
impl<T> Clone for Event<T> {}
impl<T: kube_wire::Object> fmt::Debug for Event<T> {}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    pub free: usize,
}
impl Default for Guard {}
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum GuardOutcome {
    Held,
    Confirmed,
    Withdrawn,
}
impl GuardOutcome {
    pub const ALL: [Self; 3] = [Self::Held, Self::Confirmed, Self::Withdrawn];
    pub fn as_str(self) -> &'static str {}
    pub fn is_held(self) -> bool {}
}
#[derive(Clone)]
pub struct HandlerHandle {}
impl HandlerHandle {
    #[must_use]
    pub fn named(self, owner: &str) -> Self {}
    pub fn name(&self) -> &str {}
    pub fn has_synced(&self) -> bool {}
    pub async fn synced(&self) -> bool {}
}
impl fmt::Debug for HandlerHandle {}
pub trait HandlerMetrics: Send + Sync {
    fn queued(&self, events: usize);
    fn delivered(&self, events: usize);
    fn lag(&self, waited: Duration);
}
#[derive(Debug, Clone, Default)]
pub struct HandlerOptions {}
impl HandlerOptions {
    pub fn named(name: &str) -> Self {}
    #[must_use]
    pub fn resync(mut self, every: Duration) -> Self {}
    #[must_use]
    pub fn foreign_writes(mut self) -> Self {}
}
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldList {
    pub missing: usize,
    pub example: ObjectKey,
    pub found: bool,
}
pub use kube_wire::Index;
pub struct Informer<T, X = ()> {}
impl<T: Decode, X: Index<T>> Informer<T, X> {
    pub fn catch_up(
        &self,
        watch_limit: Duration,
    ) -> impl Future<Output = ()> + Send + use<T, X> {}
}
impl<T: Decode> Informer<T> {
    pub fn builder(source: impl ListWatch) -> Builder<T> {}
}
impl<T: Object, X: Index<T>> Informer<T, X> {
    pub fn resource(&self) -> Resource {}
    pub fn lister(&self) -> Lister<T, X> {}
    pub fn add_handler(
        &self,
        handle: impl FnMut(Event<T>) + Send + 'static,
    ) -> HandlerHandle {}
    pub fn add_handler_with(
        &self,
        options: HandlerOptions,
        handle: impl FnMut(Event<T>) + Send + 'static,
    ) -> HandlerHandle {}
    pub fn remove_handler(&self, handle: &HandlerHandle) -> bool {}
    pub fn handlers(&self) -> Vec<HandlerHandle> {}
    pub fn store_synced(&self) -> HandlerHandle {}
    pub fn write_through(&self, writer: &HandlerHandle) -> WriteThrough<T> {}
    pub fn progress(&self) -> Progress {}
    pub fn held_list(&self) -> watch::Receiver<Option<HeldList>> {}
    pub fn run(
        &self,
        stop: CancellationToken,
    ) -> impl Future<Output = ()> + Send + use<T, X> {}
    pub fn try_run(
        &self,
        stop: CancellationToken,
    ) -> impl Future<Output = Result<(), UndecodableObject>> + Send + use<T, X> {}
}
impl<T: Decode, X: Index<T>> Informer<T, X> {
    pub fn check_references(
        &self,
        references: impl IntoIterator<Item = (ObjectKey, Uid)>,
    ) -> impl Future<Output = ()> + Send {}
}
impl<T, X> Clone for Informer<T, X> {}
impl<T: Object, X: Index<T>> fmt::Debug for Informer<T, X> {}
pub trait InformerMetrics: Send + Sync {
    fn listed(&self, items: usize, took: Duration);
    fn list_failed(&self);
    fn watch_opened(&self);
    fn relist(&self, cause: RelistCause);
    fn undecodable(&self);
    fn undecodable_objects(&self, objects: usize);
    fn processed(&self, took: Duration);
    fn stored(&self, version: &ResourceVersion, objects: usize);
    fn guarded(&self, _outcome: GuardOutcome) {}
    fn register_progress(&self, _progress: &Progress) {}
    fn handler(&self, name: &str) -> Arc<dyn HandlerMetrics>;
}
pub trait InformerMetricsProvider: Send + Sync {
    fn informer(&self, resource: &Resource) -> Arc<dyn InformerMetrics>;
}
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelSelector {}
impl LabelSelector {
    pub fn everything() -> Self {}
    pub fn nothing() -> Self {}
    #[must_use]
    pub fn equal(self, label: &str, value: &str) -> Self {}
    #[must_use]
    pub fn not_equal(self, label: &str, value: &str) -> Self {}
    #[must_use]
    pub fn one_of<'a>(
        self,
        label: &str,
        values: impl IntoIterator<Item = &'a str>,
    ) -> Self {}
    #[must_use]
    pub fn none_of<'a>(
        self,
        label: &str,
        values: impl IntoIterator<Item = &'a str>,
    ) -> Self {}
    #[must_use]
    pub fn present(self, label: &str) -> Self {}
    #[must_use]
    pub fn absent(self, label: &str) -> Self {}
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {}
}
impl fmt::Display for LabelSelector {}
pub trait ListWatch: Send + Sync + 'static {
    fn list(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        params: &ListParams,
    ) -> impl Future<Output = Result<ListWatchResponse, ListWatchError>> + Send;
    fn watch(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        params: &WatchParams,
    ) -> impl Future<Output = Result<ListWatchResponse, ListWatchError>> + Send;
    fn get(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
    ) -> impl Future<Output = Result<ListWatchResponse, ListWatchError>> + Send;
    fn wait_to_retry(
        &self,
        requested: Option<Duration>,
    ) -> impl Future<Output = ()> + Send {}
    fn encoding(&self) -> Encoding {}
    fn decode_context(&self) -> Option<Arc<dyn DecodeContext>> {}
}
#[derive(Debug)]
pub struct ListWatchError {}
impl ListWatchError {
    pub fn status(status: Status, error: impl Into<BoxError>) -> Self {}
    pub fn unreachable(error: impl Into<BoxError>) -> Self {}
    pub fn other(error: impl Into<BoxError>) -> Self {}
}
impl From<Error> for ListWatchError {}
impl fmt::Display for ListWatchError {}
impl Error for ListWatchError {}
pub struct ListWatchResponse {}
impl ListWatchResponse {
    pub fn new(
        encoding: Encoding,
        chunks: impl Stream<Item = Result<Bytes, ListWatchError>> + Send + 'static,
    ) -> Self {}
    pub fn complete(encoding: Encoding, body: impl Into<Bytes>) -> Self {}
}
impl fmt::Debug for ListWatchResponse {}
impl From<Body> for ListWatchResponse {}
pub struct Lister<T, X = ()> {}
impl<T: Object, X> Lister<T, X> {
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<T>> {}
    pub fn list(&self) -> Vec<Arc<T>> {}
    pub fn list_namespace(&self, namespace: &str) -> Vec<Arc<T>> {}
    pub fn select(
        &self,
        namespace: Option<&str>,
        selector: &LabelSelector,
        label: impl for<'a> Fn(&'a T, &str) -> Option<&'a str>,
    ) -> Vec<Arc<T>> {}
    pub fn read<R>(&self, f: impl FnOnce(&Objects<T>, &X) -> R) -> R {}
    pub fn len(&self) -> usize {}
    pub fn is_empty(&self) -> bool {}
    pub fn last_resource_version(&self) -> ResourceVersion {}
    pub fn is_withheld(&self, namespace: &str, name: &str) -> bool {}
    pub fn withholds_any(&self) -> bool {}
}
impl<T: Object> Lister<T, NamedIndexes<T>> {
    pub fn by_index(&self, index: &str, name: &str) -> Vec<Arc<T>> {}
}
impl<T, X> Clone for Lister<T, X> {}
impl<T: Object, X> fmt::Debug for Lister<T, X> {}
pub struct ManualSource<T, X = ()> {}
impl<T: Object> ManualSource<T> {
    pub fn new() -> (Informer<T>, Self) {}
}
impl<T: Object, X: Index<T>> ManualSource<T, X> {
    pub fn with_index(index: X) -> (Informer<T, X>, Self) {}
    pub fn replace(
        &self,
        objects: impl IntoIterator<Item = T>,
        resource_version: impl Into<ResourceVersion>,
    ) {}
    pub fn apply(&self, object: T) {}
    pub fn delete(&self, last: T) {}
    pub fn bookmark(&self, resource_version: impl Into<ResourceVersion>) -> bool {}
    pub fn deliver(&self) -> usize {}
}
pub struct NamedIndexes<T>(BTreeMap<Arc<str>, NamedIndex<T>>);
impl<T: Object> NamedIndexes<T> {
    pub fn new() -> Self {}
    #[must_use]
    pub fn with(
        mut self,
        index: impl Into<Arc<str>>,
        names: impl Fn(&T) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {}
    pub fn bucket(&self, index: &str, name: &str) -> impl Iterator<Item = &Arc<T>> {}
    pub fn names(&self, index: &str) -> impl Iterator<Item = &str> {}
}
impl<T: Object> Index<T> for NamedIndexes<T> {}
impl<T: Object> Default for NamedIndexes<T> {}
impl<T> Clone for NamedIndexes<T> {}
impl<T> fmt::Debug for NamedIndexes<T> {}
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct NeverSynced {
    pub name: String,
}
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct NotSynced {
    pub missing: Vec<String>,
    pub within: Duration,
}
#[derive(Debug)]
pub struct Objects<T> {}
impl<T: Object> Objects<T> {
    pub fn get(&self, namespace: &str, name: &str) -> Option<&Arc<T>> {}
    pub fn iter(&self) -> impl Iterator<Item = &Arc<T>> {}
    pub fn namespace(&self, namespace: &str) -> impl Iterator<Item = &Arc<T>> {}
    pub fn len(&self) -> usize {}
    pub fn is_empty(&self) -> bool {}
}
impl<T> Clone for Objects<T> {}
impl<T> Default for Objects<T> {}
impl<T: Object> FromIterator<Arc<T>> for Objects<T> {}
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnUndecodable {
    Keep,
    Skip,
    Fail,
}
#[must_use = "report the response with `written`, `deleted`, `conflict` or `failed`; dropping it reports a lost response"]
pub struct OwnWrite<T> {}
impl<T: Object> OwnWrite<T> {
    pub fn written(mut self, object: T) {}
    pub fn deleted(mut self, object: &T) {}
    pub fn conflict(mut self, object: &T) {}
    pub fn failed(mut self, error: &impl WriteError) {}
}
impl<T> Drop for OwnWrite<T> {}
impl<T> fmt::Debug for OwnWrite<T> {}
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<Mutex<State>>);
impl Progress {
    pub fn at(&self, now: Instant) -> CacheState {}
}
#[derive(Debug, Clone)]
pub struct PrometheusMetrics {}
impl PrometheusMetrics {
    pub fn register(registry: &Registry, name: &str) -> prometheus::Result<Self> {}
    #[must_use]
    pub fn named(&self, name: &str) -> Self {}
    #[must_use]
    pub fn with_correct_plurals(self) -> Self {}
}
impl InformerMetricsProvider for PrometheusMetrics {}
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RelistCause {
    Expired,
    Ahead,
    Short,
    Requested,
    LostWrite,
    Failed,
    Confirm,
}
impl RelistCause {
    pub const ALL: [Self; 7] = [
        Self::Expired,
        Self::Ahead,
        Self::Short,
        Self::Requested,
        Self::LostWrite,
        Self::Failed,
        Self::Confirm,
    ];
    pub fn as_str(self) -> &'static str {}
}
#[derive(Clone, Debug, Default)]
pub struct RestoreSignal {}
impl RestoreSignal {
    pub fn behind_since(&self) -> Option<Instant> {}
    pub fn settled(&self) -> impl Future<Output = ()> + Send + use<> {}
}
pub type States<'a, T> = (Option<&'a Arc<T>>, Option<&'a Arc<T>>);
pub use kube_wire::Undecodable;
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct UndecodableObject {
    pub resource: Resource,
    pub object: Option<ObjectKey>,
    pub source: DecodeError,
}
pub const WITHHELD_INTERVAL: Duration = Duration::from_secs(2);
pub trait WriteError {
    fn may_have_been_applied(&self) -> bool;
}
pub struct WriteThrough<T> {}
impl<T: Object> WriteThrough<T> {
    pub fn begin(&self, namespace: &str, name: &str) -> OwnWrite<T> {}
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<T>> {}
}
impl<T> Clone for WriteThrough<T> {}
impl<T> fmt::Debug for WriteThrough<T> {}
pub use bytes;
pub async fn synced_before(
    stop: &CancellationToken,
    handlers: &[HandlerHandle],
) -> Result<bool, NeverSynced> {}
pub async fn wait_for_sync<'a>(
    handlers: impl IntoIterator<Item = &'a HandlerHandle>,
    within: Duration,
) -> Result<(), NotSynced> {}
