//! Resource usage of a process.

use std::time::Duration;

use procfs::{ProcResult, process::Process};
use serde::{Serialize, Serializer};

/// Resource usage of a process with all of its threads, from `/proc`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Usage {
    /// CPU time in user and kernel mode, from `/proc/PID/stat`. Its resolution is the kernel's tick, usually 10 ms.
    #[serde(rename = "cpuSeconds", serialize_with = "seconds")]
    pub(crate) cpu: Duration,
    /// Peak resident memory in KiB, `VmHWM` of `/proc/PID/status`.
    pub(crate) peak_kib: u64,
}

fn seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

impl Usage {
    /// Returns the usage of a process so far.
    pub(crate) fn of(process: &Process) -> ProcResult<Self> {
        let (stat, status) = (process.stat()?, process.status()?);
        let per_second = procfs::ticks_per_second().max(1);
        let milliseconds = (stat.utime + stat.stime).saturating_mul(1_000) / per_second;
        Ok(Self { cpu: Duration::from_millis(milliseconds), peak_kib: status.vmhwm.unwrap_or_default() })
    }

    /// Returns the usage since an earlier one: the difference of the CPU times, and this peak.
    pub(crate) fn since(self, before: Self) -> Self {
        Self { cpu: self.cpu.saturating_sub(before.cpu), ..self }
    }
}
