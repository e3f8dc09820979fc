//! The server: a task for each connection, which hyper serves.

use crate::{given, Version};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Incoming};
use hyper::header::{HeaderValue, ALLOW, CONTENT_TYPE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use netdyno_kit::net::{addresses_of, listen, Allowed};
use netdyno_kit::{json, serving, Alarm, Failure, Server, Service, Setup, Traffic};
use netdyno_kit_tokio::{work, Engine};
use netdyno_requests::{Acceptor, Content, Stream, DOWN_HEADER};
use std::convert::Infallible;

/// What all connections share.
struct Site {
    content: &'static Content,
    service: Option<Service>,
    traffic: Traffic,
    media_type: HeaderValue,
}

/// How much of a refused body is read, in bytes.
const REFUSED: usize = 64 << 10;

impl Site {
    async fn answer(&self, request: Request<Incoming>, alarm: &Alarm) -> Result<Response<Full<Bytes>>, Infallible> {
        Ok(self.reply(request, alarm).await.unwrap_or_else(|refused| refused))
    }

    async fn reply(&self, request: Request<Incoming>, alarm: &Alarm) -> Result<Response<Full<Bytes>>, Response<Full<Bytes>>> {
        if request.method() != Method::GET && request.method() != Method::POST {
            let text = format!("method {} is not served, expected GET or POST", request.method());
            let mut refused = refusal(StatusCode::METHOD_NOT_ALLOWED, text);
            refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST"));
            return Err(refused);
        }
        let wrong = |text| refusal(StatusCode::BAD_REQUEST, text);
        let asked = request.headers().get(DOWN_HEADER).filter(|_| self.content.asks()).cloned();
        let body = request.into_body();
        if let Err(why) = body.size_hint().exact().map_or(Ok(()), |n| self.content.fits(n as i64)) {
            // Over HTTP/2 a body that is not read ends in a reset, which may overtake the status.
            let _ = Limited::new(body, REFUSED).collect().await;
            return Err(wrong(why));
        }
        let room = self.content.up_bytes.max(1 << 16) as usize;
        let body = Limited::new(body, room).collect().await.map_err(|e| wrong(format!("read the request: {e}")))?.to_bytes();
        let asked = asked.as_ref().and_then(|a| a.to_str().ok());
        let reply = self.content.respond(&body, asked).map_err(wrong)?;
        work(&self.service, alarm).await;
        self.traffic.moved(body.len(), reply.len(), 1);
        let mut response = Response::new(Full::new(reply));
        response.headers_mut().insert(CONTENT_TYPE, self.media_type.clone());
        Ok(response)
    }
}

fn refusal(status: StatusCode, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(text + "\n"));
    *response.status_mut() = status;
    response
}

pub fn serve(version: Version, setup: &Setup) -> Result<Box<dyn Server>, Failure> {
    let content = Content::new(setup)?;
    let media_type = HeaderValue::from_static(content.codec.media_type());
    let site: &'static Site = Box::leak(Box::new(Site { content, service: Service::new(setup)?, traffic: Traffic::default(), media_type }));
    let (acceptor, engine) = (Acceptor::new(setup, version.protocol())?, Engine::new(setup)?);
    let (listeners, setup) = (listen(setup)?, setup.clone());
    let ready = content.sizes(json!({"addresses": addresses_of(&listeners)}));
    let allowed = Allowed::new(&setup)?;
    let (one, two) = (one(&setup), two(&setup));
    engine.accept(listeners, allowed, move |conn, alarm| {
        let (acceptor, one, two) = (acceptor.clone(), one.clone(), two.clone());
        async move {
            let _open = site.traffic.connected();
            let Ok(stream) = acceptor.accept(conn).await else { return };
            let io = TokioIo::new(stream);
            let service = service_fn(|request| site.answer(request, alarm));
            // How a connection ends is its client's to count.
            let _ = match version {
                Version::One => one.serve_connection::<TokioIo<Stream>, _>(io, service).await,
                Version::Two => two.serve_connection(io, service).await,
            };
        }
    })?;
    Ok(serving(ready, || site.traffic.counts(None)))
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
