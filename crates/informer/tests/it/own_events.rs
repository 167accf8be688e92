//! The event of an own write is applied without decoding its object.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::{StreamExt as _, channel::mpsc};
use http::{Request, Response, header::CONTENT_TYPE};
use http_body::Frame;
use http_body_util::{Full, StreamBody};
use kube_controller_client::Config;
use kube_endpoints_testing::{LIMIT, until};
use kube_informer::{Informer, wait_for_sync};
use kube_wire::{Encoding, Object as _};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::service_fn;

use crate::messages::{bookmark, frame, thing};
use crate::server::client_of;
use crate::thing::Thing;

#[tokio::test]
async fn event_of_an_own_write_is_not_decoded() {
    let (frames, body) = mpsc::unbounded::<Bytes>();
    let body = Arc::new(Mutex::new(Some(body)));
    let service = service_fn(move |request: Request<Full<Bytes>>| {
        assert!(request.uri().query().is_some_and(|query| query.contains("sendInitialEvents=true")));
        let frames = body.lock().unwrap().take().expect("one watch").map(|it| Ok::<_, Infallible>(Frame::data(it)));
        let media_type = format!("{};stream=watch", Encoding::Protobuf.media_type());
        let response = Response::builder().header(CONTENT_TYPE, media_type).body(StreamBody::new(frames));
        async { Ok::<_, Infallible>(response.expect("a response")) }
    });
    let client = client_of(&Config::from_service(service));
    let informer = Informer::<Thing>::builder(client).namespace("shop").build();
    let handle = informer.add_handler(|_| {});
    let (lister, stop) = (informer.lister(), CancellationToken::new());
    let writes = informer.write_through(&handle);
    let mut tasks = JoinSet::new();
    tasks.spawn(informer.run(stop.clone()));
    frames.unbounded_send(bookmark(5).into()).expect("the watch is open");
    wait_for_sync([&handle], LIMIT).await.expect("the informer syncs");

    writes.begin("shop", "web").written(Thing::new("web", 7, ""));
    for added in [thing("web", 7), thing("db", 8)] {
        frames.unbounded_send(frame("ADDED", &added).into()).expect("the watch is open");
    }
    until("the second event", || async { lister.last_resource_version() }, |version| *version == "8").await;
    assert_eq!(*Thing::decoded().borrow(), 1, "only the event of another client");
    assert_eq!(lister.get("shop", "web").map(|it| it.resource_version()), Some(7.into()));

    // Another client's change of the same object is decoded.
    frames.unbounded_send(frame("MODIFIED", &thing("web", 9)).into()).expect("the watch is open");
    until("the third event", || async { lister.last_resource_version() }, |version| *version == "9").await;
    assert_eq!(lister.get("shop", "web").map(|it| it.resource_version()), Some(9.into()));
    stop.cancel();
    tasks.join_all().await;
}
