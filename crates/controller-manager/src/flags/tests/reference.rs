//! The flag reference in Markdown, generated from the clap definitions.

use std::fmt::Write;

use clap::Arg;

use super::{UpstreamFlag, command};

const INTRODUCTION: &str = "# Flags

Generated from the flags of `controller-manager`; a test fails when it is out of date. Names, defaults, units and bounds
are those of kube-controller-manager 1.36, unless stated otherwise. Durations are in Go's notation: `500ms`, `1m30s`,
`12h`. A boolean flag may be given with or without a value: `--leader-elect`, `--leader-elect=false`. In names, `_` is
equivalent to `-`. All errors of a command line are reported together, and the program does not start.
";

const UPSTREAM_ONLY: &str = "
## Flags of kube-controller-manager without effect here

Rejected by default. With `--allow-upstream-flags`, each is ignored with a warning.
";

/// Maximum number of characters of a line in the list of names.
const WIDTH: usize = 130;

/// Returns the flag reference in Markdown: the contents of `docs/src/flags.md`.
pub(crate) fn reference() -> String {
    let command = command();
    let mut text = INTRODUCTION.to_owned();
    let mut heading = None;
    for argument in command.get_arguments() {
        let section = argument.get_help_heading();
        if heading != section {
            heading = section;
            let _ = write!(text, "\n## {}\n\n", section.unwrap_or("Other flags"));
            text.push_str("| Flag | Default | |\n|---|---|---|\n");
        }
        let _ = writeln!(text, "| `{}` | {} | {} |", usage(argument), default(argument), help(argument));
    }
    text.push_str(UPSTREAM_ONLY);
    let mut column = WIDTH;
    for UpstreamFlag { name, releases, .. } in UpstreamFlag::all() {
        let releases = if releases.is_empty() { String::new() } else { format!(" ({releases})") };
        let word = format!("`--{name}`{releases}");
        column += word.len() + 1;
        if column > WIDTH {
            text.push('\n');
            column = word.len();
        } else {
            text.push(' ');
        }
        text.push_str(&word);
    }
    text.push('\n');
    text
}

fn usage(argument: &Arg) -> String {
    let long = argument.get_long().unwrap_or_default();
    let short = argument.get_short().map_or_else(String::new, |short| format!("-{short}, "));
    match argument.get_value_names() {
        Some([name]) if argument.get_action().takes_values() => format!("{short}--{long} {}", name.replace('|', "\\|")),
        _ => format!("{short}--{long}"),
    }
}

fn default(argument: &Arg) -> String {
    let values: Vec<_> = argument.get_default_values().iter().map(|it| it.to_string_lossy()).collect();
    if argument.is_hide_default_value_set() || values.is_empty() {
        return String::new();
    }
    format!("`{}`", values.join(","))
}

/// Returns the help text of a flag for a Markdown table: on one line, `*` and `|` escaped.
fn help(argument: &Arg) -> String {
    let help = argument.get_long_help().or_else(|| argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let sentence = help.split_whitespace().collect::<Vec<_>>().join(" ").replace('*', "\\*").replace('|', "\\|");
    if sentence.is_empty() || sentence.ends_with('.') { sentence } else { sentence + "." }
}

/// `UPDATE_DOCS=1 cargo test -p endpoint-controller-manager` writes the page.
#[test]
fn page_of_flags_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/flags.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, reference()).expect("the page can be written");
    }
    assert_eq!(std::fs::read_to_string(path).expect("the page can be read"), reference(), "{path} is out of date");
}
