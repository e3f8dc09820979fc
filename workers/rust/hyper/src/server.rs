//! The server: a task for each connection, which hyper serves.

use crate::{given, Version};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Incoming};
use hyper::header::{HeaderValue, ALLOW, CONTENT_TYPE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use netdyno_kit::{Failure, Server, Setup};
use netdyno_requests::{Line, Site, Stream, DOWN_HEADER};
use std::convert::Infallible;

/// How much of a refused body is read, in bytes.
const REFUSED: usize = 64 << 10;

async fn answer(request: Request<Incoming>, line: Line) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(reply(request, line).await.unwrap_or_else(|refused| refused))
}

async fn reply(request: Request<Incoming>, line: Line) -> Result<Response<Full<Bytes>>, Response<Full<Bytes>>> {
    if request.method() != Method::GET && request.method() != Method::POST {
        let text = format!("method {} is not served, expected GET or POST", request.method());
        let mut refused = refusal(StatusCode::METHOD_NOT_ALLOWED, text);
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST"));
        return Err(refused);
    }
    let wrong = |text| refusal(StatusCode::BAD_REQUEST, text);
    let asked = request.headers().get(DOWN_HEADER).filter(|_| line.content.asks()).cloned();
    let body = request.into_body();
    if let Err(why) = body.size_hint().exact().map_or(Ok(()), |n| line.content.fits(n as i64)) {
        // Over HTTP/2 a body that is not read ends in a reset, which may overtake the status.
        let _ = Limited::new(body, REFUSED).collect().await;
        return Err(wrong(why));
    }
    let room = line.content.up_bytes.max(1 << 16) as usize;
    let body = Limited::new(body, room).collect().await.map_err(|e| wrong(format!("read the request: {e}")))?.to_bytes();
    let asked = asked.as_ref().and_then(|a| a.to_str().ok());
    let reply = line.content.respond(&body, asked).map_err(wrong)?;
    line.work().await;
    line.traffic.moved(body.len(), reply.len(), 1);
    let mut response = Response::new(Full::new(reply));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(line.content.codec.media_type()));
    Ok(response)
}

fn refusal(status: StatusCode, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(text + "\n"));
    *response.status_mut() = status;
    response
}

pub fn serve(version: Version, setup: &Setup) -> Result<Box<dyn Server>, Failure> {
    let (one, two) = (one(setup), two(setup));
    Site::serve(setup, version.protocol(), setup.options.clone().into(), move |stream, line, open| {
        let (one, two) = (one.clone(), two.clone());
        async move {
            let (_open, io) = (open, TokioIo::new(stream));
            let service = service_fn(|request| answer(request, line));
            let _ = match version {
                Version::One => one.serve_connection::<TokioIo<Stream>, _>(io, service).await,
                Version::Two => two.serve_connection(io, service).await,
            };
        }
    })
}

fn one(setup: &Setup) -> hyper::server::conn::http1::Builder {
    let mut builder = hyper::server::conn::http1::Builder::new();
    given(setup, "buffer").map(|n| builder.max_buf_size(n as usize));
    builder
}

fn two(setup: &Setup) -> hyper::server::conn::http2::Builder<TokioExecutor> {
    let mut builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
    given(setup, "window").map(|n| builder.initial_stream_window_size(n));
    given(setup, "connection_window").map(|n| builder.initial_connection_window_size(n));
    given(setup, "max_frame").map(|n| builder.max_frame_size(n));
    given(setup, "max_streams").map(|n| builder.max_concurrent_streams(n));
    if setup.flag("adaptive") {
        builder.adaptive_window(true);
    }
    builder
}
