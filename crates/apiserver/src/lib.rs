//! An embedded Kubernetes API server over HTTP for development and tests. Never for production.
