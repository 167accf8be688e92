//! Scenarios of the bench.

mod fill;
mod flip;
mod growth;
mod latency;
mod limits;
mod million;
mod rolling;
mod serving;
mod storm;
mod switch;

use super::{args::Scenario, environment::Environment, outcome::Outcome};

/// Runs a scenario; returns its measurements.
pub(crate) async fn run(environment: &mut Environment, scenario: Scenario) -> anyhow::Result<Vec<Outcome>> {
    match scenario {
        Scenario::Start => fill::start(environment).await,
        Scenario::Resume => fill::resume(environment).await,
        Scenario::Churn => fill::churn(environment).await,
        Scenario::Latency => latency::run(environment).await,
        Scenario::Limits => limits::run(environment).await,
        Scenario::Namespace => fill::namespace(environment).await,
        Scenario::Big => fill::big(environment).await,
        Scenario::Rollout => rolling::run(environment).await,
        Scenario::Storm => storm::run(environment).await,
        Scenario::Rollouts => rolling::without_batch_period(environment).await,
        Scenario::Recreation => rolling::recreation(environment).await,
        Scenario::Growth => growth::run(environment).await,
        Scenario::Million => million::run(environment).await,
        Scenario::Shadow => switch::shadow(environment).await,
        Scenario::Switch => switch::switch(environment).await,
        Scenario::Serving => serving::run(environment).await,
    }
}
