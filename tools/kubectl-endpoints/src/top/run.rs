//! Loop of the view: keys, events, metrics and redraws.

use std::ops::ControlFlow;
use std::time::Duration;

use anyhow::Context as _;
use crossterm::event::Event as Input;
use kube_controller_client::Client;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::TopOptions;
use super::app::App;
use super::keys;
use super::metrics::Metrics;
use super::model::Model;
use super::scrape::Scraper;
use super::terminal::{Screen, read_inputs};
use super::view::{self, Header};
use super::watches::{Clock, Watches, check_access};

/// Minimum time between redraws that no key caused.
const REDRAW: Duration = Duration::from_millis(250);

/// Time after which the screen is redrawn without an event, since rates and waiting times change.
const REFRESH: Duration = Duration::from_secs(1);

/// Maximum number of events between two redraws or keys.
const BATCH: usize = 1_000;

/// Shows the view until the user quits or the process is terminated by a signal.
///
/// # Errors
///
/// If the objects cannot be listed, the URL of the metrics is invalid, or standard input and output are no terminal.
pub(crate) async fn run(client: Client, options: TopOptions) -> anyhow::Result<()> {
    let scraper = options.metrics_url.as_deref().map(|url| Scraper::new(url, &client)).transpose()?;
    check_access(&client, &options).await?;

    let clock = Clock::start();
    let stop = CancellationToken::new();
    let mut tasks = JoinSet::new();
    let (sender, mut events) = mpsc::unbounded_channel();
    let watches = Watches::new(&client, &options, clock, &sender);
    watches.spawn(&mut tasks, &stop);
    // Without a scraper, the sender stays here and the channel stays open.
    let (reading_sender, mut readings) = mpsc::unbounded_channel();
    let mut metrics = scraper.is_some().then(Metrics::default);
    if let Some(scraper) = scraper {
        tasks.spawn(scraper.run(reading_sender.clone()));
    }

    let mut view = View::open(&options)?;
    let mut inputs = read_inputs();
    let mut ticks = interval(REDRAW);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut batch = Vec::new();
    let mut changed = true;
    let mut signal = std::pin::pin!(terminated());
    loop {
        tokio::select! {
            biased;
            result = &mut signal => return result,
            Some(ended) = tasks.join_next() => {
                ended.context("a task of the view failed")?;
                anyhow::bail!("a watch ended");
            }
            input = inputs.recv() => {
                let input = input.context("the terminal was closed")?.context("cannot read from the terminal")?;
                if view.apply(&input, clock.elapsed()).is_break() {
                    return Ok(());
                }
                view.draw(clock.elapsed())?;
            }
            // Before the events, which may be ready without a pause.
            _ = ticks.tick() => {
                if changed || view.drawn.elapsed() >= REFRESH {
                    changed = false;
                    view.header.caches = watches.state(Instant::now());
                    view.header.metrics = metrics.as_ref().map(Metrics::line);
                    view.draw(clock.elapsed())?;
                }
            }
            Some(reading) = readings.recv() => {
                if let Some(metrics) = &mut metrics {
                    metrics.update(reading);
                }
                changed = true;
            }
            _ = events.recv_many(&mut batch, BATCH) => {
                batch.drain(..).for_each(|(at, event)| event.apply(&mut view.model, at));
                changed = true;
            }
        }
    }
}

/// State and terminal of the view.
#[derive(Debug)]
struct View {
    model: Model,
    app: App,
    header: Header,
    screen: Screen,
    drawn: Instant,
}

impl View {
    fn open(options: &TopOptions) -> anyhow::Result<Self> {
        let header = Header { scope: scope(options), ..Header::default() };
        let (model, app) = Default::default();
        Ok(Self { model, app, header, screen: Screen::open()?, drawn: Instant::now() })
    }

    /// Applies a key. Breaks if it ends the program.
    fn apply(&mut self, input: &Input, now: Duration) -> ControlFlow<()> {
        let Input::Key(key) = input else { return ControlFlow::Continue(()) };
        let Some(action) = keys::action(*key, self.app.is_typing()) else { return ControlFlow::Continue(()) };
        let rows = self.app.arrange(self.model.rows(now));
        self.app.apply(action, &rows)
    }

    fn draw(&mut self, now: Duration) -> anyhow::Result<()> {
        let Self { model, app, header, screen, drawn } = self;
        *drawn = Instant::now();
        let drawn = screen.terminal.draw(|frame| view::draw(frame, app, model, header, now));
        drawn.map(drop).context("cannot write to the terminal")
    }
}

/// Returns which Services are shown.
fn scope(options: &TopOptions) -> String {
    let namespace = options.namespace.as_ref();
    let namespace = namespace.map_or_else(|| "all namespaces".to_owned(), |name| format!("namespace {name}"));
    options.selector.as_ref().map_or_else(|| namespace.clone(), |selector| format!("{namespace} with {selector}"))
}

/// Waits for a termination signal. In raw mode, Ctrl-C is a key and sends none.
async fn terminated() -> anyhow::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate()).context("cannot handle SIGTERM")?;
        let mut interrupt = signal(SignalKind::interrupt()).context("cannot handle SIGINT")?;
        tokio::select! {
            biased;
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        Ok(())
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await.context("cannot handle Ctrl-C")
}
