//! Profiles that are part of this crate.

use super::Profile;

/// Names and texts.
const BUILTIN: &[(&str, &str)] = &[
    ("controller-manager", include_str!("../../profiles/controller-manager.yaml")),
    ("service-slices", include_str!("../../profiles/service-slices.yaml")),
    ("endpoints", include_str!("../../profiles/endpoints.yaml")),
    ("mirrored-slices", include_str!("../../profiles/mirrored-slices.yaml")),
    ("own-label", include_str!("../../profiles/own-label.yaml")),
];

impl Profile {
    /// Returns the names and texts of all built-in profiles.
    pub fn builtins() -> impl Iterator<Item = (&'static str, &'static str)> {
        BUILTIN.iter().copied()
    }

    /// Returns the text of a built-in profile; `None` if there is no profile of this name.
    pub fn builtin(name: &str) -> Option<&'static str> {
        Self::builtins().find(|(it, _)| *it == name).map(|(_, text)| text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_valid_and_have_their_names() {
        for (name, text) in Profile::builtins() {
            let profile = Profile::parse(text).unwrap();
            assert_eq!(profile.name, name);
            assert!(!profile.about.is_empty(), "{name} has no description");
        }
    }
}
