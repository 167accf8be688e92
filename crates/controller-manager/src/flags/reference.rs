//! The flag reference in Markdown, generated from the clap definitions.

use std::fmt::Write;

use clap::{Arg, CommandFactory};

use super::removed::{REMOVED, RemovedFlag};
use super::{Flags, upstream_only};

const INTRODUCTION: &str = "# Flags

Generated from the flags of `controller-manager`; a test fails when it is out of date. Names, defaults, units and bounds
are those of kube-controller-manager 1.36, unless stated otherwise. Durations are in Go's notation: `500ms`, `1m30s`,
`12h`. A boolean flag may be given with or without a value: `--leader-elect`, `--leader-elect=false`. In names, `_` is
equivalent to `-`. All errors of a command line are reported together, and the program does not start.
";

const REMOVED_FLAGS: &str = "
## Removed flags

Ignored with a warning. The next release rejects them.

| Flag | Now |
|---|---|
";

const UPSTREAM_ONLY: &str = "
## Flags of kube-controller-manager without effect here

Rejected by default. With `--allow-upstream-flags`, each is ignored with a warning.
";

/// Maximum number of characters of a line in the list of names.
const WIDTH: usize = 130;

/// Returns the flag reference in Markdown: the contents of `docs/src/flags.md`.
pub fn flag_reference() -> String {
    let command = Flags::command();
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
    text.push_str(REMOVED_FLAGS);
    for RemovedFlag { name, is_switch: _, now } in REMOVED {
        let _ = writeln!(text, "| `--{name}` | {now} |");
    }
    text.push_str(UPSTREAM_ONLY);
    let mut names: Vec<&str> = upstream_only::SWITCHES.iter().chain(upstream_only::WITH_VALUE).copied().collect();
    names.sort_unstable();
    let mut column = WIDTH;
    for name in names {
        let releases = upstream_only::OTHER_RELEASES.iter().find(|(other, _)| *other == name);
        let releases = releases.map_or_else(String::new, |(_, releases)| format!(" ({releases})"));
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
