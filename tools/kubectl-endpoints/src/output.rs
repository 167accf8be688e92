//! Printing of results and messages.

use std::{
    collections::BTreeSet,
    fmt::Display,
    io::{self, IsTerminal as _, Write as _},
};

use clap::ColorChoice;
use jiff::Timestamp;
use kube_endpoint_model::Resource;
use kube_endpoints_explain::{ObjectRef, TextStyle};
use serde::Serialize;

use crate::args::{Format, GlobalArgs};

/// Format and style of the results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    /// Format; `None` for text.
    pub(crate) format: Option<Format>,
    pub(crate) style: TextStyle,
}

/// Several results in one document.
#[derive(Serialize)]
pub(crate) struct Items<'a, T> {
    pub(crate) items: &'a [T],
}

impl Output {
    /// Returns the output that the arguments and the environment select.
    pub(crate) fn new(args: &GlobalArgs) -> Output {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let color = match args.color {
            ColorChoice::Auto => io::stdout().is_terminal() && !no_color,
            ColorChoice::Always => true,
            ColorChoice::Never => false,
        };
        let style = TextStyle { color, wide: args.output == Some(Format::Wide), now: args.settings().now };
        Output { format: args.output, style }
    }

    /// Returns `value` as JSON or YAML; for the other formats the result of `text`.
    pub(crate) fn render<T: Serialize>(
        self,
        value: &T,
        objects: &[&ObjectRef],
        text: impl FnOnce(TextStyle) -> String,
    ) -> anyhow::Result<String> {
        let mut rendered = match self.format {
            Some(Format::Json) => serde_json::to_string_pretty(value)?,
            Some(Format::Yaml) => serde_saphyr::to_string(value)?,
            Some(Format::Name) => {
                let names: BTreeSet<String> = objects.iter().map(|it| qualified(it) + "\n").collect();
                names.into_iter().collect()
            }
            Some(Format::Wide | Format::Html) | None => text(self.style),
        };
        if !rendered.is_empty() && !rendered.ends_with('\n') {
            rendered.push('\n');
        }
        Ok(rendered)
    }
}

/// Returns the object as kubectl prints it with `-o name`.
fn qualified(object: &ObjectRef) -> String {
    let Resource { group, kind, .. } = object.kind.resource();
    let separator = if group.is_empty() { "" } else { "." };
    format!("{}{separator}{group}/{}", kind.to_ascii_lowercase(), object.name)
}

/// Writes a result to standard output. Returns `false` if that is a closed pipe, which is not an error: the reader needs no more.
pub(crate) fn print(text: &str) -> io::Result<bool> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        result => result.map(|()| true),
    }
}

/// Writes a message to standard error as one line. A failure is ignored: the exit status still reports errors.
pub(crate) fn message(prefix: &str, message: impl Display) {
    let text = message.to_string();
    let text = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let _ = writeln!(io::stderr(), "{prefix}{text}");
}

/// Writes a warning to standard error.
pub(crate) fn warn(text: impl Display) {
    message("warning: ", text);
}

/// Formats a time as its second, in a form that `--at` accepts.
pub(crate) fn second(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns the ending of a noun after a number.
pub(crate) fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

#[cfg(test)]
mod tests {
    use kube_endpoints_explain::Kind;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::json(Some(Format::Json), "{\n  \"a\": 1\n}\n")]
    #[case::yaml(Some(Format::Yaml), "a: 1\n")]
    #[case::name(Some(Format::Name), "endpointslice.discovery.k8s.io/b\npod/a\nservice/web\n")]
    #[case::wide(Some(Format::Wide), "text\n")]
    #[case::text(None, "text\n")]
    fn formats(#[case] format: Option<Format>, #[case] expect: &str) {
        let object = |kind, name: &str| ObjectRef { kind, namespace: "shop".to_owned(), name: name.to_owned() };
        let web = object(Kind::Service, "web");
        let objects = [web.clone(), object(Kind::Pod, "a"), web, object(Kind::EndpointSlice, "b")];
        let output = Output { format, style: TextStyle::default() };
        let rendered = output.render(&json!({"a": 1}), &objects.each_ref(), |_| "text".to_owned());
        assert_eq!(rendered.unwrap(), expect);
    }
}
