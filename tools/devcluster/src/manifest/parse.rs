//! Parsing of manifests into objects.

use serde_json::{Map, Value};

use super::{ManifestError, Object, Origin, split};

/// Syntax of a manifest, selected by the file's extension: a stream of JSON values without separators is not valid
/// YAML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// `*.json`: a stream of JSON values.
    Json,
    /// Any other extension: a stream of YAML documents, which includes JSON documents.
    Yaml,
}

/// Parses the objects of a file, in order. Lists are replaced by their items.
pub(crate) fn objects(file: &str, syntax: Syntax, text: &str) -> Result<Vec<Object>, ManifestError> {
    let documents = match syntax {
        Syntax::Json => json_documents(file, text)?,
        Syntax::Yaml => yaml_documents(file, text)?,
    };
    let mut objects = Vec::new();
    for (origin, value) in documents {
        unfold(origin, value, &mut objects)?;
    }
    Ok(objects)
}

fn yaml_documents(file: &str, text: &str) -> Result<Vec<(Origin, Value)>, ManifestError> {
    let pieces = split::documents(text).into_iter().enumerate();
    pieces
        .map(|(at, piece)| {
            let line = first_line(piece.line, piece.text);
            let mut origin = Origin { file: file.to_owned(), document: at + 1, line, item: None };
            let options = serde_saphyr::options! { with_snippet: false };
            match serde_saphyr::from_str_with_options::<Value>(piece.text, options) {
                Ok(value) => Ok((origin, value)),
                Err(error) => {
                    if let Some(location) = error.location() {
                        origin.line = piece.line + usize::try_from(location.line()).unwrap_or(1).saturating_sub(1);
                    }
                    Err(ManifestError::Syntax { origin, cause: yaml_error(&error) })
                }
            }
        })
        .collect()
}

/// Returns the number of the first line that is not blank, a comment or a directive; `line` is the number of the first
/// line of `text`.
fn first_line(line: usize, text: &str) -> usize {
    let skipped =
        text.lines().map(str::trim).take_while(|line| line.is_empty() || line.starts_with(['#', '%'])).count();
    line + skipped
}

/// Returns the parser's message without its line number, which is relative to the document instead of the file.
fn yaml_error(error: &serde_saphyr::Error) -> String {
    let text = error.to_string();
    let text = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let text = match text.strip_prefix("error: ").unwrap_or(text).split_once(" at line ") {
        Some((before, _)) => before,
        None => text,
    };
    format!("not YAML: {text}")
}

fn json_documents(file: &str, text: &str) -> Result<Vec<(Origin, Value)>, ManifestError> {
    let mut documents = Vec::new();
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    loop {
        let rest = &text[values.byte_offset()..];
        let begin = values.byte_offset() + rest.len() - rest.trim_start().len();
        let line = 1 + text[..begin].matches('\n').count();
        let origin = Origin { file: file.to_owned(), document: documents.len() + 1, line, item: None };
        match values.next() {
            None => return Ok(documents),
            Some(Ok(value)) => documents.push((origin, value)),
            Some(Err(error)) => {
                let cause = error.to_string();
                let cause = cause.split_once(" at line ").map_or(cause.as_str(), |(before, _)| before);
                let cause = format!("not JSON: {cause}");
                return Err(ManifestError::Syntax { origin: Origin { line: error.line(), ..origin }, cause });
            }
        }
    }
}

/// Appends the object, or the items of a list, to `objects`.
fn unfold(origin: Origin, value: Value, objects: &mut Vec<Object>) -> Result<(), ManifestError> {
    let Value::Object(mut fields) = value else {
        let cause = "not a Kubernetes object: expected a mapping with apiVersion and kind".to_owned();
        return Err(ManifestError::Shape { origin, cause });
    };
    let is_list = fields.get("kind").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("List"));
    if !is_list || !fields.get("items").is_some_and(Value::is_array) {
        objects.push(object(origin, fields)?);
        return Ok(());
    }
    // Items of a typed list from an API server have no `kind` and `apiVersion`; they are derived from the list's.
    let item_kind = fields.get("kind").and_then(Value::as_str).and_then(|kind| kind.strip_suffix("List"));
    let item_kind = item_kind.filter(|kind| !kind.is_empty()).map(str::to_owned);
    let api_version = fields.get("apiVersion").cloned();
    let Some(Value::Array(items)) = fields.remove("items") else { return Ok(()) };
    for (at, mut item) in items.into_iter().enumerate() {
        if let (Some(kind), Value::Object(item)) = (&item_kind, &mut item) {
            item.entry("kind").or_insert_with(|| kind.clone().into());
            item.entry("apiVersion").or_insert_with(|| api_version.clone().unwrap_or_default());
        }
        let origin = Origin { item: Some(at + 1), ..origin.clone() };
        unfold(origin, item, objects)?;
    }
    Ok(())
}

fn object(origin: Origin, fields: Map<String, Value>) -> Result<Object, ManifestError> {
    let required = |value: Option<&Value>, name: &str| match value {
        Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
        Some(Value::String(_) | Value::Null) | None => Err(format!("{name} is missing")),
        Some(_) => Err(format!("{name} must be a string")),
    };
    let optional = |value: Option<&Value>, name: &str| match value {
        Some(Value::Null) | None => Ok(None),
        some => required(some, name).map(Some),
    };
    let read = || {
        let api_version = required(fields.get("apiVersion"), "apiVersion")?;
        let kind = required(fields.get("kind"), "kind")?;
        let Some(Value::Object(metadata)) = fields.get("metadata") else {
            return Err(format!("metadata of the {kind} is missing"));
        };
        let name = optional(metadata.get("name"), "metadata.name")?;
        let generate_name = optional(metadata.get("generateName"), "metadata.generateName")?;
        if name.is_none() && generate_name.is_none() {
            return Err(format!("metadata.name of the {kind} is missing"));
        }
        let namespace = optional(metadata.get("namespace"), "metadata.namespace")?;
        Ok((api_version, kind, namespace, name))
    };
    match read() {
        Ok((api_version, kind, namespace, name)) => Ok(Object { origin, api_version, kind, namespace, name, fields }),
        Err(cause) => Err(ManifestError::Shape { origin, cause }),
    }
}
