//! User of a client certificate.
//!
//! The certificate was verified by rustls; this parses only the DER structures that lead to its subject.

use crate::identity::User;

const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];

const OBJECT_IDENTIFIER: u8 = 0x06;
/// Tag of the version, which version 1 certificates do not have.
const VERSION: u8 = 0xa0;

/// Returns the common name as user and the organizations as groups; `None` without a common name.
pub(crate) fn user_of_certificate(der: &[u8]) -> Option<User> {
    let mut certificate = DerReader(DerReader(der).next()?.1);
    let mut signed = DerReader(certificate.next()?.1);
    let (tag, _) = signed.next()?;
    // Serial number, algorithm, issuer and validity precede the subject.
    for _ in 0..(if tag == VERSION { 4 } else { 3 }) {
        signed.next()?;
    }
    let mut subject = DerReader(signed.next()?.1);
    let mut user = User::default();
    while let Some((_, set)) = subject.next() {
        let mut set = DerReader(set);
        while let Some((_, attribute)) = set.next() {
            let mut attribute = DerReader(attribute);
            let (tag, kind) = attribute.next()?;
            let text = String::from_utf8(attribute.next()?.1.to_vec()).ok()?;
            match kind {
                COMMON_NAME if tag == OBJECT_IDENTIFIER => user.name = text,
                ORGANIZATION if tag == OBJECT_IDENTIFIER => user.groups.push(text),
                _ => {}
            }
        }
    }
    (!user.name.is_empty()).then_some(user)
}

/// Iterates over DER values.
struct DerReader<'a>(&'a [u8]);

impl<'a> DerReader<'a> {
    /// Returns tag and content of the next value; `None` at the end or if the encoding is invalid.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, mut rest) = rest.split_first()?;
        let length = if first < 0x80 {
            usize::from(first)
        } else {
            let digits;
            (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            digits
                .iter()
                .try_fold(0_usize, |length, digit| length.checked_mul(256)?.checked_add(usize::from(*digit)))?
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = user_of_certificate(&bytes);
        }
    }
}
