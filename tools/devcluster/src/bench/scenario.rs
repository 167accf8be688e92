//! Scenarios of the bench.

mod fill;
mod flip;
mod latency;

use super::{args::Scenario, environment::Environment, outcome::Outcome};

pub(crate) async fn run(environment: &mut Environment, scenario: Scenario) -> anyhow::Result<Vec<Outcome>> {
    match scenario {
        Scenario::Start => fill::start(environment).await,
        Scenario::Resume => fill::resume(environment).await,
        Scenario::Churn => flip::churn(environment).await,
        Scenario::Latency => latency::run(environment).await,
        Scenario::Namespace => fill::namespace(environment).await,
        Scenario::Big => fill::big(environment).await,
    }
}
