// Public API, listed by docs/tests/it/api.rs.

// crate

#[derive(Debug, Clone)]
pub struct BucketLimiter {}
impl BucketLimiter {
    pub fn new(rate: f64, burst: u32) -> Self {}
}
impl<K> RateLimiter<K> for BucketLimiter {}
#[must_use = "a builder does nothing until it is built"]
pub struct Builder<K> {}
impl<K: Clone + Eq + Hash + Send + 'static> Builder<K> {
    pub fn name(mut self, name: impl Into<String>) -> Self {}
    pub fn limiter(mut self, limiter: impl RateLimiter<K> + 'static) -> Self {}
    pub fn metrics(mut self, provider: impl MetricsProvider + 'static) -> Self {}
    pub fn build(self) -> (Queue<K>, Timer<K>) {}
}
impl<K> fmt::Debug for Builder<K> {}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delayed {
    Drop,
    Queue,
}
#[derive(Debug)]
#[must_use = "the shutdown has begun, but nothing waits for its end"]
pub struct Drain<'a, K>(Wait<'a, K>);
impl<K> Future for Drain<'_, K> {}
pub const FOREVER: Duration = Duration::from_nanos(i64::MAX as u64);
#[derive(Debug)]
#[must_use = "a key is handed out when this is awaited"]
pub struct Get<'a, K> {}
impl<'a, K: Clone + Eq> Future for Get<'a, K> {}
impl<K> Drop for Get<'_, K> {}
#[derive(Debug)]
#[must_use = "nothing waits until this is awaited"]
pub struct Idle<'a, K>(Wait<'a, K>);
impl<K> Future for Idle<'_, K> {}
#[must_use = "dropping it ends the processing of its key"]
pub struct Item<'a, K> {}
impl<'a, K> Item<'a, K> {
    pub fn key(&self) -> &K {}
    pub fn into_owned(self) -> Item<'static, K> {}
    pub fn done(self) {}
}
impl<K: Clone + Eq + Hash + Send + 'static> Item<'_, K> {
    pub fn retry(self) {}
    pub fn forget(&self) {}
}
impl<K> Deref for Item<'_, K> {}
impl<K: fmt::Debug> fmt::Debug for Item<'_, K> {}
#[derive(Debug, Clone)]
pub struct ItemExponential<K> {}
impl<K> ItemExponential<K> {
    pub fn new(base: Duration, cap: Duration) -> Self {}
}
impl<K: Clone + Eq + Hash + Send> RateLimiter<K> for ItemExponential<K> {}
#[derive(Clone)]
pub struct Jittered<L, R> {}
impl<L, R: FnMut() -> f64> Jittered<L, R> {
    pub fn new(limiter: L, max_factor: f64, random: R) -> Self {}
}
impl<K, L: RateLimiter<K>, R: FnMut() -> f64 + Send> RateLimiter<K> for Jittered<L, R> {}
impl<L: fmt::Debug, R> fmt::Debug for Jittered<L, R> {}
#[derive(Default)]
pub struct MaxOf<K> {}
impl<K> MaxOf<K> {
    pub fn new() -> Self {}
    #[must_use]
    pub fn and(mut self, limiter: impl RateLimiter<K> + 'static) -> Self {}
}
impl<K> RateLimiter<K> for MaxOf<K> {}
impl<K> fmt::Debug for MaxOf<K> {}
pub trait MetricsProvider: Send + Sync {
    fn queue(&self, name: &str) -> Arc<dyn QueueMetrics>;
}
#[derive(Debug, Clone)]
pub struct PrometheusMetrics {}
impl PrometheusMetrics {
    pub fn register(registry: &Registry) -> prometheus::Result<Self> {}
}
impl MetricsProvider for PrometheusMetrics {}
pub struct Queue<K> {}
impl<K: Clone + Eq + Hash + Send + 'static> Queue<K> {
    pub fn builder() -> Builder<K> {}
    pub fn add(&self, key: K) {}
    pub fn add_ref<Q: Hash + Eq + ?Sized>(&self, key: &Q)
    where
        K: Borrow<Q> + for<'q> From<&'q Q>,
    {}
    pub fn add_after(&self, key: K, delay: Duration) {}
    pub fn add_after_about(&self, key: K, delay: Duration) {}
    pub fn add_debounced(&self, key: K, quiet: Duration, longest: Duration) {}
    pub fn cancel_delay<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {}
    pub fn add_rate_limited(&self, key: K) -> Duration {}
    pub fn forget(&self, key: &K) {}
    pub fn num_requeues(&self, key: &K) -> u32 {}
    pub fn get(&self) -> Get<'_, K> {}
}
impl<K> Queue<K> {
    pub fn len(&self) -> usize {}
    pub fn is_empty(&self) -> bool {}
    pub fn delayed(&self) -> usize {}
    pub fn is_shutting_down(&self) -> bool {}
    pub fn idle(&self) -> Idle<'_, K> {}
    pub fn settled(&self) -> Settled<'_, K> {}
    pub fn shut_down(&self) {}
    pub fn shut_down_with_drain(&self) -> Drain<'_, K> {}
    pub fn drain(&self, delayed: Delayed) -> Drain<'_, K> {}
}
impl<K> Clone for Queue<K> {}
impl<K> fmt::Debug for Queue<K> {}
pub trait QueueMetrics: Send + Sync {
    fn added(&self);
    fn taken(&self, waited: Duration);
    fn finished(&self, worked: Duration);
    fn retried(&self);
    fn unfinished(&self, total: Duration, longest: Duration);
}
pub trait RateLimiter<K>: Send {
    fn when(&mut self, key: &K, now: Instant) -> Duration;
    fn forget(&mut self, key: &K);
    fn requeues(&self, key: &K) -> u32;
}
#[derive(Debug)]
#[must_use = "nothing waits until this is awaited"]
pub struct Settled<'a, K>(Wait<'a, K>);
impl<K> Future for Settled<'_, K> {}
#[must_use = "it does nothing until it runs"]
pub struct Timer<K> {}
impl<K: Clone + Eq> Timer<K> {
    pub async fn run(self) {}
}
impl<K> fmt::Debug for Timer<K> {}
#[derive(Debug, Clone)]
pub struct TokenBucket {}
impl TokenBucket {
    pub fn new(rate: f64, burst: u32) -> Self {}
    pub fn reserve(&mut self, now: Instant) -> Duration {}
}
pub fn default_controller_limiter<K: Clone + Eq + Hash + Send + 'static>() -> MaxOf<K> {}
pub fn endpoint_slice_limiter<K: Clone + Eq + Hash + Send + 'static>() -> MaxOf<K> {}
