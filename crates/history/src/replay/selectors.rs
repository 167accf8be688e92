//! The selectors that the selected Service has in a segment.

use std::collections::HashMap;

use kube_endpoint_model::{Labels, ObjectKey};

use super::Replay;
use crate::change::{Operation, Record};
use crate::codec::{Input, Malformed};
use crate::error::ReadError;
use crate::lookup::Lookup;
use crate::object::{Kind, Recorded};
use crate::select::Select;

/// Longest content of frames that a replay keeps to read it once more, in bytes.
const UNPACKED: usize = 8 << 20;

impl Replay<'_> {
    /// Returns the selectors of the selected Service in a segment.
    pub(super) fn selectors_in(&mut self, segment: usize, lookup: &Lookup) -> Result<Vec<Labels>, ReadError> {
        self.unpacked.clear();
        let Select::Service(key) = &self.select else { return Ok(Vec::new()) };
        let (mut selectors, mut services, mut bytes) = (Vec::new(), HashMap::new(), 0);
        if self.archive.header(segment).unknown.contains(&Kind::Service)
            && let Some(Recorded::Service(known)) = self.objects.get(&(Kind::Service, key.clone()))
        {
            selectors.extend(known.selector.clone());
        }
        for frame in lookup.frames_of(|group| self.select.is_service(group)) {
            // The replay finds damage again where it is, and reads nothing after it.
            let mut records = match self.archive.records(segment, frame) {
                Err(ReadError::Damaged { .. }) => break,
                records => records?,
            };
            let mut read = || {
                while let Some(record) = records.next()? {
                    read_selector(key, record, &mut services, &mut selectors)?;
                }
                Ok::<(), Malformed>(())
            };
            if read().is_err() {
                break;
            }
            let content = records.into_content();
            bytes += content.len();
            if bytes <= UNPACKED {
                self.unpacked.insert(frame.offset, content);
            }
        }
        selectors.sort();
        selectors.dedup();
        Ok(selectors)
    }
}

/// Adds the selector that a Service has after a record, and keeps its state.
fn read_selector(
    key: &ObjectKey,
    mut record: Record<'_>,
    services: &mut HashMap<u64, Recorded>,
    selectors: &mut Vec<Labels>,
) -> Result<(), Malformed> {
    let is_service = |body: &Input<'_>| body.rest().first() == Some(&(Kind::Service as u8));
    let service = match (record.operation, services.get(&record.object)) {
        (Operation::Whole, _) if is_service(&record.body) => Recorded::read(&mut record.body)?,
        (Operation::Difference, Some(before)) => before.read_difference(&mut record.body)?,
        (Operation::Whole | Operation::Removed, _) => {
            services.remove(&record.object);
            return Ok(());
        }
        (Operation::Difference | Operation::Gap, _) => return Ok(()),
    };
    if service.is(Kind::Service, key)
        && let Recorded::Service(now) = &service
    {
        selectors.extend(now.selector.clone());
        services.insert(record.object, service);
    } else {
        services.remove(&record.object);
    }
    Ok(())
}
