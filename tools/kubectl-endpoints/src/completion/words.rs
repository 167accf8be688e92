//! What can follow the words of a command line.

use clap::{Arg, ArgMatches, Command, CommandFactory as _, ValueHint};

use super::{Candidate, directive};
use crate::args::{Cli, Kind};

/// Candidates for the last word.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Completion {
    /// Candidates that follow from the words.
    pub(super) candidates: Vec<Candidate>,
    /// Candidates to read from the cluster.
    pub(super) wanted: Option<Wanted>,
    /// Directive of cobra's protocol.
    pub(super) directive: u8,
}

/// Names to read from the cluster.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Which names.
    pub(super) what: What,
    /// Start of the word, which is part of the candidates, such as `svc/`.
    pub(super) prefix: String,
    /// Start of the names.
    pub(super) partial: String,
}

/// Names of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Objects(Kind),
    Namespaces,
}

/// Parses the words before the one to complete, as far as they are right. Fails for a request for help.
pub(super) fn parse(before: &[String]) -> Result<ArgMatches, clap::Error> {
    let words = ["kubectl-endpoints"].into_iter().chain(before.iter().map(String::as_str));
    Cli::command().ignore_errors(true).try_get_matches_from(words)
}

/// Returns the candidates for `last`, after the words `before` and what is [parsed](parse) of them.
pub(super) fn complete(matches: &ArgMatches, before: &[String], last: &str) -> Completion {
    let mut root = Cli::command();
    // Gives subcommands the global options.
    root.build();
    let (mut command, mut matches, mut name) = (&root, matches, None);
    while let Some((next, of_next)) = matches.subcommand() {
        (matches, name) = (of_next, Some(next));
        command = command.find_subcommand(next).unwrap_or(command);
    }
    let is_escaped = before.iter().any(|word| word == "--");
    let takes_next = |option: &&Arg| {
        let is_switch = option.get_num_args().is_some_and(|range| range.min_values() == 0);
        option.get_action().takes_values() && !is_switch && !is_escaped
    };
    let pending = before.last().and_then(|word| find_option(command, word)).filter(takes_next);
    let completion = Completion { directive: directive::NO_FILES, ..Completion::default() };
    match (pending, last.split_once('=')) {
        (Some(option), _) => value(completion, option, last),
        (None, Some((name, partial))) if name.starts_with("--") && !is_escaped => match find_option(command, name) {
            Some(option) => value(completion, option, partial),
            None => completion,
        },
        _ if last.starts_with('-') && !is_escaped => Completion { candidates: flags(command, last), ..completion },
        _ => match name {
            _ if command.has_subcommands() => Completion { candidates: subcommands(command, last), ..completion },
            Some("explain") => {
                let objects = matches.get_many::<String>("objects").into_iter().flatten();
                explained(completion, &objects.map(String::as_str).collect::<Vec<_>>(), last)
            }
            _ => completion,
        },
    }
}

fn find_option<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|option| match name.strip_prefix("--") {
        Some(long) => option.get_long() == Some(long),
        None => option.get_short().is_some_and(|short| name.strip_prefix('-') == Some(short.to_string().as_str())),
    })
}

/// Completes the value of an option or argument.
fn value(completion: Completion, option: &Arg, partial: &str) -> Completion {
    if option.get_long() == Some("namespace") {
        let wanted = Wanted { what: What::Namespaces, prefix: String::new(), partial: partial.to_owned() };
        return Completion { wanted: Some(wanted), ..completion };
    }
    if option.get_value_hint() == ValueHint::FilePath {
        return Completion { directive: directive::DEFAULT, ..completion };
    }
    let values = option.get_possible_values();
    let values = values.iter().filter(|value| value.get_name().starts_with(partial));
    let candidates = values.map(|value| (value.get_name().to_owned(), help(value.get_help()))).collect();
    Completion { candidates, ..completion }
}

fn flags(command: &Command, partial: &str) -> Vec<Candidate> {
    let flags = command.get_arguments().filter(|option| !option.is_hide_set());
    let flags = flags.filter_map(|option| Some((format!("--{}", option.get_long()?), help(option.get_help()))));
    flags.filter(|(flag, _)| flag.starts_with(partial)).collect()
}

fn subcommands(command: &Command, partial: &str) -> Vec<Candidate> {
    let commands = command.get_subcommands().filter(|command| !command.is_hide_set());
    let commands = commands.map(|command| (command.get_name().to_owned(), help(command.get_about())));
    commands.filter(|(name, _)| name.starts_with(partial)).collect()
}

fn help(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default().lines().next().unwrap_or_default().to_owned()
}

