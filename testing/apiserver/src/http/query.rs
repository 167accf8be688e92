//! Query parameters of resource requests.

use std::time::Duration;

use super::continuation::Continuation;
use super::form::IncludeObject;
use crate::cluster::{Applier, FieldValidation, MAX_MANAGER_LENGTH, WriteOptions};
use crate::field::FieldErrors;
use crate::selector::{Selector, SelectorError};
use crate::status::StatusError;

/// Parsed query parameters. Unsupported parameters are ignored, as upstream ignores unknown ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Query {
    pub(super) watch: bool,
    pub(super) selector: Selector,
    pub(super) resource_version: Option<u64>,
    pub(super) resource_version_match: Option<VersionMatch>,
    /// Maximum number of objects in a list; `None` for no limit.
    pub(super) limit: Option<usize>,
    /// Position from which a list continues.
    pub(super) continuation: Option<Continuation>,
    pub(super) send_initial_events: Option<bool>,
    pub(super) allow_bookmarks: bool,
    pub(super) timeout: Option<Duration>,
    pub(super) include_object: IncludeObject,
    pub(super) dry_run: bool,
    pub(super) field_validation: FieldValidation,
    pub(super) field_manager: Option<String>,
    /// Manager of requests without `fieldManager`.
    pub(super) agent: String,
    /// Whether an apply may take over fields from other managers.
    pub(super) force: Option<bool>,
    pub(super) grace_period_seconds: Option<i64>,
    /// See [`WriteOptions::refused_create`].
    pub(super) refused_create: Option<StatusError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VersionMatch {
    Exact,
    NotOlderThan,
}

impl Query {
    pub(super) fn parse(text: Option<&str>) -> Result<Self, StatusError> {
        let bad_selector = |error: SelectorError| StatusError::bad_request(error.to_string());
        let mut query = Self::default();
        for (name, value) in form_urlencoded::parse(text.unwrap_or_default().as_bytes()) {
            let value = value.as_ref();
            match name.as_ref() {
                "watch" => query.watch = boolean(value),
                "allowWatchBookmarks" => query.allow_bookmarks = boolean(value),
                "sendInitialEvents" => query.send_initial_events = Some(boolean(value)),
                "labelSelector" => query.selector.labels = value.parse().map_err(bad_selector)?,
                "fieldSelector" => query.selector.fields = value.parse().map_err(bad_selector)?,
                "resourceVersion" | "continue" if value.is_empty() => {}
                "resourceVersion" => query.resource_version = Some(number(&name, value)?),
                "resourceVersionMatch" => {
                    use VersionMatch::{Exact, NotOlderThan};
                    let choices = [("", None), ("Exact", Some(Exact)), ("NotOlderThan", Some(NotOlderThan))];
                    query.resource_version_match = choice(&name, value, choices)?;
                }
                "limit" => query.limit = usize::try_from(number::<i64>(&name, value)?).ok().filter(|limit| *limit > 0),
                "continue" => query.continuation = Some(Continuation::decode(value)?),
                "timeoutSeconds" => query.timeout = Some(Duration::from_secs(number(&name, value)?)),
                "gracePeriodSeconds" => query.grace_period_seconds = Some(number(&name, value)?),
                "includeObject" => {
                    use IncludeObject::{Metadata, Nothing, Whole};
                    let choices = [("", Metadata), ("Metadata", Metadata), ("None", Nothing), ("Object", Whole)];
                    query.include_object = choice(&name, value, choices)?;
                }
                "fieldValidation" => {
                    use FieldValidation::{Ignore, Strict, Warn};
                    let choices = [("", Warn), ("Ignore", Ignore), ("Warn", Warn), ("Strict", Strict)];
                    query.field_validation = choice(&name, value, choices)?;
                }
                "fieldManager" => query.field_manager = Some(value.to_owned()).filter(|it| !it.is_empty()),
                "force" => query.force = Some(boolean(value)),
                "dryRun" => query.dry_run = dry_run(value)?,
                _ => {}
            }
        }
        query.check()?;
        Ok(query)
    }

    pub(super) fn options<'a>(&'a self, options: WriteOptions<'a>) -> WriteOptions<'a> {
        let manager = self.field_manager.as_deref().unwrap_or(&self.agent);
        WriteOptions {
            refused_create: self.refused_create.as_ref(),
            ..options.of_client(manager, self.field_validation)
        }
    }

    /// Sets the manager of requests without `fieldManager`: the `User-Agent` up to the first slash.
    pub(super) fn set_agent(&mut self, user_agent: &str) {
        let name = user_agent.split('/').next().filter(|name| !name.is_empty()).unwrap_or("unknown");
        self.agent = name.chars().take(MAX_MANAGER_LENGTH).collect();
    }

    /// Returns the client that applies a configuration. Fails with 400 if `fieldManager` is absent.
    pub(super) fn applier(&self) -> Result<Applier<'_>, StatusError> {
        let manager = self.field_manager.as_deref();
        let manager = manager.ok_or_else(|| StatusError::bad_request("fieldManager is required for apply patch"))?;
        Ok(Applier { manager, force: self.force == Some(true) })
    }

    /// Checks the options of lists and watches. Fails with 422 if they exclude each other.
    fn check(&self) -> Result<(), StatusError> {
        let mut errors = FieldErrors::default();
        if self.watch {
            if self.send_initial_events.is_some() && self.resource_version_match != Some(VersionMatch::NotOlderThan) {
                errors.forbidden(
                    "resourceVersionMatch",
                    "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
                );
            }
            if self.send_initial_events.is_none() && self.resource_version_match.is_some() {
                let detail = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
                errors.forbidden("resourceVersionMatch", detail);
            }
        } else if self.continuation.is_some() {
            if self.resource_version_match.is_some() {
                errors.forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
            }
            if !matches!(self.resource_version, None | Some(0)) {
                return Err(StatusError::bad_request("specifying resource version is not allowed when using continue"));
            }
        } else {
            if self.send_initial_events.is_some() {
                errors.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
            }
            match (self.resource_version_match, self.resource_version) {
                (Some(_), None) => errors.forbidden(
                    "resourceVersionMatch",
                    "resourceVersionMatch is forbidden unless resourceVersion is provided",
                ),
                (Some(VersionMatch::Exact), Some(0)) => errors.forbidden(
                    "resourceVersionMatch",
                    "resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\"",
                ),
                _ => {}
            }
        }
        StatusError::check_options("ListOptions", &errors)
    }
}

/// Parses a boolean as Go's `runtime.Convert_Slice_string_To_bool`: only `false` and `0` are false.
pub(super) fn boolean(value: &str) -> bool {
    !matches!(value.to_ascii_lowercase().as_str(), "false" | "0")
}

fn number<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, StatusError> {
    value
        .parse()
        .map_err(|_| StatusError::bad_request(format!("invalid query parameter {name}: {value:?} is not a number")))
}

/// Parses `dryRun`; the only valid value is `All`.
pub(super) fn dry_run(value: &str) -> Result<bool, StatusError> {
    choice("dryRun", value, [("", false), ("All", true)])
}

/// Returns what a value of a parameter means.
fn choice<T, const N: usize>(name: &str, value: &str, choices: [(&str, T); N]) -> Result<T, StatusError> {
    let found = choices.into_iter().find(|(text, _)| *text == value);
    found
        .map(|(_, meaning)| meaning)
        .ok_or_else(|| StatusError::bad_request(format!("{name}: unsupported value {value:?}")))
}
