//! The client: a tonic Channel for each connection, and a task for each slot.

use crate::carried::{cut, Carried};
use crate::Plan;
use bytes::Bytes;
use hyper_util::rt::TokioIo;
use netdyno_kit::{driving, json, Client, Failure, Kind, Setup, Slot};
use netdyno_kit_tokio::{exchanges, Call};
use netdyno_requests::{first, Asker, Block, Message, Reply, Text, DOWN_HEADER};
use std::error::Error;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::sync::Mutex;
use std::task::{Context, Poll};
use tokio::sync::mpsc;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::codegen::tokio_stream;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status, Streaming};
use tonic_prost::ProstCodec;

/// One connection of the trial.
struct Line {
    uri: Endpoint,
    channel: Mutex<Option<Channel>>,
    dials: AtomicI64,
    unreachable: AtomicBool,
    refused: Mutex<Option<Failure>>,
}

/// What all connections share.
struct Shared {
    of: &'static Asker,
    plan: Plan,
    lines: Vec<Line>,
}

impl std::ops::Deref for Shared {
    type Target = Asker;
    fn deref(&self) -> &Asker {
        self.of
    }
}

/// The failure of an exchange: of kind peer where the connection broke, else what the server's status says.
fn broken(status: &Status) -> Failure {
    let text = format!("{:?}: {}", status.code(), status.message());
    match status.code() {
        Code::Unavailable | Code::Cancelled => Failure::new(Kind::Peer, text),
        Code::DeadlineExceeded => Failure::new(Kind::Timeout, text),
        _ if status.source().is_some_and(|e| !e.is::<prost::DecodeError>()) => Failure::new(Kind::Peer, "connection closed"),
        _ => Failure::new(Kind::Invalid, text),
    }
}

impl Shared {
    /// Makes the channel of connection i, which makes its TCP connection anew when that has broken.
    fn channel(&'static self, i: usize) -> Channel {
        self.lines[i].uri.connect_with_connector_lazy(tower::service_fn(move |_| async move {
            let (line, io) = (&self.lines[i], self.connect(i).await);
            line.unreachable.store(io.is_err(), Relaxed);
            match &io {
                Ok(_) if line.dials.fetch_add(1, Relaxed) > 0 && !self.setup.load.fresh => drop(self.load.redialled.fetch_add(1, Relaxed)),
                Ok(_) => {}
                Err(refused) => *line.refused.lock().unwrap_or_else(|e| e.into_inner()) = Some(refused.clone()),
            }
            io.map(TokioIo::new)
        }))
    }

    async fn open(&'static self, i: usize) -> Result<(), Failure> {
        let channel = self.channel(i);
        let made = match &self.content.messages {
            None => first(i, self.verify::<Block, Block>(i, &channel)).await,
            Some((_, Message::Text(_))) => first(i, self.verify::<Text, Text>(i, &channel)).await,
            Some((_, Message::Reply(_))) => first(i, self.verify::<Text, Reply>(i, &channel)).await,
        };
        let refused = self.lines[i].refused.lock().unwrap_or_else(|e| e.into_inner()).take();
        made.map_err(|failure| refused.unwrap_or(failure))?;
        if !self.setup.load.fresh {
            *self.lines[i].channel.lock().unwrap_or_else(|e| e.into_inner()) = Some(channel);
        }
        Ok(())
    }

    async fn verify<Q: Carried, P: Carried>(&'static self, i: usize, channel: &Channel) -> Result<(), Failure> {
        let (up, down) = self.content.sizes_of(self.load.first(i));
        let same = match self.plan.chunked {
            true => Chunks(Calls::new(self, i, channel.clone())).converse(up).await.map_err(|s| broken(&s))? == self.content.reply(down as usize),
            false => Calls::<Q, P>::new(self, i, channel.clone()).once(up, down).await? == P::reply(self.content, down as usize),
        };
        if same { Ok(()) } else { Err(Failure::new(Kind::Invalid, "the reply has other content than expected")) }
    }
}

