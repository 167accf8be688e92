//! Objects that the arguments of `explain` name, in the forms that kubectl accepts.

use std::fmt;

/// Kinds that can be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Service,
    Pod,
    EndpointSlice,
    Endpoints,
}

/// An object to explain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) kind: Kind,
    pub(crate) name: String,
}

/// The objects to explain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Targets {
    /// Objects by name.
    Named(Vec<Target>),
    /// All objects of a kind that a label selector selects; all of the namespace without one.
    Selected { kind: Kind, selector: Option<String> },
}

impl Kind {
    /// All kinds.
    pub(crate) const ALL: [Kind; 4] = [Kind::Service, Kind::Pod, Kind::EndpointSlice, Kind::Endpoints];

    /// Parses the singular, plural or short name of a kind, in any case and with or without the API group.
    pub(crate) fn parse(text: &str) -> Option<Kind> {
        let text = text.to_ascii_lowercase();
        let of_discovery = text.strip_suffix(".discovery.k8s.io").map(|text| text.strip_suffix(".v1").unwrap_or(text));
        match of_discovery.unwrap_or(&text) {
            "endpointslice" | "endpointslices" => Some(Kind::EndpointSlice),
            _ if of_discovery.is_some() => None,
            "eps" => Some(Kind::EndpointSlice),
            "service" | "services" | "svc" => Some(Kind::Service),
            "pod" | "pods" | "po" => Some(Kind::Pod),
            "endpoints" | "ep" => Some(Kind::Endpoints),
            _ => None,
        }
    }

    /// Returns the singular name, as `-o name` prints it for kinds of the core group.
    pub(crate) fn singular(self) -> &'static str {
        match self {
            Kind::Service => "service",
            Kind::Pod => "pod",
            Kind::EndpointSlice => "endpointslice",
            Kind::Endpoints => "endpoints",
        }
    }

    /// Returns the plural name, as in messages of the API server.
    pub(crate) fn plural(self) -> &'static str {
        match self {
            Kind::Service => "services",
            Kind::Pod => "pods",
            Kind::EndpointSlice => "endpointslices.discovery.k8s.io",
            Kind::Endpoints => "endpoints",
        }
    }
}

impl Targets {
    /// Parses `KIND/NAME...`, `KIND NAME...` or `KIND`.
    pub(crate) fn parse(words: &[String], selector: Option<&str>) -> Result<Targets, String> {
        let kind = |text: &str| {
            let known = "service (svc), pod (po), endpointslice (eps) and endpoints (ep)";
            Kind::parse(text).ok_or_else(|| {
                let how = if words.len() == 1 && !words[0].contains('/') {
                    format!("; for the object {text}, use svc/{text} or pod/{text}")
                } else {
                    String::new()
                };
                format!("{text:?} is not a kind that can be explained: {known}{how}")
            })
        };
        let target = |kind: Kind, name: &str| {
            let name = Some(name).filter(|name| !name.is_empty() && !name.contains('/'));
            let name = name.ok_or_else(|| format!("expected {}/NAME", kind.singular()))?;
            Ok::<_, String>(Target { kind, name: name.to_owned() })
        };
        let named: Vec<Target> = if words.iter().any(|word| word.contains('/')) {
            let parse = |word: &String| match word.split_once('/') {
                Some((prefix, name)) => target(kind(prefix)?, name),
                None => Err(format!("{word:?} is not of the form KIND/NAME, as the other arguments are")),
            };
            words.iter().map(parse).collect::<Result<_, _>>()?
        } else {
            let [first, names @ ..] = words else { return Err("expected KIND/NAME".to_owned()) };
            let kind = kind(first)?;
            if names.is_empty() {
                return Ok(Targets::Selected { kind, selector: selector.map(str::to_owned) });
            }
            names.iter().map(|name| target(kind, name)).collect::<Result<_, _>>()?
        };
        match selector {
            Some(_) => Err("names and --selector exclude each other".to_owned()),
            None => Ok(Targets::Named(named)),
        }
    }
}

impl From<Kind> for kube_endpoints_explain::Kind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Service => Self::Service,
            Kind::Pod => Self::Pod,
            Kind::EndpointSlice => Self::EndpointSlice,
            Kind::Endpoints => Self::Endpoints,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind.singular(), self.name)
    }
}
