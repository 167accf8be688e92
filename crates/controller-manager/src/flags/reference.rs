//! The reference of the flags, made of the flags themselves.

use std::fmt::Write;

use clap::{Arg, CommandFactory};

use super::{Flags, elsewhere};

const INTRODUCTION: &str = "# Flags

Made from the flags of `controller-manager` itself; a test keeps it so. Names, defaults, units and bounds are those of
kube-controller-manager 1.36, but for what is said below. Durations are written as Go writes them: `500ms`, `1m30s`,
`12h`. A switch may be given alone or with a value: `--leader-elect`, `--leader-elect=false`. Names may be written with
`_` instead of `-`. All mistakes on a command line are reported together, and the program does not start.
";

const ELSEWHERE: &str = "
## Flags of kube-controller-manager without effect here

Refused, unless `--allow-upstream-flags` is given: then each is ignored with a warning.
";

/// The reference of the flags in Markdown, as it stands in `docs/src/flags.md`.
pub fn flag_reference() -> String {
    let command = Flags::command();
    let mut text = INTRODUCTION.to_owned();
    let mut heading = None;
    for argument in command.get_arguments() {
        let its = argument.get_help_heading();
        if heading != its {
            heading = its;
            let _ = write!(text, "\n## {}\n\n", its.unwrap_or("Other flags"));
            text.push_str("| Flag | Default | |\n|---|---|---|\n");
        }
        let _ = writeln!(text, "| `{}` | {} | {} |", usage(argument), default(argument), help(argument));
    }
    text.push_str(ELSEWHERE);
    let mut names: Vec<&str> = elsewhere::SWITCHES.iter().chain(elsewhere::WITH_VALUE).copied().collect();
    names.sort_unstable();
    text.push('\n');
    for name in names {
        let _ = writeln!(text, "- `--{name}`");
    }
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

/// What a flag does. Stars and bars are Markdown's own.
fn help(argument: &Arg) -> String {
    let help = argument.get_long_help().or_else(|| argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let sentence = help.split_whitespace().collect::<Vec<_>>().join(" ").replace('*', "\\*").replace('|', "\\|");
    if sentence.is_empty() || sentence.ends_with('.') { sentence } else { sentence + "." }
}
