//! The client: a hyper connection for each of the trial's, and a task for each slot.

use crate::ask::Ask;
use crate::{given, Version};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Incoming};
use hyper::client::conn::{http1, http2};
use hyper::header::{HeaderValue, CONNECTION, CONTENT_TYPE, HOST};
use hyper::http::uri::{Authority, Parts, Scheme};
use hyper::{Request, Response, Uri};
use hyper_util::rt::{TokioExecutor, TokioIo};
use netdyno_kit::draw::Draw;
use netdyno_kit::{driving, Client, Failure, Kind, Setup, Slot, Value};
use netdyno_kit_tokio::{exchanges, Call};
use netdyno_requests::{first, Asker, DOWN_HEADER};
use std::net::SocketAddr;
use std::sync::atomic::Ordering::Relaxed;
use tokio::sync::Mutex;

/// What sends requests on one connection. That of HTTP/2 can be had more than once.
enum Sender {
    One(http1::SendRequest<Full<Bytes>>),
    Two(http2::SendRequest<Full<Bytes>>),
}

impl Sender {
    /// Waits until a request can go out.
    async fn ready(&mut self) -> hyper::Result<()> {
        match self {
            Sender::One(one) => one.ready().await,
            Sender::Two(two) => two.ready().await,
        }
    }

    async fn send(&mut self, request: Request<Full<Bytes>>) -> hyper::Result<Response<Incoming>> {
        match self {
            Sender::One(one) => one.send_request(request).await,
            Sender::Two(two) => two.send_request(request).await,
        }
    }

    /// Gives a slot its own, and keeps what other slots of the connection need.
    fn share(held: &mut Option<Sender>) -> Option<Sender> {
        match held {
            Some(Sender::Two(two)) => Some(Sender::Two(two.clone())),
            _ => held.take(),
        }
    }
}

/// What all connections of a client share.
struct Shared {
    version: Version,
    of: &'static Asker,
    media_type: HeaderValue,
    asks: Vec<Ask>, // by class
    lines: Vec<Line>,
}

impl std::ops::Deref for Shared {
    type Target = Asker;
    fn deref(&self) -> &Asker {
        self.of
    }
}

/// One connection.
struct Line {
    authority: Authority,
    host: HeaderValue,
    held: Mutex<Option<Sender>>,
}

impl Line {
    fn new(peer: SocketAddr) -> Result<Line, Failure> {
        let (text, bug) = (peer.to_string(), |e: &dyn std::fmt::Display| Failure::new(Kind::Bug, format!("{peer}: {e}")));
        let host = HeaderValue::from_str(&text).map_err(|e| bug(&e))?;
        Ok(Line { authority: text.parse().map_err(|e| bug(&e))?, host, held: Mutex::default() })
    }
}

/// The failure of an exchange, in words that are the same for the same cause.
fn broken(e: &hyper::Error) -> Failure {
    let text = match e {
        e if e.is_timeout() => return Failure::new(Kind::Timeout, "timed out"),
        e if e.is_incomplete_message() => "connection closed within the reply".into(),
        e if e.is_closed() || e.is_canceled() => "connection closed".into(),
        e if e.is_parse() => return Failure::new(Kind::Invalid, e.to_string()),
        e => std::error::Error::source(e).map_or(e.to_string(), |s| s.to_string()),
    };
    Failure::new(Kind::Peer, text)
}

impl Shared {
    /// Makes connection i, and the task that drives it.
    async fn dial(&self, i: usize) -> Result<Sender, Failure> {
        let io = TokioIo::new(self.connect(i).await?);
        match self.version {
            Version::One => {
                let mut builder = http1::Builder::new();
                given(&self.setup, "buffer").map(|n| builder.max_buf_size(n as usize));
                let (sender, conn) = builder.handshake(io).await.map_err(|e| broken(&e))?;
                tokio::spawn(conn);
                Ok(Sender::One(sender))
            }
            Version::Two => {
                let mut builder = http2::Builder::new(TokioExecutor::new());
                given(&self.setup, "window").map(|n| builder.initial_stream_window_size(n));
                given(&self.setup, "connection_window").map(|n| builder.initial_connection_window_size(n));
                given(&self.setup, "max_frame").map(|n| builder.max_frame_size(n));
                if self.setup.flag("adaptive") {
                    builder.adaptive_window(true);
                }
                let (sender, conn) = builder.handshake(io).await.map_err(|e| broken(&e))?;
                tokio::spawn(conn);
                Ok(Sender::Two(sender))
            }
        }
    }

