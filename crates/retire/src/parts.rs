//! Parts of Pods and Endpoints that no controller reads: programs, and field managers.

use jiff::Timestamp;
use kube_endpoint_model::{ManagedFields, ManagedFieldsEntry, Part, Text};
use kube_wire::protobuf::fields::{object, object_meta};
use kube_wire::protobuf::{Field, Fields, MalformedProtobuf};
use kube_wire::{DecodeError, json};
use serde::Deserialize;

use crate::known::{KnownProgram, Reading};

/// Field numbers of `core.v1.PodSpec` and `core.v1.Container`.
mod pod_fields {
    pub(super) const CONTAINERS: u32 = 2;
    pub(super) const SERVICE_ACCOUNT: u32 = 8;
    pub(super) const INIT_CONTAINERS: u32 = 20;
    pub(super) const IMAGE: u32 = 2;
    pub(super) const COMMAND: u32 = 3;
    pub(super) const ARGUMENTS: u32 = 4;
}

/// What a Pod runs, for [`kube_endpoint_model::With`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodProgram {
    /// `spec.serviceAccountName`.
    pub service_account: Text,
    /// Time of its creation.
    pub created: Option<Timestamp>,
    /// Containers of known programs that read Endpoints.
    pub known: Vec<KnownContainer>,
}

/// A container of a known program that reads Endpoints.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownContainer {
    /// The program.
    pub program: &'static KnownProgram,
    /// Whether it reads Endpoints.
    pub reading: Reading,
    /// Image.
    pub image: String,
}

