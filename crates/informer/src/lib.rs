//! List-watch into an indexed store, with listers and ordered handlers.
