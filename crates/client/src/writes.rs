//! Writes of typed objects, in protobuf or JSON, and their responses.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode};
use kube_wire::{
    Accept, DecodeError, Encode, Encoding,
    protobuf::{Envelope, Writer, enveloped},
};
use serde::Serialize;

use crate::{Call, Client, Error, outgoing::Outgoing};

impl Client {
    /// Sends an object and returns it as the server stored it.
    ///
    /// The body is in the encoding of [`ClientOptions::content_type`](crate::ClientOptions::content_type), or in JSON if
    /// the type has no protobuf encoder or the server answered an earlier protobuf body with 415.
    pub(crate) async fn write<T: Encode>(
        &self,
        call: Call,
        method: Method,
        path: String,
        object: &T,
    ) -> Result<T, Error> {
        if let Some(outgoing) = self.protobuf_write(&method, &path, object) {
            match self.call_encoded(&call, &outgoing).await {
                Err(error) if is_unsupported(&error) => {
                    tracing::warn!(%call, "API server does not accept protobuf, writing JSON from now on");
                    self.json_writes().store(true, Ordering::Relaxed);
                }
                result => return self.stored(call, object, &outgoing, result?),
            }
        }
        let outgoing = Outgoing::json(method, path, encode(&call, object)?);
        let response = self.call_encoded(&call, &outgoing).await?;
        self.stored(call, object, &outgoing, response)
    }

    /// Returns the request in protobuf; `None` if it is to be sent in JSON.
    fn protobuf_write<T: Encode>(&self, method: &Method, path: &str, object: &T) -> Option<Outgoing> {
        if Accept::of::<T>(self.content_type()).encoding != Encoding::Protobuf
            || self.json_writes().load(Ordering::Relaxed)
        {
            return None;
        }
        let mut message = Writer::with_capacity(1 << 10);
        object.to_protobuf(&mut message).then(|| Outgoing {
            method: method.clone(),
            path_and_query: path.to_owned(),
            accept: Encoding::Protobuf.into(),
            content_type: Some(HeaderValue::from_static(Encoding::Protobuf.media_type())),
            body: enveloped(&T::RESOURCE, message.as_bytes()).into(),
        })
    }

    /// Decodes the response to a write. One without a resource version is not from an API server.
    fn stored<T: Encode>(
        &self,
        call: Call,
        object: &T,
        outgoing: &Outgoing,
        (encoding, response): (Encoding, Bytes),
    ) -> Result<T, Error> {
        let decoded = self.decode(|| match encoding {
            Encoding::Json => T::from_json(&response),
            Encoding::Protobuf => from_protobuf(object, &outgoing.body, &response),
        });
        let source = match decoded {
            Ok(stored) if !stored.resource_version().is_empty() => return Ok(stored),
            Ok(_) => "the object has no resource version".into(),
            Err(error) => error.into(),
        };
        Err(Error::InvalidResponse { call, source })
    }
}

fn is_unsupported(error: &Error) -> bool {
    error.status().is_some_and(|status| status.code == StatusCode::UNSUPPORTED_MEDIA_TYPE.as_u16())
}

fn from_protobuf<T: Encode>(object: &T, request: &[u8], response: &[u8]) -> Result<T, DecodeError> {
    let response = Envelope::open(response).map_err(|error| error.reading(T::RESOURCE.kind))?;
    response.check(&T::RESOURCE)?;
    // A request in JSON has no envelope and equals no response.
    let request = Envelope::open(request).map_or(&[][..], |it| it.object);
    object.response_from_protobuf(request, response.object)
}

pub(crate) fn encode(call: &Call, object: &impl Serialize) -> Result<Vec<u8>, Error> {
    // Few objects are smaller: saves the first reallocations.
    let mut body = Vec::with_capacity(1 << 10);
    match serde_json::to_writer(&mut body, object) {
        Ok(()) => Ok(body),
        Err(error) => Err(Error::Request { call: call.clone(), source: error.into() }),
    }
}
