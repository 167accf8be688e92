//! Splits a command line into flags and values as pflag, the flag package of Kubernetes, does: `--name=value`,
//! `--name value`, `--switch`, `-v=2`, `-v 2`, `-v2`, and `_` for `-` in names.

use super::upstream_only::UpstreamFlag;

/// A flag on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GivenFlag {
    /// Name without leading dashes, `_` replaced by `-`.
    pub(super) name: String,
    /// `None` for a switch without a value.
    pub(super) value: Option<String>,
    /// Whether this program has the flag, not only kube-controller-manager.
    pub(super) is_own: bool,
}

/// Splits arguments that do not include the name of the program. `is_switch` returns whether a flag of this program is
/// a switch, and `None` for other flags. Errors are appended to `errors` in upstream's wording.
pub(super) fn split(
    arguments: impl IntoIterator<Item = String>,
    is_switch: impl Fn(&str) -> Option<bool>,
    errors: &mut Vec<String>,
) -> Vec<GivenFlag> {
    let mut given = Vec::new();
    let mut arguments = arguments.into_iter().peekable();
    let mut positional = Vec::new();
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            positional.extend(arguments);
            break;
        }
        let (name, value, display) = match (argument.strip_prefix("--"), argument.strip_prefix('-')) {
            (Some(long), _) => {
                let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                if name.is_empty() || name.starts_with('-') {
                    errors.push(format!("bad flag syntax: {argument}"));
                    continue;
                }
                (name.replace('_', "-"), value.map(str::to_owned), format!("--{name}"))
            }
            (None, Some(short)) if !short.is_empty() => {
                let mut rest = short.chars();
                let name = match rest.next() {
                    Some('v') => "v",
                    Some('h') => "help",
                    _ => {
                        errors.push(format!("unknown shorthand flag in {argument}"));
                        continue;
                    }
                };
                let rest = rest.as_str();
                let value = Some(rest.strip_prefix('=').unwrap_or(rest)).filter(|_| !rest.is_empty());
                (name.to_owned(), value.map(str::to_owned), argument.clone())
            }
            // Upstream ignores empty arguments.
            _ if argument.is_empty() => continue,
            _ => {
                positional.push(argument);
                continue;
            }
        };
        let own = is_switch(&name);
        let Some(value_is_optional) = own.or_else(|| UpstreamFlag::find(&name).map(|flag| flag.is_switch)) else {
            errors.push(format!("unknown flag: {display}"));
            if value.is_none() {
                // The next argument is probably the value of the unknown flag; do not report it as well.
                arguments.next_if(|next| !next.starts_with('-'));
            }
            continue;
        };
        let value = if value_is_optional { value } else { value.or_else(|| arguments.next()) };
        if value.is_none() && !value_is_optional {
            errors.push(format!("flag needs an argument: {display}"));
            continue;
        }
        given.push(GivenFlag { name, value, is_own: own.is_some() });
    }
    if !positional.is_empty() {
        errors.push(format!("\"controller-manager\" does not take any arguments, got {positional:?}"));
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn check(line: &str) -> (String, Vec<String>) {
        let mut errors = Vec::new();
        let is_switch = |name: &str| match name {
            "leader-elect" | "help" => Some(true),
            "v" | "kubeconfig" => Some(false),
            _ => None,
        };
        let arguments = line.split(' ').map(str::to_owned).filter(|_| !line.is_empty());
        let given = split(arguments, is_switch, &mut errors);
        let show = |it: &GivenFlag| {
            let name = if it.is_own { it.name.clone() } else { format!("({})", it.name) };
            it.value.as_ref().map_or(name.clone(), |value| format!("{name}={value}"))
        };
        (given.iter().map(show).collect::<Vec<_>>().join(" "), errors)
    }

    #[rstest]
    #[case("", "")]
    #[case("--v=2 -v=3 -v4 -v 5 --v 6", "v=2 v=3 v=4 v=5 v=6")]
    #[case("--leader-elect --leader_elect=false", "leader-elect leader-elect=false")]
    #[case("--kubeconfig --v", "kubeconfig=--v")]
    #[case("--kubeconfig= --kubeconfig=a=b", "kubeconfig= kubeconfig=a=b")]
    #[case("-h", "help")]
    #[case("--cluster-cidr 10.0.0.0/16 --v=1", "(cluster-cidr)=10.0.0.0/16 v=1")]
    #[case("--profiling --v=1", "(profiling) v=1")]
    #[case("--concurrent_rc_syncs=5", "(concurrent-rc-syncs)=5")]
    fn command_line_is_split_like_pflag(#[case] line: &str, #[case] expected: &str) {
        assert_eq!(check(line), (expected.to_owned(), vec![]));
    }

    #[rstest]
    #[case("--nonsense=1", "unknown flag: --nonsense")]
    #[case("--nonsense 1 --v=1", "unknown flag: --nonsense")]
    #[case("--nonsense_1", "unknown flag: --nonsense_1")]
    #[case("--v", "flag needs an argument: --v")]
    #[case("---v=1", "bad flag syntax: ---v=1")]
    #[case("--=1", "bad flag syntax: --=1")]
    #[case("-x", "unknown shorthand flag in -x")]
    #[case("stray", "\"controller-manager\" does not take any arguments, got [\"stray\"]")]
    #[case("-", "\"controller-manager\" does not take any arguments, got [\"-\"]")]
    #[case("-- --v=1", "\"controller-manager\" does not take any arguments, got [\"--v=1\"]")]
    #[case("--profiling true", "\"controller-manager\" does not take any arguments, got [\"true\"]")]
    fn invalid_syntax_is_rejected_with_pflags_messages(#[case] line: &str, #[case] expected: &str) {
        assert_eq!(check(line).1, [expected]);
    }
}
