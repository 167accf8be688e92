//! Formats `tracing` events as klog text lines or as JSON lines.

use std::fmt::{self, Debug};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Number, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Format of a log line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// klog's text format:
    /// `I1121 11:55:54.123456       1 manager.rs:50] "Starting controllers" server="https://10.0.0.1"`.
    #[default]
    Text,
    /// A JSON object with `ts` (milliseconds since the Unix epoch), `caller`, `msg`, `v` (absent for errors) and the
    /// fields of the event under their own keys, as upstream's JSON format.
    Json,
}

/// Event formatter: one line per event.
pub(super) struct LineFormatter {
    pub(super) format: LogFormat,
    pub(super) now: fn() -> Timestamp,
    pub(super) pid: u32,
}

impl<S, N> FormatEvent<S, N> for LineFormatter
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut line: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut fields = Fields::default();
        event.record(&mut fields);
        match self.format {
            LogFormat::Text => self.text(&mut line, event.metadata(), &fields),
            LogFormat::Json => self.json(&mut line, event.metadata(), &fields),
        }
    }
}

impl LineFormatter {
    fn text(&self, line: &mut Writer<'_>, metadata: &Metadata<'_>, fields: &Fields) -> fmt::Result {
        let severity = match *metadata.level() {
            Level::ERROR => 'E',
            Level::WARN => 'W',
            _ => 'I',
        };
        let at = (self.now)().to_zoned(TimeZone::UTC);
        let (file, number) = caller(metadata);
        write!(
            line,
            "{severity}{} {:>7} {file}:{number}] {:?}",
            at.strftime("%m%d %H:%M:%S%.6f"),
            self.pid,
            fields.message
        )?;
        for (key, value) in &fields.pairs {
            match value {
                Value::String(text) => write!(line, " {key}={text:?}")?,
                value => write!(line, " {key}={value}")?,
            }
        }
        writeln!(line)
    }

    fn json(&self, line: &mut Writer<'_>, metadata: &Metadata<'_>, fields: &Fields) -> fmt::Result {
        let microseconds = (self.now)().as_microsecond();
        let (milliseconds, rest) = (microseconds.div_euclid(1_000), microseconds.rem_euclid(1_000));
        let (file, number) = caller(metadata);
        write!(
            line,
            "{{\"ts\":{milliseconds}.{rest:03},\"caller\":{},\"msg\":{}",
            json(&format!("{file}:{number}")),
            json(&fields.message)
        )?;
        match *metadata.level() {
            Level::ERROR => {}
            Level::WARN | Level::INFO => line.write_str(",\"v\":0")?,
            Level::DEBUG => line.write_str(",\"v\":4")?,
            Level::TRACE => line.write_str(",\"v\":6")?,
        }
        for (key, value) in &fields.pairs {
            write!(line, ",{}:{value}", json(key))?;
        }
        writeln!(line, "}}")
    }
}

/// Returns file name (without its directory) and line number of the log call.
fn caller<'a>(metadata: &'a Metadata<'_>) -> (&'a str, u32) {
    let file = metadata.file().unwrap_or("unknown");
    (file.rsplit('/').next().unwrap_or(file), metadata.line().unwrap_or_default())
}

fn json(text: &str) -> String {
    Value::from(text).to_string()
}

/// Message and fields of an event, in the order in which they were recorded.
#[derive(Default)]
struct Fields {
    message: String,
    pairs: Vec<(&'static str, Value)>,
}

impl Fields {
    fn add(&mut self, field: &Field, value: impl Into<Value>) {
        match (field.name(), value.into()) {
            ("message", Value::String(text)) => self.message = text,
            (name, value) => self.pairs.push((name, value)),
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.add(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value);
    }

    /// JSON has no literals for infinity and NaN, which are written as text.
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, Number::from_f64(value).map_or_else(|| value.to_string().into(), Value::from));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::layer::SubscriberExt;

    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns the output of `log`, with the line number of the log call removed.
    fn logged(format: LogFormat, log: impl FnOnce()) -> String {
        let buffer = Buffer::default();
        let now = || Timestamp::from_microsecond(1_763_726_154_000_123).unwrap();
        let writer = buffer.clone();
        let layer = tracing_subscriber::fmt::layer()
            .event_format(LineFormatter { format, now, pid: 42 })
            .with_writer(move || writer.clone());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), log);
        let text = String::from_utf8(buffer.0.lock().unwrap().clone()).unwrap();
        let (before, after) = text.split_once("line.rs:").expect("a caller");
        format!("{before}line.rs:{}", after.trim_start_matches(|it: char| it.is_ascii_digit()))
    }

    fn log_error() {
        let err = io::Error::other("a \"reason\"\nof two lines");
        tracing::error!(service = "shop/web", attempts = 3, %err, "Sync failed");
    }

    #[test]
    fn text_lines_match_klog() {
        let line = logged(LogFormat::Text, log_error);
        assert_eq!(
            line,
            "E1121 11:55:54.000123      42 line.rs:] \"Sync failed\" service=\"shop/web\" attempts=3 \
             err=\"a \\\"reason\\\"\\nof two lines\"\n"
        );
    }

    #[test]
    fn json_lines_are_objects_with_upstreams_keys() {
        let line = logged(LogFormat::Json, log_error);
        assert_eq!(
            line,
            "{\"ts\":1763726154000.123,\"caller\":\"line.rs:\",\"msg\":\"Sync failed\",\"service\":\"shop/web\",\
             \"attempts\":3,\"err\":\"a \\\"reason\\\"\\nof two lines\"}\n"
        );
        let verbose = logged(LogFormat::Json, || tracing::debug!(f = f64::NAN, b = true, "x"));
        assert!(verbose.ends_with(",\"msg\":\"x\",\"v\":4,\"f\":\"NaN\",\"b\":true}\n"), "{verbose}");
        assert!(serde_json::from_str::<serde_json::Value>(&verbose).is_ok());
    }
}
