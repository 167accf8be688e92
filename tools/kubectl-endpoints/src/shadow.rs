//! `shadow`: shows the mismatches that a controller manager in shadow mode has found, and waits until it finds none.

mod wait;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::args::{Format, GlobalArgs, ShadowArgs};
use crate::output::{self, Output};
use crate::page::Page;

/// Time limit of one request.
const LIMIT: Duration = Duration::from_secs(2);

const UNREADABLE: &str = "cannot read the page of shadow mode";

/// Prints the page. The status is 1 if mismatches are open, or if the wait for a clean comparison was in vain.
pub(crate) async fn run(global: &GlobalArgs, args: &ShadowArgs) -> anyhow::Result<ExitCode> {
    let page = Page::open(global, "/shadow", LIMIT).await?;
    let json = page.with_parameter("output=json");
    let report = read(&json).await?;
    let (report, is_clean) = match args.wait {
        None => {
            let is_clean = report["openMismatches"] == 0;
            (report, is_clean)
        }
        Some(required) => {
            let (mut tasks, following) = (JoinSet::new(), json.client.follow_files());
            tasks.spawn(async { match following.await {} });
            wait::until_clean(async || read(&json).await, report, required, args.timeout).await?
        }
    };
    let output = Output::new(global);
    let text = match output.format {
        None | Some(Format::Wide | Format::Html) => text(&page, &report).await,
        Some(Format::Json | Format::Yaml | Format::Name) => String::new(),
    };
    output::print(&output.render(&report, &[], |_| text)?)?;
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the page as text; the summary of the report if it cannot be read any more, since the report determines the status.
async fn text(page: &Page, report: &Value) -> String {
    match page.with_parameter("output=text").read().await.context(UNREADABLE) {
        Ok(text) => String::from_utf8_lossy(&text).into_owned(),
        Err(error) => {
            output::warn(format_args!("{error:#}"));
            wait::summary(report).to_owned()
        }
    }
}

async fn read(page: &Page) -> anyhow::Result<Value> {
    let body = page.read().await.context(UNREADABLE)?;
    let report: Value = serde_json::from_slice(&body).context("the page of shadow mode is not JSON")?;
    report["openMismatches"].as_u64().context("the page of shadow mode has no openMismatches")?;
    Ok(report)
}
