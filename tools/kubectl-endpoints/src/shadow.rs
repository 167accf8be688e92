//! `shadow`: shows the mismatches that a controller manager in shadow mode has found, and waits until it finds none.

mod wait;

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::Value;

use crate::args::{GlobalArgs, ShadowArgs};
use crate::connection::Connection;
use crate::output::{self, Output};
use crate::page::Page;

/// Prints the page. The status is 1 if mismatches are open, or if the wait for a clean comparison was in vain.
pub(crate) async fn run(global: &GlobalArgs, args: &ShadowArgs) -> anyhow::Result<ExitCode> {
    let api = Connection::open(global).await?.client;
    let page = Page::new(&args.url, "/shadow", &api)?.with_parameter("output=json");
    let report = read(&page).await?;
    let (report, is_clean) = match args.wait {
        None => {
            let is_clean = report["openMismatches"] == 0;
            (report, is_clean)
        }
        Some(required) => wait::until_clean(&page, report, required, args.timeout).await,
    };
    output::print(&Output::new(global).render(&report, &[], |_| text(&report))?)?;
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn read(page: &Page) -> anyhow::Result<Value> {
    let body = page.read().await.context("cannot read the page of shadow mode")?;
    let report: Value = serde_json::from_slice(&body).context("the page of shadow mode is not JSON")?;
    report["openMismatches"].as_u64().context("the page of shadow mode has no openMismatches")?;
    Ok(report)
}

fn text(report: &Value) -> String {
    let list = |value: &Value| {
        let texts = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        texts.collect::<Vec<_>>().join(", ")
    };
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut text = format!("{}\n", shown(&report["summary"]));
    // Writing to a String does not fail.
    let _ = writeln!(
        text,
        "{} Services compared, {} differences not settled, {} panics",
        report["servicesCompared"], report["unsettled"], report["panics"]
    );
    for mismatch in report["mismatches"].as_array().into_iter().flatten() {
        let state = match &mismatch["resolved"] {
            Value::Null => "open".to_owned(),
            at => format!("resolved {}", shown(at)),
        };
        let (namespace, service) = (shown(&mismatch["namespace"]), shown(&mismatch["service"]));
        let (controller, first_seen) = (shown(&mismatch["controller"]), shown(&mismatch["firstSeen"]));
        let classes = list(&mismatch["classes"]);
        let _ = writeln!(text, "\n{namespace}/{service}: {classes}; {controller}, first seen {first_seen}, {state}");
        for object in mismatch["objects"].as_array().into_iter().flatten() {
            let name = format!("{} {}", shown(&object["object"]["kind"]), shown(&object["object"]["name"]));
            let _ = writeln!(text, "  {name}: {} {}", shown(&object["class"]), list(&object["codes"]));
            for side in ["expected", "actual"] {
                let json = if object[side].is_null() { "no object".to_owned() } else { object[side].to_string() };
                let _ = writeln!(text, "    {side}: {json}");
            }
        }
    }
    text
}
