//! Recordings of a real cluster, and what plays them against any API server.
