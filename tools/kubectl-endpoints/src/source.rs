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

const UNREADABLE: &str = "cannot read the history";

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
                let page = Page::open(args, "/history", LIMIT).await?;
                let files = match part.namespace {
                    Some(_) => vec![read(&page, &part.parameters()?).await?],
                    None => read_segments(&page, part).await?,
                };
                Ok(Archive::from_buffers(files)?)
            }
        }
    }
}

async fn read(page: &Page, parameters: &[(&str, String)]) -> anyhow::Result<Vec<u8>> {
    let mut page = page.clone();
    for (name, value) in parameters {
        page = page.with_parameter(&format!("{name}={value}"));
    }
    page.read().await.context(UNREADABLE)
}

/// Reads the segments of a time, one by one: the page limits the number of objects of everything else.
async fn read_segments(page: &Page, part: Part<'_>) -> anyhow::Result<Vec<Vec<u8>>> {
    let starts = page.with_parameter("segments").read().await.context(UNREADABLE)?;
    let starts: Vec<Timestamp> = String::from_utf8_lossy(&starts)
        .lines()
        .map(str::parse)
        .collect::<Result<_, _>>()
        .context("the page of the history does not list segments")?;
    let mut segments = Vec::new();
    for started in part.segments(&starts) {
        segments.push(read(page, &[("segment", started.to_string())]).await?);
    }
    Ok(segments)
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
    /// Returns which segments have the time of the part: the one that contains its beginning, and those until the first after its
    /// end, which may begin with a gap.
    fn segments(self, starts: &[Timestamp]) -> &[Timestamp] {
        let first = self.since.map_or(0, |since| starts.partition_point(|started| *started <= since).saturating_sub(1));
        let after = self.until.map_or(starts.len(), |until| starts.partition_point(|started| *started <= until) + 1);
        starts.get(first..after.min(starts.len())).unwrap_or_default()
    }

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
    use rstest::rstest;

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

    #[rstest]
    #[case::all(None, None, &[2, 4, 6, 8])]
    #[case::within_one(Some(5), Some(5), &[4, 6])]
    #[case::until_a_beginning(Some(4), Some(6), &[4, 6, 8])]
    #[case::since_the_last(Some(9), None, &[8])]
    #[case::before_the_first(Some(1), Some(1), &[2])]
    fn segments_of_a_time(#[case] since: Option<i64>, #[case] until: Option<i64>, #[case] expected: &[i64]) {
        let at = |hour: i64| Timestamp::from_second(hour * 3_600).unwrap();
        let part = Part { since: since.map(at), until: until.map(at), ..Part::default() };
        let expected: Vec<Timestamp> = expected.iter().copied().map(at).collect();
        assert_eq!(part.segments(&[2, 4, 6, 8].map(at)), expected);
    }

    #[test]
    fn names_cannot_add_parameters() {
        let part = Part { service: Some("web&since=now"), ..Part::default() };
        assert_eq!(part.parameters().unwrap_err().to_string(), "\"web&since=now\" is not the name of a service");
    }
}