    fn request(&self, i: usize, draw: Draw) -> Result<Request<Full<Bytes>>, Failure> {
        let ((up, down), ask, line) = (self.content.sizes_of(draw), &self.asks[draw.class], &self.lines[i]);
        let content = self.content.request(up);
        let posts = !content.is_empty() || self.content.messages.is_some();
        let mut request = Request::new(Full::new(content));
        *request.method_mut() = ask.method.clone();
        let path = ask.path(draw.key);
        if self.version == Version::One {
            *request.uri_mut() = path.into();
            request.headers_mut().insert(HOST, line.host.clone());
            if self.setup.load.fresh {
                request.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
        } else {
            let mut parts = Parts::default();
            parts.scheme = Some(if self.setup.tls.is_some() { Scheme::HTTPS } else { Scheme::HTTP });
            (parts.authority, parts.path_and_query) = (Some(line.authority.clone()), Some(path));
            *request.uri_mut() = Uri::from_parts(parts).map_err(|e| Failure::new(Kind::Bug, e.to_string()))?;
        }
        if self.content.asks() {
            request.headers_mut().insert(DOWN_HEADER, HeaderValue::from(down));
        }
        if posts {
            request.headers_mut().insert(CONTENT_TYPE, self.media_type.clone());
        }
        Ok(request)
    }

    /// How long the reply of an exchange is to be.
    fn down(&self, draw: Draw) -> i64 {
        if self.asks[draw.class].bodiless() { 0 } else { self.content.sizes_of(draw).1 }
    }

    /// Carries one exchange, and takes its reply whole.
    async fn carry(&self, sender: &mut Sender, request: Request<Full<Bytes>>, draw: Draw) -> Result<Bytes, Failure> {
        let response = sender.send(request).await.map_err(|e| broken(&e))?;
        let (head, body) = response.into_parts();
        self.asks[draw.class].takes(head.status)?;
        let (encoded, down) = (self.content.messages.is_some(), self.down(draw));
        if let Some(n) = body.size_hint().exact().filter(|n| !encoded && *n as i64 != down) {
            return Err(Failure::new(Kind::Invalid, format!("the reply has {n} bytes, expected {down}")));
        }
        let room = if encoded { 1 << 20 } else { 0 };
        match Limited::new(body, down as usize + room).collect().await {
            Ok(whole) => Ok(whole.to_bytes()),
            Err(e) => Err(e.downcast_ref().map_or(Failure::new(Kind::Invalid, format!("the reply: {e}")), broken)),
        }
    }

    /// Makes the first exchange of a connection.
    async fn open(&self, i: usize) -> Result<(), Failure> {
        let mut sender = self.dial(i).await?;
        let draw = self.load.first(i);
        first(i, async {
            let reply = self.carry(&mut sender, self.request(i, draw)?, draw).await?;
            match self.setup.text("verify") {
                "content" => self.content.verify(&reply, self.down(draw)),
                _ => self.content.accept(&reply, self.down(draw)).map(drop),
            }
        })
        .await?;
        *self.lines[i].held.lock().await = Some(sender).filter(|_| !self.setup.load.fresh);
        Ok(())
    }

    /// The connection of an exchange: that which is kept, made again where the server has left it.
    async fn take(&self, i: usize) -> Result<Sender, Failure> {
        if self.setup.load.fresh {
            return self.dial(i).await;
        }
        let mut held = self.lines[i].held.lock().await;
        if let Some(sender) = held.as_mut() {
            if sender.ready().await.is_err() {
                *held = None;
            }
        }
        if let Some(sender) = Sender::share(&mut held) {
            return Ok(sender);
        }
        *held = Some(self.dial(i).await?);
        self.load.redialled.fetch_add(1, Relaxed);
        Sender::share(&mut held).ok_or(Failure::new(Kind::Bug, "no connection after it was made"))
    }
}

/// A slot's part of a connection.
struct Mine {
    s: &'static Shared,
    i: usize,
    sender: Option<Sender>,
    unreachable: bool,
}

impl Call for Mine {
    async fn exchange(&mut self, slot: &'static Slot) -> Result<i64, Failure> {
        let s = self.s;
        let draw = slot.draw();
        let request = s.request(self.i, draw)?;
        if let Some(sender) = &mut self.sender {
            if sender.ready().await.is_err() {
                self.sender = None;
            }
        }
        let mut sender = match self.sender.take() {
            Some(sender) => sender,
            None => s.take(self.i).await.inspect_err(|_| self.unreachable = true)?,
        };
        slot.goes_out();
        let reply = s.carry(&mut sender, request, draw).await?;
        if !s.setup.load.fresh {
            self.sender = Some(sender);
        }
        s.content.accept(&reply, s.down(draw))
    }

    /// The slot goes on while the server can be reached.
    fn ends(&self, failure: &Failure) -> bool {
        failure.kind == Kind::Peer && self.unreachable
    }
}

pub fn connect(version: Version, setup: &Setup) -> Result<Box<dyn Client>, Failure> {
    let of = Asker::new(setup, version.protocol())?;
    let s: &'static Shared = Box::leak(Box::new(Shared {
        version, of,
        media_type: HeaderValue::from_static(of.content.codec.media_type()),
        asks: Ask::all(setup, of.content.up_bytes > 0 || of.content.messages.is_some())?,
        lines: of.peers().map(Line::new).collect::<Result<_, _>>()?,
    }));
    of.open(move |i| s.open(i))?;
    let run = move || s.engine.run_slots(s.load, |i, slot| async move {
        let mut mine = Mine { s, i, sender: None, unreachable: false };
        let ended = exchanges(s.load, slot, s.engine.alarm(i), &mut mine).await;
        if let Some(sender) = mine.sender {
            s.lines[i].held.lock().await.get_or_insert(sender); // open until the process ends
        }
        ended
    });
    Ok(Box::new(driving(s.load, run).saying(of.content.sizes(Value::Null))))
}
