//! Total size of the annotations of an object.

use crate::Labels;

/// Maximum size of all annotations of an object in bytes, keys included (upstream: `TotalAnnotationSizeLimitB`).
const MAX_ANNOTATIONS: usize = 256 * 1024;

impl Labels {
    /// Returns these annotations with those of `added` that fit: the API server rejects objects with more than 256 KiB of
    /// annotations. Earlier pairs take precedence; a pair replaces one of the same key.
    ///
    /// For annotations of a controller on an object that other clients annotate too (EC-53).
    #[must_use]
    pub fn with_fitting<'a>(&'a self, added: impl IntoIterator<Item = (&'a str, &'a str)>) -> Labels {
        let size = |(key, value): (&str, &str)| key.len() + value.len();
        let mut total: usize = self.iter().map(size).sum();
        let fits = |pair: &(&str, &str)| {
            let replaced = self.get(pair.0).map_or(0, |value| size((pair.0, value)));
            let after = total - replaced + size(*pair);
            if after <= MAX_ANNOTATIONS {
                total = after;
            }
            after <= MAX_ANNOTATIONS
        };
        self.with(added.into_iter().filter(fits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::both_fit(20, &["added", "filler", "more"])]
    #[case::exactly(12, &["added", "filler", "more"])]
    #[case::the_second_does_not(11, &["added", "filler"])]
    #[case::only_the_second_does(4, &["filler"])]
    #[case::none(0, &["filler"])]
    fn adds_what_fits(#[case] room: usize, #[case] expected: &[&str]) {
        let value = "x".repeat(MAX_ANNOTATIONS - "filler".len() - room);
        let annotations: Labels = [("filler", value.as_str())].into_iter().collect();
        let with = annotations.with_fitting([("added", "v"), ("more", "ab")]);
        assert_eq!(with.iter().map(|(key, _)| key).collect::<Vec<_>>(), expected);
        // A pair that is replaced makes room.
        let replaced = annotations.with_fitting([("filler", "short"), ("added", "v")]);
        assert_eq!(replaced.iter().collect::<Vec<_>>(), [("added", "v"), ("filler", "short")]);
    }
}
