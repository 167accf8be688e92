//! Which controllers run: the flag `--controllers`.

/// The controllers of this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Controllers {
    /// `endpoints-controller`.
    pub endpoints: bool,
    /// `endpointslice-controller`.
    pub endpointslice: bool,
    /// `endpointslice-mirroring-controller`.
    pub mirroring: bool,
}

impl Default for Controllers {
    /// All of them.
    fn default() -> Self {
        Controllers { endpoints: true, endpointslice: true, mirroring: true }
    }
}

/// A name in `--controllers` that is no controller.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{name:?} is not in the list of known controllers: {}", KNOWN.map(|(name, _)| name).join(", "))]
pub struct UnknownController {
    name: String,
}

/// Canonical names, and the names before Kubernetes 1.28.
const KNOWN: [(&str, &str); 3] = [
    ("endpoints-controller", "endpoint"),
    ("endpointslice-controller", "endpointslice"),
    ("endpointslice-mirroring-controller", "endpointslicemirroring"),
];

impl Controllers {
    /// Resolves a list such as `*,-endpoints-controller` (CM-4): for each controller the first entry that names it, with
    /// or without a dash in front, decides; one that is not named runs if there is a `*`.
    pub fn parse(list: &[String]) -> Result<Controllers, UnknownController> {
        for entry in list.iter().filter(|entry| *entry != "*") {
            let name = entry.strip_prefix('-').unwrap_or(entry);
            if !KNOWN.iter().any(|(canonical, alias)| name == *canonical || name == *alias) {
                return Err(UnknownController { name: entry.clone() });
            }
        }
        let star = list.iter().any(|entry| entry == "*");
        let enabled = |(canonical, alias): (&str, &str)| {
            list.iter()
                .find_map(|entry| match entry.strip_prefix('-') {
                    Some(name) if name == canonical || name == alias => Some(false),
                    None if entry == canonical || entry == alias => Some(true),
                    _ => None,
                })
                .unwrap_or(star)
        };
        let [endpoints, endpointslice, mirroring] = KNOWN.map(enabled);
        Ok(Controllers { endpoints, endpointslice, mirroring })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("*", (true, true, true))]
    #[case("*,-endpoints-controller", (false, true, true))]
    #[case("-endpointslice,*", (true, false, true))]
    #[case("endpointslicemirroring", (false, false, true))]
    #[case("-endpoint,endpoint,*", (false, true, true))]
    #[case("", (false, false, false))]
    fn resolves(#[case] list: &str, #[case] (endpoints, endpointslice, mirroring): (bool, bool, bool)) {
        let list: Vec<String> = list.split(',').filter(|it| !it.is_empty()).map(str::to_owned).collect();
        assert_eq!(Controllers::parse(&list), Ok(Controllers { endpoints, endpointslice, mirroring }));
    }

    #[test]
    fn an_unknown_name_is_named_as_it_was_written() {
        let error = Controllers::parse(&["*".into(), "-nonsense".into()]).unwrap_err();
        assert!(error.to_string().starts_with("\"-nonsense\" is not in the list of known controllers"), "{error}");
    }
}
