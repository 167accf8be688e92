// Public API, listed by docs/tests/it/api.rs.

// crate

pub struct Clock {
    pub now: Box<dyn Fn() -> Timestamp>,
    pub since_boot: Box<dyn Fn() -> Duration>,
}
impl fmt::Debug for Clock {}
pub struct Simulated {}
impl Drop for Simulated {}
impl fmt::Debug for Simulated {}
pub fn now() -> Timestamp {}
pub fn random<T>() -> T
where
    StandardUniform: Distribution<T>,
{}
pub fn random_range<T: SampleUniform>(range: impl SampleRange<T>) -> T {}
#[must_use = "the simulation ends when the guard is dropped"]
pub fn simulate(seed: u64, clock: Clock) -> Simulated {}
pub fn since_boot() -> Option<Duration> {}
