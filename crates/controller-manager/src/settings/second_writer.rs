//! Settings of the detection of a second writer.

use std::time::Duration;

/// Reaction to another controller that writes the objects of this program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnSecondWriter {
    /// Warn in the log and by metrics, and write on.
    #[default]
    Warn,
    /// Also withhold all writes until the other controller has stopped.
    Yield,
}

/// When a client of the API server counts as a second writer, and the reaction.
///
/// Writes of others to Endpoints and EndpointSlices that the managed-by label assigns to a running controller count, by
/// field manager. A field manager is a second writer once it has written `objects` different objects, or one object
/// `repeats` times, within `window`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecondWriterSettings {
    /// `--on-second-writer`: the reaction; warn by default.
    pub reaction: OnSecondWriter,
    /// Time in which writes are counted together; 1 min by default.
    pub window: Duration,
    /// Number of different objects, at least 1; 5 by default.
    pub objects: usize,
    /// Number of writes of one object, at least 1; 5 by default.
    pub repeats: usize,
    /// Time without writes by others after which there is no second writer any more, and withheld writes are sent;
    /// 5 min by default.
    pub quiet: Duration,
    /// Upper bound of the quiet time, which doubles with each time that writes are withheld again within this time
    /// after the last; 1 h by default.
    pub max_quiet: Duration,
    /// Upper bound of the random time for which a second writer must go on before writes are withheld; 10 s by default.
    /// With it, only one of two instances yields to the other.
    pub stagger: Duration,
}

impl Default for SecondWriterSettings {
    fn default() -> Self {
        SecondWriterSettings {
            reaction: OnSecondWriter::default(),
            window: Duration::from_secs(60),
            objects: 5,
            repeats: 5,
            quiet: Duration::from_secs(5 * 60),
            max_quiet: Duration::from_secs(60 * 60),
            stagger: Duration::from_secs(10),
        }
    }
}