/// Who has written an object, and how long it is, for [`kube_endpoint_model::With`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// Entries of `metadata.managedFields`.
    pub managers: Vec<ManagedFieldsEntry>,
    /// Length of the object as it was received, in bytes.
    pub length: usize,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PodDocument {
    metadata: Metadata,
    spec: Option<Spec>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    creation_timestamp: Option<Timestamp>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    service_account_name: Option<String>,
    containers: Option<Vec<Container>>,
    init_containers: Option<Vec<Container>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Container {
    image: Option<String>,
    command: Option<Vec<String>>,
    args: Option<Vec<String>>,
}

impl Container {
    fn known(&self) -> Option<KnownContainer> {
        let image = self.image.as_deref()?;
        let program = KnownProgram::of_image(image)?;
        let words = [&self.command, &self.args].into_iter().flatten().flatten().map(String::as_str);
        let reading = program.reading(image, words)?;
        Some(KnownContainer { program, reading, image: image.to_owned() })
    }
}

impl Part for PodProgram {
    const PROTOBUF: bool = true;
    const READS_MANAGED_FIELDS: bool = false;

    fn from_json(kind: &str, bytes: &[u8]) -> Result<Self, DecodeError> {
        let PodDocument { metadata, spec } = json::from_slice(kind, bytes)?;
        let spec = spec.unwrap_or_default();
        let containers = [&spec.containers, &spec.init_containers].into_iter().flatten().flatten();
        Ok(PodProgram {
            service_account: spec.service_account_name.as_deref().unwrap_or_default().into(),
            created: metadata.creation_timestamp,
            known: containers.filter_map(Container::known).collect(),
        })
    }

    fn from_protobuf(kind: &str, bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut program = PodProgram::default();
        read_pod(&mut program, bytes).map_err(|error| error.reading(kind))?;
        Ok(program)
    }
}

fn read_pod(program: &mut PodProgram, bytes: &[u8]) -> Result<(), MalformedProtobuf> {
    for field in Fields::new(bytes) {
        let field = field?;
        match field.number {
            object::METADATA => {
                for field in field.message()? {
                    let field = field?;
                    if field.number == object_meta::CREATION_TIMESTAMP {
                        program.created = time(&field)?;
                    }
                }
            }
            object::SPEC => {
                for field in field.message()? {
                    let field = field?;
                    match field.number {
                        pod_fields::SERVICE_ACCOUNT => program.service_account = (&*field.text()?).into(),
                        pod_fields::CONTAINERS | pod_fields::INIT_CONTAINERS => {
                            program.known.extend(read_container(field.message()?)?);
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn read_container(fields: Fields<'_>) -> Result<Option<KnownContainer>, MalformedProtobuf> {
    let (mut image, mut program, mut words) = (None, None, Vec::new());
    for field in fields {
        let field = field?;
        match field.number {
            pod_fields::IMAGE => {
                let text = field.text()?;
                program = KnownProgram::of_image(&text);
                image = Some(text);
            }
            pod_fields::COMMAND | pod_fields::ARGUMENTS => words.push(field.text()?),
            _ => {}
        }
    }
    let (Some(image), Some(program)) = (image, program) else { return Ok(None) };
    let reading = program.reading(&image, words.iter().map(|word| &**word));
    Ok(reading.map(|reading| KnownContainer { program, reading, image: image.into_owned() }))
}

fn time(field: &Field<'_>) -> Result<Option<Timestamp>, MalformedProtobuf> {
    Ok(field.time()?.and_then(|time| Timestamp::from_second(time.seconds).ok()))
}

impl Part for Written {
    const PROTOBUF: bool = true;

    fn from_json(kind: &str, bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(Written { managers: ManagedFields::from_json(kind, bytes)?.entries, length: bytes.len() })
    }

    fn from_protobuf(kind: &str, bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(Written { managers: ManagedFields::from_protobuf(kind, bytes)?.entries, length: bytes.len() })
    }
}

#[cfg(test)]
mod tests {
    use kube_wire::protobuf::Writer;
    use serde_json::json;

    use super::*;

    const CREATED: &str = "2026-11-27T14:00:00Z";

    fn seconds() -> Option<i64> {
        CREATED.parse::<Timestamp>().ok().map(Timestamp::as_second)
    }

    #[test]
    fn both_encodings_of_a_pod_have_the_same_program() {
        let pod = json!({
            "metadata": {"name": "p", "creationTimestamp": CREATED},
            "spec": {"serviceAccountName": "ksm", "containers": [
                {"name": "a", "image": "nginx:1"},
                {"name": "b", "image": "k/kube-state-metrics:v2.1.0", "args": ["--resources", "endpoints"]},
                {"name": "c", "image": "k/kube-state-metrics:v2.1.0", "args": ["--resources=pods"]},
            ]},
        });
        let mut message = Writer::default();
        message.message(1, |metadata| {
            metadata.text(1, "p");
            metadata.time(8, seconds());
        });
        message.message(2, |spec| {
            for (image, words) in [
                ("nginx:1", vec![]),
                ("k/kube-state-metrics:v2.1.0", vec!["--resources", "endpoints"]),
                ("k/kube-state-metrics:v2.1.0", vec!["--resources=pods"]),
            ] {
                spec.message(2, |container| {
                    container.text(2, image);
                    for word in words {
                        container.text(4, word);
                    }
                });
            }
            spec.text(8, "ksm");
        });
        let program = PodProgram::from_json("Pod", pod.to_string().as_bytes()).unwrap();
        assert_eq!(PodProgram::from_protobuf("Pod", message.as_bytes()).unwrap(), program);
        assert_eq!((&*program.service_account, program.known.len()), ("ksm", 1));
        assert_eq!(program.created.map(|it| it.to_string()).as_deref(), Some(CREATED));
    }

    #[test]
    fn both_encodings_of_endpoints_have_the_same_managers() {
        let object = json!({"metadata": {"managedFields": [{"manager": "kubectl-edit", "time": CREATED}, {}]}});
        let mut message = Writer::default();
        message.message(1, |metadata| {
            metadata.message(17, |entry| {
                entry.text(1, "kubectl-edit");
                entry.time(4, seconds());
            });
            metadata.message(17, |_| {});
        });
        let written = Written::from_json("Endpoints", object.to_string().as_bytes()).unwrap();
        let decoded = Written::from_protobuf("Endpoints", message.as_bytes()).unwrap();
        assert_eq!((decoded.managers, decoded.length), (written.managers.clone(), message.as_bytes().len()));
        assert_eq!(written.managers.len(), 2);
    }
}