/// Completes an object of `explain`: a kind, `KIND/NAME`, or a name after a kind.
fn explained(completion: Completion, positionals: &[&str], last: &str) -> Completion {
    if let Some((kind, partial)) = last.split_once('/') {
        let wanted = Kind::parse(kind).map(|kind| Wanted {
            what: What::Objects(kind),
            prefix: last[..last.len() - partial.len()].to_owned(),
            partial: partial.to_owned(),
        });
        return Completion { wanted, ..completion };
    }
    // After KIND/NAME every other word has that form, too.
    let slashes = positionals.iter().any(|word| word.contains('/'));
    if let (Some(kind), false) = (positionals.first().and_then(|word| Kind::parse(word)), slashes) {
        let wanted = Wanted { what: What::Objects(kind), prefix: String::new(), partial: last.to_owned() };
        return Completion { wanted: Some(wanted), ..completion };
    }
    let end = if slashes { "/" } else { "" };
    let kinds = Kind::ALL.iter().map(|kind| kind.singular()).filter(|kind| kind.starts_with(last));
    let candidates = kinds.map(|kind| (format!("{kind}{end}"), String::new())).collect();
    let directive = completion.directive | if slashes { directive::NO_SPACE } else { 0 };
    Completion { candidates, directive, ..completion }
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches as _;
    use rstest::rstest;

    use super::*;
    use crate::args::GlobalArgs;

    fn completion(line: &str) -> Completion {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let (last, before) = words.split_last().unwrap();
        complete(&parse(before).unwrap(), before, last)
    }

    #[rstest]
    #[case::subcommands("", "explain check diff shadow record history retire help", 4)]
    #[case::subcommand("ch", "check", 4)]
    #[case::after_an_option("-n shop d", "diff", 4)]
    #[case::kinds("explain ", "service pod endpointslice endpoints", 4)]
    #[case::kind("explain end", "endpointslice endpoints", 4)]
    #[case::kind_after_a_name("explain svc/web po", "pod/", 6)]
    #[case::flag("explain --w", "--watch", 4)]
    #[case::flag_of_another("check --w", "", 4)]
    #[case::global_flag("diff --kube", "--kubeconfig", 4)]
    #[case::global_flag_first("--kube", "--kubeconfig", 4)]
    #[case::values("check -o ", "json yaml wide name html", 4)]
    #[case::summary("history --su", "--summary", 4)]
    #[case::value("check --output j", "json", 4)]
    #[case::joined_value("check --color=a", "auto always", 4)]
    #[case::files("--kubeconfig ", "", 0)]
    #[case::file_to_record("record --to ", "", 0)]
    #[case::audit_log("record --from-audit-log ", "", 0)]
    #[case::flag_of_record("record --fr", "--from-audit-log", 4)]
    #[case::history("check --history=", "", 0)]
    #[case::subcommands_of_retire("retire ", "plan apply undo help", 4)]
    #[case::audit_log_of_a_plan("retire plan --audit-log ", "", 0)]
    #[case::flag_of_a_plan("retire plan --mer", "--merged-log", 4)]
    #[case::subcommand_of_retire("retire -n shop a", "apply", 4)]
    #[case::flag_of_apply("retire apply --accept-unknown-", "--accept-unknown-cluster", 4)]
    #[case::log_of_apply("retire apply --watch-audit ", "", 0)]
    #[case::value_of_apply("retire apply --controller-off=kube-e", "kube-endpoints", 4)]
    #[case::file_of_undo("retire undo --from ", "", 0)]
    #[case::no_arguments("check ", "", 4)]
    #[case::unknown_kind("explain deploy/", "", 4)]
    fn candidates_follow_from_the_words(#[case] line: &str, #[case] expect: &str, #[case] directive: u8) {
        let completion = completion(line);
        let candidates: Vec<&str> = completion.candidates.iter().map(|(candidate, _)| candidate.as_str()).collect();
        assert_eq!((candidates.join(" ").as_str(), completion.directive), (expect, directive));
        assert_eq!(completion.wanted, None);
    }

    #[rstest]
    #[case::after_the_kind("explain svc w", What::Objects(Kind::Service), "", "w")]
    #[case::second_name("explain po web-0 ", What::Objects(Kind::Pod), "", "")]
    #[case::slash("explain svc/w", What::Objects(Kind::Service), "svc/", "w")]
    #[case::second_object("explain svc/web eps/", What::Objects(Kind::EndpointSlice), "eps/", "")]
    #[case::namespace("check -n sh", What::Namespaces, "", "sh")]
    #[case::joined_namespace("--namespace=sh", What::Namespaces, "", "sh")]
    fn names_are_read(#[case] line: &str, #[case] what: What, #[case] prefix: &str, #[case] partial: &str) {
        let completion = completion(line);
        let wanted = Wanted { what, prefix: prefix.to_owned(), partial: partial.to_owned() };
        assert_eq!((completion.wanted, completion.directive), (Some(wanted), 4));
        assert_eq!(completion.candidates, []);
    }

    #[rstest]
    #[case::before("-n shop --context=dev --kubeconfig a=b explain -w svc")]
    #[case::after("explain -w svc -n shop --context=dev --kubeconfig a=b")]
    #[case::incomplete("explain svc -n shop --kubeconfig=a=b --context=dev -o")]
    fn options_of_the_connection_are_kept(#[case] line: &str) {
        let before: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let global = GlobalArgs::from_arg_matches(&parse(&before).unwrap()).unwrap();
        let kubeconfig = global.kubeconfig.unwrap();
        assert_eq!((global.namespace.as_deref(), global.context.as_deref()), (Some("shop"), Some("dev")));
        assert_eq!(kubeconfig.to_str(), Some("a=b"));
    }

    #[test]
    fn candidates_have_the_first_line_of_the_help() {
        let candidates = completion("chec").candidates;
        let expect = ("check".to_owned(), "List what keeps Services from being served as intended".to_owned());
        assert_eq!(candidates, [expect]);
    }
}
