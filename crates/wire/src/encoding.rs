//! Encodings of responses.

use std::fmt;

/// Encoding of a response body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// `application/json`, supported for every type.
    #[default]
    Json,
    /// `application/vnd.kubernetes.protobuf`: smaller and faster to decode. Not supported for custom resources.
    Protobuf,
}

impl Encoding {
    /// Returns the media type, for the `Accept` header.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Protobuf => "application/vnd.kubernetes.protobuf",
        }
    }

    /// Returns the encoding of a response with this `Content-Type`, JSON if it has none. Parameters such as `stream=watch`
    /// are ignored.
    ///
    /// ```
    /// use kube_wire::Encoding;
    ///
    /// let watch = b"application/vnd.kubernetes.protobuf;stream=watch";
    /// assert_eq!(Encoding::of_response(Some(watch)), Ok(Encoding::Protobuf));
    /// assert_eq!(Encoding::of_response(Some(b"Application/JSON; charset=utf-8")), Ok(Encoding::Json));
    /// assert_eq!(Encoding::of_response(Some(b"text/html")), Err("text/html".to_owned()));
    /// ```
    ///
    /// # Errors
    ///
    /// The value of the header, if it is another media type.
    pub fn of_response(content_type: Option<&[u8]>) -> Result<Self, String> {
        let Some(header) = content_type else { return Ok(Self::Json) };
        let header = String::from_utf8_lossy(header);
        let media_type = header.split(';').next().unwrap_or_default().trim();
        let encoding =
            [Self::Json, Self::Protobuf].into_iter().find(|it| it.media_type().eq_ignore_ascii_case(media_type));
        encoding.ok_or_else(|| header.into_owned())
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json => "JSON",
            Self::Protobuf => "protobuf",
        })
    }
}
