//! Shell completion: scripts for the program itself, and the answers that kubectl requests.
//!
//! kubectl completes the words of a plugin by running `kubectl_complete-endpoints`, which runs `__complete` with the
//! words. The answer is that of [cobra](https://github.com/spf13/cobra/blob/main/site/content/completions/_index.md):
//! one candidate per line, with a tab and a description, and a last line with the number of a directive.

mod names;
mod words;

use std::{ffi::OsString, fmt::Write as _, process::ExitCode};

use clap::CommandFactory as _;
use clap_complete::Shell;

use self::words::{Completion, Wanted, complete};
use crate::{
    args::{Cli, CompletionShell},
    output,
};

/// First argument of a request for completion.
pub(crate) const SUBCOMMAND: &str = "__complete";

/// A candidate and its description, which may be empty.
type Candidate = (String, String);

/// Directives of cobra's protocol (`ShellCompDirective`).
mod directive {
    /// Files are candidates if there are no others.
    pub(super) const DEFAULT: u8 = 0;
    /// No space follows the candidate.
    pub(super) const NO_SPACE: u8 = 2;
    /// Files are no candidates.
    pub(super) const NO_FILES: u8 = 4;
}

/// Returns the completion script of the program for a shell.
pub(crate) fn script(shell: CompletionShell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(Shell::from(shell), &mut Cli::command(), "kubectl-endpoints", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Prints the candidates for the last of `words`. Without an answer of the API server there are none.
pub(crate) async fn run(words: &[OsString]) -> anyhow::Result<ExitCode> {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let Completion { mut candidates, wanted, directive, options } = complete(&words);
    if let Some(Wanted { what, prefix, partial }) = wanted {
        let names = names::read(&options, what).await.unwrap_or_default();
        let matching = names.into_iter().filter(|name| name.starts_with(&partial));
        candidates.extend(matching.map(|name| (format!("{prefix}{name}"), String::new())));
    }
    output::print(&answer(&candidates, directive))?;
    Ok(ExitCode::SUCCESS)
}

/// Formats an answer.
fn answer(candidates: &[Candidate], directive: u8) -> String {
    let mut text = String::new();
    for (candidate, description) in candidates {
        let tab = if description.is_empty() { "" } else { "\t" };
        // Writing to a string does not fail.
        let _ = writeln!(text, "{candidate}{tab}{description}");
    }
    let _ = writeln!(text, ":{directive}");
    text
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn answer_is_that_of_cobra() {
        let candidates = [("svc/web".to_owned(), String::new()), ("--watch".to_owned(), "Watch".to_owned())];
        assert_eq!(answer(&candidates, directive::NO_FILES), "svc/web\n--watch\tWatch\n:4\n");
        assert_eq!(answer(&[], directive::DEFAULT), ":0\n");
    }

    #[rstest]
    #[case::bash(CompletionShell::Bash, "complete -F _kubectl__endpoints -o nosort")]
    #[case::zsh(CompletionShell::Zsh, "#compdef kubectl-endpoints")]
    #[case::fish(CompletionShell::Fish, "complete -c kubectl-endpoints")]
    #[case::powershell(CompletionShell::PowerShell, "Register-ArgumentCompleter")]
    fn scripts_are_for_the_program(#[case] shell: CompletionShell, #[case] part: &str) {
        assert!(script(shell).contains(part));
    }
}
