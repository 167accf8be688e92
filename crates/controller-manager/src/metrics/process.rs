//! Process metrics from `/proc`, with the names and help texts of the collector of Prometheus' Go client
//! (`client_golang`).

use procfs::net::DeviceStatus;
use procfs::process::{LimitValue, Process};
use procfs::{ProcResult, boot_time_secs, page_size, ticks_per_second};
use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{Counter, Gauge, Opts};

// Counters: name and help text.
const CPU: (&str, &str) = ("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.");
const RECEIVED: (&str, &str) =
    ("process_network_receive_bytes_total", "Number of bytes received by the process over the network.");
const SENT: (&str, &str) =
    ("process_network_transmit_bytes_total", "Number of bytes sent by the process over the network.");
// Gauges: name and help text.
const OPEN_FILES: (&str, &str) = ("process_open_fds", "Number of open file descriptors.");
const MAX_FILES: (&str, &str) = ("process_max_fds", "Maximum number of open file descriptors.");
const RESIDENT: (&str, &str) = ("process_resident_memory_bytes", "Resident memory size in bytes.");
const VIRTUAL: (&str, &str) = ("process_virtual_memory_bytes", "Virtual memory size in bytes.");
const MAX_VIRTUAL: (&str, &str) =
    ("process_virtual_memory_max_bytes", "Maximum amount of virtual memory available in bytes.");
const STARTED: (&str, &str) = ("process_start_time_seconds", "Start time of the process since unix epoch in seconds.");

/// Collector that reads `/proc` on every scrape. After the first value that cannot be read, the rest is left out.
#[derive(Debug)]
pub(super) struct ProcessMetrics {
    descriptions: Vec<Desc>,
}

impl ProcessMetrics {
    pub(super) fn new() -> prometheus::Result<Self> {
        let all = [CPU, RECEIVED, SENT, OPEN_FILES, MAX_FILES, RESIDENT, VIRTUAL, MAX_VIRTUAL, STARTED];
        let described = |(name, help): (&str, &str)| Desc::new(name.into(), help.into(), Vec::new(), [].into());
        Ok(Self { descriptions: all.into_iter().map(described).collect::<prometheus::Result<_>>()? })
    }
}

impl Collector for ProcessMetrics {
    fn desc(&self) -> Vec<&Desc> {
        self.descriptions.iter().collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let mut families = Families::default();
        if let Err(error) = families.collect_all() {
            tracing::debug!(err = %error, "Unable to read all process metrics");
        }
        families.0
    }
}

#[derive(Default)]
struct Families(Vec<MetricFamily>);

impl Families {
    fn collect_all(&mut self) -> ProcResult<()> {
        let process = Process::myself()?;
        let (stat, limits) = (process.stat()?, process.limits()?);
        let seconds = |ticks: u64| float(ticks) / float(ticks_per_second());
        self.counter(CPU, seconds(stat.utime + stat.stime));
        self.gauge(STARTED, float(boot_time_secs()?) + seconds(stat.starttime));
        self.gauge(RESIDENT, float(stat.rss * page_size()));
        self.gauge(VIRTUAL, float(stat.vsize));
        self.gauge(MAX_VIRTUAL, limit(limits.max_address_space.soft_limit));
        self.gauge(MAX_FILES, limit(limits.max_open_files.soft_limit));
        self.gauge(OPEN_FILES, float(process.fd_count()? as u64));
        let devices: Vec<DeviceStatus> = process.dev_status()?.into_values().collect();
        self.counter(RECEIVED, float(devices.iter().map(|device| device.recv_bytes).sum()));
        self.counter(SENT, float(devices.iter().map(|device| device.sent_bytes).sum()));
        Ok(())
    }

    fn counter(&mut self, (name, help): (&str, &str), value: f64) {
        if let Ok(counter) = Counter::with_opts(Opts::new(name, help)) {
            counter.inc_by(value.max(0.0));
            self.0.extend(counter.collect());
        }
    }

    fn gauge(&mut self, (name, help): (&str, &str), value: f64) {
        if let Ok(gauge) = Gauge::with_opts(Opts::new(name, help)) {
            gauge.set(value);
            self.0.extend(gauge.collect());
        }
    }
}

/// Returns a limit as a number; unlimited is `u64::MAX`, as in `client_golang`.
fn limit(limit: LimitValue) -> f64 {
    match limit {
        LimitValue::Unlimited => float(u64::MAX),
        LimitValue::Value(value) => float(value),
    }
}

fn float(number: u64) -> f64 {
    // Samples are 64-bit floats in any case: integers above 2^53 are rounded.
    #[expect(clippy::cast_precision_loss)]
    let float = number as f64;
    float
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_process_metrics_can_be_read() {
        let metrics = ProcessMetrics::new().unwrap();
        let mut described: Vec<String> = metrics.desc().into_iter().map(|desc| desc.fq_name.clone()).collect();
        let mut read: Vec<String> = metrics.collect().into_iter().map(|family| family.name().to_owned()).collect();
        described.sort();
        read.sort();
        assert_eq!(read, described);
    }
}
