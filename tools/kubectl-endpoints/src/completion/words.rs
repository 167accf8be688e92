//! What can follow the words of a command line.

use clap::{Arg, Command, CommandFactory as _, ValueHint};

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
    /// Options of the connection among the words, as `--name=value`.
    pub(super) options: Vec<String>,
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
    /// Of the objects of a kind.
    Objects(Kind),
    /// Of namespaces.
    Namespaces,
}

/// Options that change from which server, and where, names are read.
const CONNECTION_OPTIONS: [&str; 13] = [
    "kubeconfig",
    "context",
    "cluster",
    "user",
    "as",
    "as-group",
    "as-uid",
    "token",
    "certificate-authority",
    "insecure-skip-tls-verify",
    "tls-server-name",
    "server",
    "namespace",
];

/// Words before the one to complete, as far as they matter.
struct Parsed<'a> {
    command: &'a Command,
    /// Arguments of the subcommand that are not options.
    positionals: Vec<&'a str>,
    options: Vec<String>,
    /// Option whose value is the word to complete.
    pending: Option<&'a Arg>,
    /// Whether options have ended with `--`.
    escaped: bool,
}

/// Returns the candidates for the last of `words`; an empty one is completed by everything.
pub(super) fn complete(words: &[String]) -> Completion {
    let mut root = Cli::command();
    // Gives subcommands the global options.
    root.build();
    let (last, before) = words.split_last().map_or(("", words), |(last, before)| (last.as_str(), before));
    let Parsed { command, positionals, options, pending, escaped } = parse(&root, before);
    let completion = Completion { directive: directive::NO_FILES, ..Completion::default() };
    let completion = match (pending, last.split_once('=')) {
        (Some(option), _) => value(completion, option, last),
        (None, Some((name, partial))) if name.starts_with("--") && !escaped => match find_option(command, name) {
            Some(option) => value(completion, option, partial),
            None => completion,
        },
        _ if last.starts_with('-') && !escaped => Completion { candidates: flags(command, last), ..completion },
        _ if command.get_name() == root.get_name() => Completion { candidates: subcommands(&root, last), ..completion },
        _ if command.get_name() == "explain" => explained(completion, &positionals, last),
        _ => match command.get_positionals().nth(positionals.len()) {
            Some(positional) => value(completion, positional, last),
            None => completion,
        },
    };
    Completion { options, ..completion }
}

fn parse<'a>(root: &'a Command, words: &'a [String]) -> Parsed<'a> {
    let (command, positionals, options) = (root, Vec::new(), Vec::new());
    let mut parsed = Parsed { command, positionals, options, pending: None, escaped: false };
    for word in words {
        if let Some(option) = parsed.pending.take() {
            parsed.add_option(option, word);
        } else if word == "--" && !parsed.escaped {
            parsed.escaped = true;
        } else if word.starts_with('-') && word.len() > 1 && !parsed.escaped {
            let (name, value) = split_option(word);
            let option = find_option(parsed.command, name).filter(|option| option.get_action().takes_values());
            match (option, value) {
                (Some(option), Some(value)) => parsed.add_option(option, value),
                (Some(option), None) if is_switch(option) => parsed.add_option(option, "true"),
                (Some(option), None) => parsed.pending = Some(option),
                (None, _) => {}
            }
        } else if let Some(command) =
            Some(parsed.command).filter(|it| it.get_name() == root.get_name()).and_then(|it| it.find_subcommand(word))
        {
            parsed.command = command;
        } else {
            parsed.positionals.push(word);
        }
    }
    parsed
}

impl Parsed<'_> {
    fn add_option(&mut self, option: &Arg, value: &str) {
        let name = option.get_long().filter(|name| CONNECTION_OPTIONS.contains(name));
        self.options.extend(name.map(|name| format!("--{name}={value}")));
    }
}

/// Returns whether the value of an option is optional and follows `=`.
fn is_switch(option: &Arg) -> bool {
    option.get_num_args().is_some_and(|range| range.min_values() == 0)
}

/// Splits `--name=value` and `-nvalue`.
fn split_option(word: &str) -> (&str, Option<&str>) {
    match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None if word.starts_with("--") => (word, None),
        None => {
            let end = word.char_indices().nth(2).map_or(word.len(), |(end, _)| end);
            let (name, value) = word.split_at(end);
            (name, Some(value).filter(|value| !value.is_empty()))
        }
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

fn subcommands(root: &Command, partial: &str) -> Vec<Candidate> {
    let commands = root.get_subcommands().filter(|command| !command.is_hide_set());
    let commands = commands.map(|command| (command.get_name().to_owned(), help(command.get_about())));
    commands.filter(|(name, _)| name.starts_with(partial)).collect()
}

/// Returns the first line of a help text.
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
    use rstest::rstest;

    use super::*;

    fn completion(line: &str) -> Completion {
        complete(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[rstest]
    #[case::subcommands("", "explain check diff shadow completion help", 4)]
    #[case::subcommand("ch", "check", 4)]
    #[case::after_an_option("-n shop d", "diff", 4)]
    #[case::kinds("explain ", "service pod endpointslice endpoints", 4)]
    #[case::kind("explain end", "endpointslice endpoints", 4)]
    #[case::kind_after_a_name("explain svc/web po", "pod/", 6)]
    #[case::flag("explain --w", "--watch", 4)]
    #[case::flag_of_another("check --w", "", 4)]
    #[case::global_flag("diff --kube", "--kubeconfig", 4)]
    #[case::global_flag_first("--kube", "--kubeconfig", 4)]
    #[case::values("check -o ", "json yaml wide name", 4)]
    #[case::value("check --output j", "json", 4)]
    #[case::joined_value("check --color=a", "auto always", 4)]
    #[case::files("--kubeconfig ", "", 0)]
    #[case::shells("completion ", "bash zsh fish powershell", 4)]
    #[case::too_many("completion bash ", "", 4)]
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

    #[test]
    fn options_of_the_connection_are_kept() {
        let line = "-n shop --context=dev -oyaml --kubeconfig a=b explain --user u --as=b -s http://x -w svc ";
        let expect =
            ["--namespace=shop", "--context=dev", "--kubeconfig=a=b", "--user=u", "--as=b", "--server=http://x"];
        assert_eq!(completion(line).options, expect);
        let line =
            "--token t --as-uid 7 --insecure-skip-tls-verify --certificate-authority=ca --tls-server-name n check ";
        let expect = [
            "--token=t",
            "--as-uid=7",
            "--insecure-skip-tls-verify=true",
            "--certificate-authority=ca",
            "--tls-server-name=n",
        ];
        assert_eq!(completion(line).options, expect);
    }

    #[test]
    fn candidates_have_the_first_line_of_the_help() {
        let candidates = completion("chec").candidates;
        let expect = ("check".to_owned(), "List what keeps Services from being served as intended".to_owned());
        assert_eq!(candidates, [expect]);
    }
}
