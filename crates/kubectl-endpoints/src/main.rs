//! kubectl plugin that explains which Pods are endpoints of a Service, which are not, and why.

fn main() {}
