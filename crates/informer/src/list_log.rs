//! Which lists of a store are of the most recent state of the server.

/// Record of the lists of one store, which are numbered from 1 in the order of their requests.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ListLog {
    /// The last requested list.
    begun: u64,
    /// Whether the server reads that list from etcd, so that it contains all acknowledged writes.
    most_recent: bool,
    /// The last stored list of the most recent state.
    current: u64,
}

impl ListLog {
    /// Records that a list is requested.
    pub(crate) fn begin(&mut self, most_recent: bool) {
        self.begun += 1;
        self.most_recent = most_recent;
    }

    pub(crate) fn stored(&mut self) {
        if self.most_recent {
            self.current = self.begun;
        }
    }

    /// Returns the number of lists requested so far.
    pub(crate) fn begun(&self) -> u64 {
        self.begun
    }

    /// Returns whether the last requested list is of the most recent state, and requested after the first `begun`.
    pub(crate) fn is_most_recent_after(&self, begun: u64) -> bool {
        self.most_recent && self.begun > begun
    }

    /// Returns whether a list of the most recent state is stored that was requested after the first `begun`.
    pub(crate) fn has_current_after(&self, begun: u64) -> bool {
        self.current > begun
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::requested_after_the_call(&["", ""], 1, true)]
    #[case::requested_before_the_call(&[""], 1, false)]
    #[case::of_any_version(&["", "0"], 1, false)]
    #[case::at_least_as_new(&["7"], 0, false)]
    #[case::later_list_of_an_older_state(&["", "0"], 0, true)]
    fn only_a_later_list_of_the_most_recent_state_is_current(
        #[case] lists: &[&str],
        #[case] begun: u64,
        #[case] expected: bool,
    ) {
        let mut log = ListLog::default();
        for requested in lists {
            log.begin(requested.is_empty());
            log.stored();
        }
        assert_eq!(log.has_current_after(begun), expected);
    }

    #[test]
    fn a_list_that_is_not_complete_is_not_current() {
        let mut log = ListLog::default();
        log.begin(true);
        assert!(!log.has_current_after(0));
    }
}
