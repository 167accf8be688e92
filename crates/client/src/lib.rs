//! All that talks to the Kubernetes API server on behalf of a controller.
