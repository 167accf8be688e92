//! Leader election on a Lease, as client-go does it.