/// The requests of a stream that stays open.
struct Feed<Q>(mpsc::Receiver<Q>);

impl<Q> tokio_stream::Stream for Feed<Q> {
    type Item = Q;
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Q>> {
        self.0.poll_recv(cx)
    }
}

/// Makes the exchanges of a slot, whose messages are Q and P.
struct Calls<Q, P> {
    s: &'static Shared,
    i: usize,
    grpc: Grpc<Channel>,
    path: PathAndQuery,
    talk: Option<(mpsc::Sender<Q>, Streaming<P>)>,
    kinds: PhantomData<fn(Q) -> P>,
}

impl<Q: Carried, P: Carried> Calls<Q, P> {
    fn new(s: &'static Shared, i: usize, channel: Channel) -> Calls<Q, P> {
        let grpc = Grpc::new(channel).max_decoding_message_size(s.plan.max_message);
        Calls { s, i, grpc, path: PathAndQuery::from_static(s.plan.path), talk: None, kinds: PhantomData }
    }

    /// Makes one exchange and returns the reply.
    async fn once(&mut self, up: i64, down: i64) -> Result<P, Failure> {
        let reply = match self.s.plan.stream {
            true => self.on_stream(up, down).await,
            false => self.unary(up, down).await,
        };
        let reply = reply.map_err(|status| {
            self.talk = None;
            broken(&status)
        })?;
        if self.s.content.messages.is_none() && reply.length() != down {
            return Err(Failure::new(Kind::Invalid, format!("the reply has {} bytes, expected {down}", reply.length())));
        }
        Ok(reply)
    }

    async fn ready(&mut self) -> Result<(), Status> {
        self.grpc.ready().await.map_err(|e| Status::unavailable(e.to_string()))
    }

    fn asking<M>(&self, message: M, down: i64) -> Request<M> {
        let mut request = Request::new(message);
        if self.s.content.asks() {
            request.metadata_mut().insert(DOWN_HEADER, down.into());
        }
        request
    }

    async fn unary(&mut self, up: i64, down: i64) -> Result<P, Status> {
        self.ready().await?;
        let request = self.asking(Q::request(self.s.content, up), down);
        Ok(self.grpc.unary(request, self.path.clone(), ProstCodec::<Q, P>::default()).await?.into_inner())
    }

    async fn on_stream(&mut self, up: i64, down: i64) -> Result<P, Status> {
        if self.talk.is_none() {
            self.ready().await?;
            let (to, from) = mpsc::channel(1);
            let opened = self.grpc.streaming(self.asking(Feed(from), down), self.path.clone(), ProstCodec::<Q, P>::default());
            // A server may answer the stream's head with its first message only.
            let _ = to.try_send(Q::request(self.s.content, up));
            self.talk = Some((to, opened.await?.into_inner()));
        } else if let Some((to, _)) = &self.talk {
            // Where the stream has ended, the reply says why.
            let _ = to.send(Q::request(self.s.content, up)).await;
        }
        let Some((_, replies)) = &mut self.talk else { return Err(Status::internal("no stream")) };
        replies.message().await?.ok_or(Status::data_loss("the server ended the stream before its reply was complete"))
    }
}

impl<Q: Carried, P: Carried> Call for Calls<Q, P> {
    async fn exchange(&mut self, slot: &'static Slot) -> Result<i64, Failure> {
        let (up, down) = self.s.content.sizes_of(slot.draw());
        if self.s.setup.load.fresh {
            self.grpc = Calls::<Q, P>::new(self.s, self.i, self.s.channel(self.i)).grpc;
        }
        slot.goes_out();
        Ok(self.once(up, down).await?.length())
    }

    fn ends(&self, failure: &Failure) -> bool {
        failure.kind == Kind::Peer && self.s.lines[self.i].unreachable.load(Relaxed)
    }
}

/// Makes the exchanges of a slot whose content travels in chunks.
struct Chunks(Calls<Block, Block>);

