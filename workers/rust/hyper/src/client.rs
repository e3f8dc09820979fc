//! The client: a hyper connection for each of the trial's, and a task for each slot.

use crate::{given, Version};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Incoming};
use hyper::client::conn::{http1, http2};
use hyper::header::{HeaderValue, CONTENT_TYPE, HOST};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::{TokioExecutor, TokioIo};
use netdyno_kit::net::{connect_failure, Route, PATIENCE};
use netdyno_kit::{Client, Failure, Kind, Load, Setup, Slot, Value};
use netdyno_kit_tokio::{exchanges, Call, Engine};
use netdyno_requests::{dial, first_routes, Connector, Content, DOWN_HEADER};
use std::sync::atomic::Ordering::Relaxed;
use tokio::sync::{Mutex, Semaphore};

/// Connections that are made at once.
static CONNECTING: Semaphore = Semaphore::const_new(128);

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
    setup: Setup,
    content: &'static Content,
    routes: &'static [Route],
    engine: &'static Engine,
    connector: Connector,
    load: &'static Load,
    media_type: HeaderValue,
    held: Vec<Mutex<Option<Sender>>>, // by connection
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
        let route = &self.routes[i];
        let failed = |e: std::io::Error| connect_failure(i, self.routes.len(), route, &e);
        let io = async { self.connector.connect(dial(route).await?, route.peer).await };
        let within = tokio::time::timeout(PATIENCE, io).await;
        let io = TokioIo::new(within.unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into())).map_err(failed)?);
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

    fn request(&self, i: usize, up: i64, down: i64) -> Result<Request<Full<Bytes>>, Failure> {
        let content = self.content.request(up);
        let (peer, path) = (self.routes[i].peer, self.setup.text("path"));
        let scheme = if self.setup.tls.is_some() { "https" } else { "http" };
        let uri = if self.version == Version::One { path.into() } else { format!("{scheme}://{peer}{path}") };
        let bug = |e: &dyn std::fmt::Display| Failure::new(Kind::Setup, format!("option path: {e}"));
        let posts = !content.is_empty() || self.content.messages.is_some();
        let mut request = Request::new(Full::new(content));
        *request.uri_mut() = uri.parse::<Uri>().map_err(|e| bug(&e))?;
        let headers = request.headers_mut();
        if self.version == Version::One {
            headers.insert(HOST, HeaderValue::from_str(&peer.to_string()).map_err(|e| bug(&e))?);
        }
        if self.setup.load.fresh && self.version == Version::One {
            headers.insert(hyper::header::CONNECTION, HeaderValue::from_static("close"));
        }
        if self.content.asks() {
            headers.insert(DOWN_HEADER, HeaderValue::from(down));
        }
        if posts {
            headers.insert(CONTENT_TYPE, self.media_type.clone());
            *request.method_mut() = Method::POST;
        }
        Ok(request)
    }

    /// Carries one exchange, and takes its reply whole.
    async fn carry(&self, sender: &mut Sender, request: Request<Full<Bytes>>, down: i64) -> Result<Bytes, Failure> {
        let response = sender.send(request).await.map_err(|e| broken(&e))?;
        let (head, body) = response.into_parts();
        if head.status != StatusCode::OK {
            return Err(Failure::new(Kind::Invalid, head.status.to_string()));
        }
        if let Some(n) = body.size_hint().exact().filter(|n| self.content.messages.is_none() && *n as i64 != down) {
            return Err(Failure::new(Kind::Invalid, format!("the reply has {n} bytes, expected {down}")));
        }
        let room = if self.content.messages.is_some() { 1 << 20 } else { 0 };
        match Limited::new(body, down as usize + room).collect().await {
            Ok(whole) => Ok(whole.to_bytes()),
            Err(e) => Err(e.downcast_ref().map_or(Failure::new(Kind::Invalid, format!("the reply: {e}")), broken)),
        }
    }

    /// Makes the first exchange of a connection.
    async fn open(&self, i: usize) -> Result<(), Failure> {
        let _permit = CONNECTING.acquire().await;
        let mut sender = self.dial(i).await?;
        let (up, down) = if self.content.messages.is_some() { (0, self.content.down_bytes) } else { self.load.first_sizes(i) };
        let request = self.request(i, up, down)?;
        let first = tokio::time::timeout(PATIENCE, self.carry(&mut sender, request, down)).await;
        let late = Failure::new(Kind::Timeout, "no reply came within 10 s");
        let reply = first.unwrap_or(Err(late)).map_err(|f| Failure::new(f.kind, format!("verify connection {i}: {}", f.text)))?;
        match self.setup.text("verify") {
            "content" => self.content.verify(i, &reply, down)?,
            _ => drop(self.content.accept(&reply, down)?),
        }
        *self.held[i].lock().await = Some(sender).filter(|_| !self.setup.load.fresh);
        Ok(())
    }

    /// The connection of an exchange: that which is kept, made again where the server has left it.
    async fn take(&self, i: usize) -> Result<Sender, Failure> {
        if self.setup.load.fresh {
            return self.dial(i).await;
        }
        let mut held = self.held[i].lock().await;
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
        let (up, down) = if s.content.messages.is_some() { (0, s.content.down_bytes) } else { slot.sizes() };
        let request = s.request(self.i, up, down)?;
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
        let reply = s.carry(&mut sender, request, down).await?;
        if !s.setup.load.fresh {
            self.sender = Some(sender);
        }
        s.content.accept(&reply, down)
    }

    /// The slot goes on while the server can be reached.
    fn ends(&self, failure: &Failure) -> bool {
        failure.kind == Kind::Peer && self.unreachable
    }
}

struct Exchanges(&'static Shared);

impl Client for Exchanges {
    fn ready(&self) -> Value {
        self.0.content.sizes(Value::Null)
    }

    fn load(&self) -> &'static Load {
        self.0.load
    }

    fn run(&mut self) -> Result<(), Failure> {
        let s = self.0;
        s.engine.run_slots(s.load, |i, slot| async move {
            let mut mine = Mine { s, i, sender: None, unreachable: false };
            let ended = exchanges(s.load, slot, s.engine.alarm(i), &mut mine).await;
            if let Some(sender) = mine.sender {
                s.held[i].lock().await.get_or_insert(sender); // open until the process ends
            }
            ended
        })
    }
}

pub fn connect(version: Version, setup: &Setup) -> Result<Box<dyn Client>, Failure> {
    let content = Content::new(setup)?;
    let routes = first_routes(setup)?;
    let s: &'static Shared = Box::leak(Box::new(Shared {
        version, content, routes,
        setup: setup.clone(),
        engine: Engine::new(setup)?,
        connector: Connector::new(setup, version.protocol())?,
        load: Load::new(&content.sized(setup))?,
        media_type: HeaderValue::from_static(content.codec.media_type()),
        held: routes.iter().map(|_| Mutex::new(None)).collect(),
    }));
    s.engine.open(routes.len(), move |i| s.open(i))?;
    s.load.open_connections.store(if setup.load.fresh { 0 } else { routes.len() as i64 }, Relaxed);
    Ok(Box::new(Exchanges(s)))
}
