//! Where a history is read from: files, or a controller manager.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use jiff::Timestamp;
use kube_endpoints_history::Archive;

use crate::args::GlobalArgs;
use crate::page::Page;

/// Time limit of one request, in which the page reads its history.
const LIMIT: Duration = Duration::from_secs(60);

/// The source of `--history` or `--url`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    /// A file or folder.
    Files(&'a Path),
    /// The page `/history` of a controller manager.
    Page(&'a str),
}

/// The part of a history that is needed. Files have the rest, too.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Part<'a> {
    /// `None` for all.
    pub(crate) namespace: Option<&'a str>,
    /// `None` for all of the namespace.
    pub(crate) service: Option<&'a str>,
    pub(crate) since: Option<Timestamp>,
    pub(crate) until: Option<Timestamp>,
}

impl<'a> Source<'a> {
    /// Returns the source that the arguments name; `None` for the cluster as it is.
    pub(crate) fn of(args: &'a GlobalArgs) -> Option<Source<'a>> {
        let page = args.url.as_deref().map(Source::Page);
        args.history.as_deref().map(Source::Files).or(page)
    }

    /// Opens the history, which has at least a part.
    pub(crate) async fn open(self, args: &GlobalArgs, part: Part<'_>) -> anyhow::Result<Archive> {
        match self {
            Source::Files(path) => Ok(Archive::open(path)?),
            Source::Page(_) => {
                let mut page = Page::open(args, "/history", LIMIT).await?;
                for (name, value) in part.parameters()? {
                    page = page.with_parameter(&format!("{name}={value}"));
                }
                let excerpt = page.read().await.context("cannot read the history")?;
                Ok(Archive::from_buffers([excerpt])?)
            }
        }
    }
}

impl fmt::Display for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Files(path) => path.display().fmt(f),
            Source::Page(url) => url.fmt(f),
        }
    }
}

impl Part<'_> {
    /// Returns names and values for the query of the page.
    fn parameters(self) -> anyhow::Result<Vec<(&'static str, String)>> {
        let names = [("namespace", self.namespace), ("service", self.service)];
        let mut parameters = Vec::new();
        for (parameter, name) in names.into_iter().filter_map(|(parameter, name)| Some((parameter, name?))) {
            // What a name may contain needs no escaping in a URL.
            if !name.bytes().all(|it| it.is_ascii_alphanumeric() || b"-.".contains(&it)) {
                bail!("{name:?} is not the name of a {parameter}");
            }
            parameters.push((parameter, name.to_owned()));
        }
        let times = [("since", self.since), ("until", self.until)];
        parameters.extend(times.into_iter().filter_map(|(parameter, time)| Some((parameter, time?.to_string()))));
        Ok(parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_has_what_is_given() {
        let at = "2026-11-27T14:02:00.5Z".parse().ok();
        let part = Part { namespace: Some("shop"), service: Some("web"), since: at, until: at };
        let expected = [
            ("namespace", "shop"),
            ("service", "web"),
            ("since", "2026-11-27T14:02:00.5Z"),
            ("until", "2026-11-27T14:02:00.5Z"),
        ];
        assert_eq!(part.parameters().unwrap(), expected.map(|(name, value)| (name, value.to_owned())));
        assert!(Part::default().parameters().unwrap().is_empty());
    }

    #[test]
    fn names_cannot_add_parameters() {
        let part = Part { service: Some("web&since=now"), ..Part::default() };
        assert_eq!(part.parameters().unwrap_err().to_string(), "\"web&since=now\" is not the name of a service");
    }
}