impl Chunks {
    /// Makes one exchange and returns the reply, joined.
    async fn converse(&mut self, up: i64) -> Result<Bytes, Status> {
        let Calls { s, grpc, path, .. } = &mut self.0;
        grpc.ready().await.map_err(|e| Status::unavailable(e.to_string()))?;
        let (content, codec) = (s.content.request(up), ProstCodec::<Block, Block>::default());
        let pieces = tokio_stream::iter(cut(content.clone(), s.plan.chunk));
        let mut replies = match s.setup.exchange.stream.as_str() {
            "up" => return Ok(grpc.client_streaming(Request::new(pieces), path.clone(), codec).await?.into_inner().content),
            "down" => grpc.server_streaming(Request::new(Block { content }), path.clone(), codec).await?.into_inner(),
            _ => grpc.streaming(Request::new(pieces), path.clone(), codec).await?.into_inner(),
        };
        let mut joined = Vec::with_capacity(s.content.down_bytes as usize);
        while let Some(chunk) = replies.message().await? {
            if (joined.len() + chunk.content.len()) as i64 > s.content.down_bytes {
                return Err(Status::data_loss("the stream holds more than expected"));
            }
            joined.extend_from_slice(&chunk.content);
        }
        if joined.len() as i64 != s.content.down_bytes {
            return Err(Status::data_loss(format!("the reply has {} bytes, expected {}", joined.len(), s.content.down_bytes)));
        }
        Ok(joined.into())
    }
}

impl Call for Chunks {
    async fn exchange(&mut self, slot: &'static Slot) -> Result<i64, Failure> {
        slot.goes_out();
        let reply = self.converse(slot.draw().up).await.map_err(|status| broken(&status))?;
        Ok(reply.len() as i64)
    }

    fn ends(&self, failure: &Failure) -> bool {
        self.0.ends(failure)
    }
}

fn drive<Q: Carried, P: Carried>(s: &'static Shared) -> Result<(), Failure> {
    s.engine.run_slots(s.load, |i, slot| async move {
        let held = s.lines[i].channel.lock().unwrap_or_else(|e| e.into_inner()).clone();
        let channel = match held {
            Some(channel) => channel,
            None => s.channel(i), // with fresh each exchange makes its own
        };
        let alarm = s.engine.alarm(i);
        if s.plan.chunked {
            return exchanges(s.load, slot, alarm, &mut Chunks(Calls::new(s, i, channel))).await;
        }
        exchanges(s.load, slot, alarm, &mut Calls::<Q, P>::new(s, i, channel)).await
    })
}

pub fn connect(setup: &Setup) -> Result<Box<dyn Client>, Failure> {
    let of = Asker::new(setup, "h2")?;
    let (plan, given) = (Plan::new(setup, of.content), |n: u32| Some(n).filter(|n| *n > 0));
    let line = |peer| {
        let scheme = if setup.tls.is_some() { "https" } else { "http" };
        let uri = Endpoint::from_shared(format!("{scheme}://{peer}")).map_err(|e| Failure::new(Kind::Bug, e.to_string()))?;
        let uri = uri.initial_stream_window_size(given(plan.window)).initial_connection_window_size(given(plan.connection_window));
        let uri = uri.http2_adaptive_window(plan.adaptive);
        Ok(Line { uri, channel: Mutex::default(), dials: AtomicI64::new(0), unreachable: AtomicBool::new(false), refused: Mutex::default() })
    };
    let lines = of.peers().map(line).collect::<Result<_, Failure>>()?;
    let s: &'static Shared = Box::leak(Box::new(Shared { of, plan, lines }));
    of.open(move |i| s.open(i))?;
    let run = move || match &s.content.messages {
        None => drive::<Block, Block>(s),
        Some((_, Message::Text(_))) => drive::<Text, Text>(s),
        Some((_, Message::Reply(_))) => drive::<Text, Reply>(s),
    };
    Ok(Box::new(driving(s.load, run).saying(of.content.sizes(json!({"options": s.plan.options})))))
}
