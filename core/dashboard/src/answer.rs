//! What is answered.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Channel, Full, Limited};
use hyper::body::{Body, Incoming};
use hyper::header::{
    ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue,
};
use hyper::{Request, Response, StatusCode};
use tokio::sync::{oneshot, watch};
use tokio::time::{interval, timeout};

use crate::Door;
use crate::metrics::metrics;
use crate::page::Nonce;
use crate::route::{ASKED_MOST, Route, asked, route};
use crate::serve::Place;
use talisman_job::snapshot::Snapshot;

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// So long is waited for a snapshot of this moment; then the last one has to do.
const FRESH_WITHIN: Duration = Duration::from_secs(2);
/// Whoever asks the job for something says what within this time, and hears of it within that.
const ASKED_WITHIN: Duration = Duration::from_secs(5);
const ANSWERED_WITHIN: Duration = Duration::from_secs(120);
/// So often is somebody who looks told that the connection stands.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

const TEXT: &str = "text/plain; charset=utf-8";
const REFUSED: &str =
    "open the link that the job has printed: it has the token, without which nothing is shown\n";

/// Answers one request; of whoever shows the token more than that there is nothing.
pub(crate) async fn answer(
    door: Door,
    place: Arc<Place>,
    request: Request<Incoming>,
) -> Result<Answer, Infallible> {
    let authorization = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let (method, uri) = (request.method().as_str(), request.uri());
    let found = route(&door.token, method, uri.path(), uri.query(), authorization);
    if found == Route::Refused {
        return Ok(said(StatusCode::FORBIDDEN, REFUSED));
    }
    if !place.becomes_known() {
        return Ok(said(StatusCode::SERVICE_UNAVAILABLE, "too many look at this job; close a page\n"));
    }
    Ok(match found {
        Route::Page => page(),
        Route::Events => events(door.snapshots.subscribe()),
        Route::Snapshot => as_json(&fresh(&door).await),
        Route::Metrics => as_metrics(&fresh(&door).await),
        Route::Ask => ask(&door, request.into_body()).await,
        Route::OtherMethod => {
            with_header(said(StatusCode::METHOD_NOT_ALLOWED, "GET, and POST for /ask\n"), ALLOW, "GET, POST")
        }
        Route::NoSuch | Route::Refused => said(StatusCode::NOT_FOUND, "there is no such page\n"),
    })
}

/// How the job stands at this moment, or did a moment ago.
async fn fresh(door: &Door) -> Option<Arc<Snapshot>> {
    let mut snapshots = door.snapshots.subscribe();
    let _ = timeout(FRESH_WITHIN, snapshots.changed()).await;
    snapshots.borrow().clone()
}

fn page() -> Answer {
    let Some(nonce) = Nonce::drawn() else {
        return said(StatusCode::INTERNAL_SERVER_ERROR, "the system gives no random numbers\n");
    };
    let page = whole(StatusCode::OK, "text/html; charset=utf-8", nonce.page());
    with_header(page, CONTENT_SECURITY_POLICY, &nonce.policy())
}

fn as_json(snapshot: &Option<Arc<Snapshot>>) -> Answer {
    let json = |snapshot: &Arc<Snapshot>| whole(StatusCode::OK, "application/json", snapshot.to_json());
    snapshot.as_ref().map_or_else(nothing_yet, json)
}

fn as_metrics(snapshot: &Option<Arc<Snapshot>>) -> Answer {
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    snapshot.as_ref().map_or_else(nothing_yet, |snapshot| whole(StatusCode::OK, kind, metrics(snapshot)))
}

fn nothing_yet() -> Answer {
    said(StatusCode::SERVICE_UNAVAILABLE, "the job has not said anything of itself yet; come again\n")
}

/// A snapshot each time that there is one, until whoever looks has gone.
fn events(mut snapshots: watch::Receiver<Option<Arc<Snapshot>>>) -> Answer {
    let (mut sender, body) = Channel::<Bytes, Infallible>::new(1);
    snapshots.mark_changed();
    tokio::spawn(async move {
        let mut signs = interval(SIGN_OF_LIFE);
        loop {
            let event = tokio::select! {
                changed = snapshots.changed() => match changed {
                    Ok(()) => event(&snapshots.borrow_and_update()),
                    Err(_) => return,
                },
                _ = signs.tick() => ": here\n\n".to_owned(),
            };
            if sender.send_data(event.into()).await.is_err() {
                return;
            }
        }
    });
    answered(StatusCode::OK, "text/event-stream", body)
}

fn event(snapshot: &Option<Arc<Snapshot>>) -> String {
    // It is one line.
    snapshot.as_ref().map_or_else(String::new, |snapshot| format!("data: {}\n\n", snapshot.to_json()))
}

/// Has the job asked for something, and waits for what it says.
async fn ask(door: &Door, body: Incoming) -> Answer {
    let body = timeout(ASKED_WITHIN, Limited::new(body, ASKED_MOST).collect()).await;
    let body = match body {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(_)) => return said(StatusCode::PAYLOAD_TOO_LARGE, "that is too long for a request\n"),
        Err(_) => return said(StatusCode::REQUEST_TIMEOUT, "the request did not come\n"),
    };
    let request = match asked(&body) {
        Ok(request) => request,
        Err(why) => return said(StatusCode::BAD_REQUEST, format!("{why}\n")),
    };
    let (sender, waits) = oneshot::channel();
    if door.questions.try_send((request, sender)).is_err() {
        return said(StatusCode::SERVICE_UNAVAILABLE, "others have asked before: ask again later\n");
    }
    match timeout(ANSWERED_WITHIN, waits).await {
        Ok(Ok(Ok(text))) => said(StatusCode::OK, format!("{text}\n")),
        Ok(Ok(Err(why))) => said(StatusCode::CONFLICT, format!("{why}\n")),
        Ok(Err(_)) => {
            said(StatusCode::GONE, "the job has ended, or has lost its launcher, without an answer\n")
        }
        Err(_) => {
            said(StatusCode::GATEWAY_TIMEOUT, "it takes long; the job says on its terminal what came of it\n")
        }
    }
}

fn said(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    whole(status, TEXT, text)
}

fn whole(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Answer {
    answered(status, kind, Full::new(text.into()))
}

/// Nobody keeps it, nobody takes it for something else, and the link with the token is told to no other site.
fn answered(
    status: StatusCode,
    kind: &'static str,
    body: impl Body<Data = Bytes, Error = Infallible> + Send + 'static,
) -> Answer {
    let mut answer = Response::new(body.boxed_unsync());
    *answer.status_mut() = status;
    let headers = [
        (CONTENT_TYPE.as_str(), kind),
        (CACHE_CONTROL.as_str(), "no-store"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
    ];
    for (name, value) in headers {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

fn with_header(mut answer: Answer, name: hyper::header::HeaderName, value: &str) -> Answer {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
    answer
}
