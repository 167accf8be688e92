//! How Kubernetes objects, lists and watch frames are read from bytes. No I/O.
