//! Groups of objects, by which an index has the frames that concern a reader.

use kube_endpoint_model::{Labels, ObjectKey, ObjectMeta, ResourceVersion, Text, Uid, well_known};
use kube_wire::Object as _;

use crate::codec::{Input, Malformed, Output};
use crate::delta::{Delta, each_label};
use crate::object::{Kind, Recorded, read_kind};

/// Objects that a reader of one Service reads together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Group {
    /// A Service, its Endpoints and its slices.
    Service(ObjectKey),
    /// The Pods of a namespace with these labels.
    Pods(Text, Labels),
    /// All Nodes.
    Nodes,
    /// Times for which nothing is known, and writes of unknown objects. They concern every reader.
    Gaps,
}

/// The same without texts of its own: a reader compares thousands of groups, and wants few.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GroupRef<'a> {
    /// A Service: namespace and name.
    Service(&'a [u8], &'a [u8]),
    /// The Pods of a namespace with these labels.
    Pods(&'a [u8], LabelsRef<'a>),
    Nodes,
    Gaps,
}

/// Labels as they are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelsRef<'a>(Input<'a>);

impl Group {
    /// Returns the group of an object that is not recorded. Labels of Pods and Services of slices are then unknown.
    pub(crate) fn of_unknown(kind: Kind, key: &ObjectKey) -> Group {
        match kind {
            Kind::Service | Kind::Endpoints => Group::Service(key.clone()),
            Kind::Node => Group::Nodes,
            Kind::Pod | Kind::EndpointSlice => Group::Gaps,
        }
    }

    pub(crate) fn write(&self, out: &mut Output) {
        match self {
            Group::Service(key) => {
                out.byte(0);
                out.bytes(key.namespace.as_bytes());
                out.bytes(key.name.as_bytes());
            }
            Group::Pods(namespace, labels) => {
                out.byte(1);
                out.bytes(namespace.as_bytes());
                labels.write(&Labels::default(), out);
            }
            Group::Nodes => out.byte(2),
            Group::Gaps => out.byte(3),
        }
    }
}

impl<'a> GroupRef<'a> {
    /// Reads what [`Group::write`] has written.
    pub(crate) fn read(input: &mut Input<'a>) -> Result<GroupRef<'a>, Malformed> {
        Ok(match input.byte()? {
            0 => GroupRef::Service(input.bytes()?, input.bytes()?),
            1 => {
                let (namespace, labels) = (input.bytes()?, *input);
                each_label(input, |_, _| ())?;
                GroupRef::Pods(namespace, LabelsRef(labels))
            }
            2 => GroupRef::Nodes,
            3 => GroupRef::Gaps,
            _ => return Err(Malformed("unknown group of objects")),
        })
    }
}

impl GroupRef<'_> {
    /// Returns what `read` makes of the group of an object that was written whole. Of the object, the first fields are decoded:
    /// a state has the objects of many groups.
    pub(crate) fn of_whole<T>(mut body: Input<'_>, read: impl FnOnce(GroupRef<'_>) -> T) -> Result<T, Malformed> {
        let kind = read_kind(&mut body)?;
        let mut fields = Fields { mask: body.number()?, body };
        Ok(match kind {
            Kind::Service => read(GroupRef::Service(fields.text()?, fields.text()?)),
            Kind::Pod => {
                let (namespace, _) = (fields.text()?, fields.text()?);
                fields.value::<Uid>()?;
                fields.value::<ResourceVersion>()?;
                let labels = if fields.next() { fields.body } else { Input::new(LabelsRef::NONE) };
                read(GroupRef::Pods(namespace, LabelsRef(labels)))
            }
            Kind::Node => read(GroupRef::Nodes),
            Kind::Endpoints => {
                let metadata = fields.value::<ObjectMeta>()?;
                read(GroupRef::Service(metadata.namespace.as_bytes(), metadata.name.as_bytes()))
            }
            Kind::EndpointSlice => {
                let metadata = fields.value::<ObjectMeta>()?;
                let service = metadata.labels.get(well_known::SERVICE_NAME_LABEL).unwrap_or_default();
                read(GroupRef::Service(metadata.namespace.as_bytes(), service.as_bytes()))
            }
        })
    }
}

/// The fields of an object that was written whole.
struct Fields<'a> {
    /// Which of the next fields differ from their default.
    mask: u64,
    body: Input<'a>,
}

impl<'a> Fields<'a> {
    fn next(&mut self) -> bool {
        let has_next = self.mask & 1 == 1;
        self.mask >>= 1;
        has_next
    }

    fn value<T: Delta + Default>(&mut self) -> Result<T, Malformed> {
        if self.next() { T::read(&T::default(), &mut self.body) } else { Ok(T::default()) }
    }

    fn text(&mut self) -> Result<&'a [u8], Malformed> {
        match self.next() {
            false => Ok(&[]),
            true if self.body.number()? == 0 => self.body.bytes(),
            true => Err(Malformed("text begins with more than there was")),
        }
    }
}

