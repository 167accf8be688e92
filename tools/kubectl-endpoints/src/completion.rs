//! Shell completion: the answers that kubectl requests.
//!
//! kubectl completes the words of a plugin by running `kubectl_complete-endpoints`, which runs `__complete` with the
//! words. The answer is that of [cobra](https://github.com/spf13/cobra/blob/main/site/content/completions/_index.md):
//! one candidate per line, with a tab and a description, and a last line with the number of a directive.

mod names;
mod words;

use std::{ffi::OsString, fmt::Write as _, process::ExitCode};

use clap::FromArgMatches as _;

use self::words::{Completion, Wanted, complete, parse};
use crate::{args::GlobalArgs, output};

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

/// Prints the candidates for the last of `words`; an empty one is completed by everything. Without an answer of the API server
/// there are no names.
pub(crate) async fn run(words: &[OsString]) -> anyhow::Result<ExitCode> {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (last, before) = words.split_last().map_or(("", &*words), |(last, before)| (last.as_str(), before));
    let Ok(matches) = parse(before) else { return Ok(ExitCode::SUCCESS) };
    let Completion { mut candidates, wanted, directive } = complete(&matches, before, last);
    if let Some(Wanted { what, prefix, partial }) = wanted {
        let names = names::read(&GlobalArgs::from_arg_matches(&matches)?, what).await.unwrap_or_default();
        let matching = names.into_iter().filter(|name| name.starts_with(&partial));
        candidates.extend(matching.map(|name| (format!("{prefix}{name}"), String::new())));
    }
    output::print(&answer(&candidates, directive))?;
    Ok(ExitCode::SUCCESS)
}

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
    use super::*;

    #[test]
    fn answer_is_that_of_cobra() {
        let candidates = [("svc/web".to_owned(), String::new()), ("--watch".to_owned(), "Watch".to_owned())];
        assert_eq!(answer(&candidates, directive::NO_FILES), "svc/web\n--watch\tWatch\n:4\n");
        assert_eq!(answer(&[], directive::DEFAULT), ":0\n");
    }
}
