//! Programs that are known to read Endpoints, by image and arguments.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// Data file with the programs.
const DATA: &str = include_str!("known.json");

/// A program that is known to read Endpoints, or to write some of its own.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct KnownProgram {
    /// Name.
    pub name: String,
    /// Ends of the repositories of its images.
    pub images: Vec<String>,
    /// First version that does not read Endpoints; `None` if no such version is known.
    #[serde(default)]
    pub before: Option<String>,
    /// Whether older versions read Endpoints.
    pub reads: Reading,
    /// Flag that decides whether older versions read Endpoints.
    #[serde(default)]
    pub flag: Option<Flag>,
    /// Where this is described.
    pub source: String,
}

/// Whether a program reads Endpoints.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Reading {
    /// It does.
    Always,
    /// Its configuration decides, or the version is not known.
    Perhaps,
    /// It reads and writes only Endpoints of its own.
    Own,
}

/// Flag that decides whether a program reads Endpoints.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Flag {
    /// Name, without dashes.
    pub name: String,
    /// Whether the program reads Endpoints without the flag.
    pub absent: bool,
    /// Value, or element of a list, with which it reads Endpoints.
    pub value: String,
}

/// Returns all programs, in the order of the book.
pub fn programs() -> &'static [KnownProgram] {
    static PROGRAMS: LazyLock<Vec<KnownProgram>> =
        LazyLock::new(|| serde_json::from_str(DATA).expect("the file is a part of the program, and a test reads it"));
    &PROGRAMS
}

impl KnownProgram {
    /// Returns the program of an image; `None` if it is none of them.
    pub fn of_image(image: &str) -> Option<&'static KnownProgram> {
        let (repository, _) = split(image);
        let is_image = |end: &String| {
            repository.strip_suffix(end.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        programs().iter().find(|program| program.images.iter().any(is_image))
    }

    /// Returns whether the program reads Endpoints with this image and these arguments; `None` if it does not.
    pub fn reading<'a>(&self, image: &str, arguments: impl IntoIterator<Item = &'a str>) -> Option<Reading> {
        if self.reads == Reading::Own {
            return Some(Reading::Own);
        }
        let mut reading = self.reads;
        if let Some(before) = &self.before {
            match version(split(image).1) {
                Some(version) if version >= self::version(before)? => return None,
                Some(_) => {}
                None => reading = Reading::Perhaps,
            }
        }
        let reads = self.flag.as_ref().is_none_or(|flag| flag.reads(arguments));
        reads.then_some(reading)
    }
}

impl Flag {
    fn reads<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> bool {
        let mut arguments = arguments.into_iter().peekable();
        let mut reads = self.absent;
        // As flag packages do, the last one counts.
        while let Some(argument) = arguments.next() {
            let Some(flag) = argument.strip_prefix('-').map(|rest| rest.trim_start_matches('-')) else { continue };
            let value = match flag.split_once('=') {
                Some((name, value)) if name == self.name => value,
                None if flag == self.name => arguments.next_if(|next| !next.starts_with('-')).unwrap_or("true"),
                _ => continue,
            };
            reads = value.split(',').any(|element| element.trim() == self.value);
        }
        reads
    }
}

/// Splits an image into its repository and its tag, which is empty if there is none.
fn split(image: &str) -> (&str, &str) {
    let image = image.split_once('@').map_or(image, |(image, _)| image);
    match image.rsplit_once(':') {
        // Otherwise it is the port of the registry.
        Some((repository, tag)) if !tag.contains('/') => (repository, tag),
        _ => (image, ""),
    }
}

/// Parses the first three numbers of a version such as `v1.8.1-rc1`; `None` if it has none.
fn version(tag: &str) -> Option<[u32; 3]> {
    let start = tag.find(|character: char| character.is_ascii_digit())?;
    let numbers = tag[start..].split(|character: char| !character.is_ascii_digit() && character != '.').next()?;
    let mut version = [0; 3];
    for (number, text) in version.iter_mut().zip(numbers.split('.').filter(|text| !text.is_empty())) {
        *number = text.parse().ok()?;
    }
    // A tag of one number is a channel, or a date.
    numbers.contains('.').then_some(version)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::before("registry.k8s.io/ingress-nginx/controller:v1.3.1", "", Some(Reading::Always))]
    #[case::since("registry.k8s.io/ingress-nginx/controller:v1.4.0@sha256:ab", "", None)]
    #[case::digest("registry.k8s.io/ingress-nginx/controller@sha256:ab", "", Some(Reading::Perhaps))]
    #[case::port("localhost:5000/traefik", "", Some(Reading::Perhaps))]
    #[case::short("traefik:v2.11", "", Some(Reading::Always))]
    #[case::channel("traefik:v3", "", Some(Reading::Perhaps))]
    #[case::patch("coredns/coredns:1.8.0", "", Some(Reading::Always))]
    #[case::later_patch("coredns/coredns:1.11.3", "", None)]
    #[case::flag("k/haproxy-ingress:v0.14.7", "--enable-endpointslices-api --v=2", None)]
    #[case::flag_off("k/haproxy-ingress:v0.14.7", "--enable-endpointslices-api=false", Some(Reading::Always))]
    #[case::flag_absent("k/haproxy-ingress:v0.14.7", "--v 2", Some(Reading::Always))]
    #[case::one_dash("zalando/skipper:v0.21", "-enable-kubernetes-endpointslices=true", None)]
    #[case::listed("k/kube-state-metrics:v2.15.0", "--resources=pods,endpoints", Some(Reading::Perhaps))]
    #[case::listed_apart("k/kube-state-metrics:v2.15.0", "--resources endpoints", Some(Reading::Perhaps))]
    #[case::not_listed("k/kube-state-metrics:v2.15.0", "--resources=pods,endpointslices", None)]
    #[case::own("zalando/spilo:16", "", Some(Reading::Own))]
    fn programs_are_known(#[case] image: &str, #[case] arguments: &str, #[case] expected: Option<Reading>) {
        let program = KnownProgram::of_image(image).expect("a known program");
        assert_eq!(program.reading(image, arguments.split(' ')), expected);
    }

    #[rstest]
    #[case("nginx:1.25")]
    #[case("example.com/my-traefik:v2")]
    #[case("coredns/coredns-helper:1.2.3")]
    #[case("")]
    fn other_images_are_not(#[case] image: &str) {
        assert_eq!(KnownProgram::of_image(image), None);
    }

    #[test]
    fn the_data_is_complete() {
        for program in programs() {
            assert!(program.source.starts_with("https://") && !program.images.is_empty(), "{program:?}");
            assert!(program.before.as_deref().is_none_or(|it| version(it).is_some()), "{program:?}");
        }
    }
}