impl LabelsRef<'_> {
    /// No labels.
    const NONE: &'static [u8] = &[0; 3];

    /// Returns whether the labels have all pairs of a selector.
    pub(crate) fn contain(mut self, selector: &Labels) -> bool {
        let mut found = 0;
        let read = each_label(&mut self.0, |key, value| {
            let is_selected = |(wanted, of): (&str, &str)| wanted.as_bytes() == key && of.as_bytes() == value;
            found += usize::from(selector.iter().any(is_selected));
        });
        read.is_ok() && found == selector.iter().len()
    }
}

impl Recorded {
    pub(crate) fn group(&self) -> Group {
        match self {
            Recorded::Service(service) => Group::Service(service.key()),
            Recorded::Endpoints(endpoints) => Group::Service(endpoints.key()),
            Recorded::EndpointSlice(slice) => {
                let service = slice.service_name().unwrap_or_default();
                Group::Service(ObjectKey { namespace: slice.metadata.namespace.clone(), name: service.into() })
            }
            Recorded::Pod(pod) => Group::Pods(pod.namespace.clone(), pod.labels.clone()),
            Recorded::Node(_) => Group::Nodes,
        }
    }

    /// Returns whether [`group`](Self::group) is the same, without building it.
    pub(crate) fn is_of_group(&self, group: &Group) -> bool {
        match (self, group) {
            (Recorded::Service(service), Group::Service(key)) => service.name == key.name,
            (Recorded::Endpoints(endpoints), Group::Service(key)) => endpoints.metadata.name == key.name,
            (Recorded::EndpointSlice(slice), Group::Service(key)) => {
                slice.service_name().unwrap_or_default() == key.name
            }
            (Recorded::Pod(pod), Group::Pods(_, labels)) => pod.labels == *labels,
            (Recorded::Node(_), Group::Nodes) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kube_endpoint_model::{EndpointSlice, Endpoints, Node, Pod, Service};
    use rstest::rstest;

    use super::*;

    fn meta(name: &str, labels: &[(&str, &str)]) -> ObjectMeta {
        let annotations = [("note", "web")].into_iter().collect();
        let (namespace, labels) = ("shop".into(), labels.iter().copied().collect());
        ObjectMeta { namespace, name: name.into(), annotations, labels, ..ObjectMeta::default() }
    }

    #[rstest]
    #[case::service(Arc::new(Service { namespace: "shop".into(), name: "web".into(), ..Service::default() }))]
    #[case::nameless(Arc::new(Service::default()))]
    #[case::pod(Arc::new(Pod {
        namespace: "shop".into(),
        uid: "0e6b7a2c-35f4-4ca7-8a2d-5b1c8f0d9e11".into(),
        resource_version: 7_u64.into(),
        labels: [("app", "web")].into_iter().collect(),
        ready: true,
        ..Pod::default()
    }))]
    #[case::pod_without_labels(Arc::new(Pod { namespace: "shop".into(), name: "web-0".into(), ..Pod::default() }))]
    #[case::node(Arc::new(Node { name: "node-1".into(), ..Node::default() }))]
    #[case::endpoints(Arc::new(Endpoints { metadata: meta("web", &[]), subsets: Vec::new() }))]
    #[case::slice(Arc::new(EndpointSlice {
        metadata: meta("web-x", &[(well_known::SERVICE_NAME_LABEL, "web")]), ..EndpointSlice::default()
    }))]
    #[case::slice_of_no_service(Arc::new(EndpointSlice { metadata: meta("web-x", &[]), ..EndpointSlice::default() }))]
    fn the_group_of_a_written_object_is_that_of_the_object(#[case] object: impl Into<Recorded>) {
        let (object, mut out) = (object.into(), Output::default());
        object.write(&mut out);
        let text = |bytes: &[u8]| Text::from(str::from_utf8(bytes).expect("text"));
        let owned = |group: GroupRef<'_>| match group {
            GroupRef::Service(namespace, name) => {
                Group::Service(ObjectKey { namespace: text(namespace), name: text(name) })
            }
            GroupRef::Pods(namespace, LabelsRef(mut labels)) => {
                Group::Pods(text(namespace), Labels::read(&Labels::default(), &mut labels).expect("labels"))
            }
            GroupRef::Nodes => Group::Nodes,
            GroupRef::Gaps => Group::Gaps,
        };
        assert_eq!(GroupRef::of_whole(Input::new(out.as_slice()), owned), Ok(object.group()));
    }

    #[rstest]
    #[case::all(&[("app", "web"), ("tier", "front")], true)]
    #[case::some(&[("tier", "front")], true)]
    #[case::none(&[], true)]
    #[case::another_value(&[("app", "we")], false)]
    #[case::another_key(&[("app", "web"), ("zone", "a")], false)]
    fn written_labels_are_selected_as_those_of_a_pod(#[case] selector: &[(&str, &str)], #[case] expected: bool) {
        let labels: Labels = [("app", "web"), ("application", "web-2"), ("tier", "front")].into_iter().collect();
        let (selector, mut out) = (selector.iter().copied().collect::<Labels>(), Output::default());
        Group::Pods("shop".into(), labels.clone()).write(&mut out);
        let mut input = Input::new(out.as_slice());
        let Ok(GroupRef::Pods(b"shop", written)) = GroupRef::read(&mut input) else { panic!("Pods of shop") };
        assert!(input.is_empty());
        assert_eq!((written.contain(&selector), labels.contains_all(&selector)), (expected, expected));
    }
}
