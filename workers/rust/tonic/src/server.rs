//! The server: what tonic's generated code does, with the trial's content.

use crate::carried::{cut, Carried};
use crate::Plan;
use netdyno_kit::{Failure, Server, Setup};
use netdyno_requests::{Block, Content, Line as Open, Reply, Site, Stream, Text, DOWN_HEADER};
use std::convert::Infallible;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tonic::body::Body;
use tonic::codegen::{http, tokio_stream, BoxFuture, Service};
use tonic::metadata::MetadataMap;
use tonic::server::{ClientStreamingService, Grpc, NamedService, ServerStreamingService, StreamingService, UnaryService};
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;

/// One connection.
#[derive(Clone, Copy)]
struct Line(Open, &'static Plan);

impl std::ops::Deref for Line {
    type Target = Open;
    fn deref(&self) -> &Open {
        &self.0
    }
}

type Replies<P> = Pin<Box<dyn tokio_stream::Stream<Item = Result<P, Status>> + Send>>;

impl Line {
    /// Answers one request, and counts it.
    async fn answer<Q: Carried, P: Carried>(&self, request: &Q, down: usize) -> Result<P, Status> {
        request.fits(self.content).map_err(Status::invalid_argument)?;
        let reply = P::reply(self.content, down);
        self.work().await;
        self.traffic.moved(request.length() as usize, reply.length() as usize, 1);
        Ok(reply)
    }

    fn down(&self, asked: &MetadataMap) -> Result<usize, Status> {
        let asked = asked.get(DOWN_HEADER).and_then(|v| v.to_str().ok());
        self.content.asked(asked).map_err(Status::invalid_argument)
    }

    /// Joins the chunks of a request.
    async fn join(&self, mut chunks: Streaming<Block>) -> Result<(), Status> {
        let mut joined = Vec::with_capacity(self.content.up_bytes as usize);
        while let Some(chunk) = chunks.message().await? {
            if (joined.len() + chunk.content.len()) as i64 > self.content.up_bytes {
                return Err(Status::invalid_argument(format!("the stream holds more than the {} bytes expected", self.content.up_bytes)));
            }
            joined.extend_from_slice(&chunk.content);
        }
        self.content.fits(joined.len() as i64).map_err(Status::invalid_argument)?;
        self.traffic.moved(joined.len(), 0, 0);
        self.work().await;
        Ok(())
    }

    /// The chunks of a reply. The exchange is counted as they go out.
    fn chunks(&self) -> Replies<Block> {
        let down = self.content.reply(self.content.down_bytes as usize);
        self.traffic.moved(0, down.len(), 1);
        Box::pin(tokio_stream::iter(cut(down, self.1.chunk).map(Ok)))
    }
}

/// A method whose messages are Q and P.
struct Method<Q, P>(Line, PhantomData<fn(Q) -> P>);

impl<Q: Carried, P: Carried> UnaryService<Q> for Method<Q, P> {
    type Response = P;
    type Future = BoxFuture<Response<P>, Status>;
    fn call(&mut self, request: Request<Q>) -> Self::Future {
        let line = self.0;
        Box::pin(async move { line.answer(request.get_ref(), line.down(request.metadata())?).await.map(Response::new) })
    }
}

/// Answers every message with one.
impl<Q: Carried, P: Carried> StreamingService<Q> for Method<Q, P> {
    type Response = P;
    type ResponseStream = Replies<P>;
    type Future = BoxFuture<Response<Replies<P>>, Status>;
    fn call(&mut self, request: Request<Streaming<Q>>) -> Self::Future {
        let line = self.0;
        let (asked, _, requests) = request.into_parts();
        Box::pin(async move {
            let down = line.down(&asked)?;
            let replies = tokio_stream::StreamExt::then(requests, move |q: Result<Q, Status>| async move { line.answer(&q?, down).await });
            Ok(Response::new(Box::pin(replies) as Replies<P>))
        })
    }
}

/// The methods whose content travels in chunks.
struct Chunked(Line);

impl ClientStreamingService<Block> for Chunked {
    type Response = Block;
    type Future = BoxFuture<Response<Block>, Status>;
    fn call(&mut self, request: Request<Streaming<Block>>) -> Self::Future {
        let site = self.0;
        Box::pin(async move {
            site.join(request.into_inner()).await?;
            let down = site.content.reply(site.content.down_bytes as usize);
            site.traffic.moved(0, down.len(), 1);
            Ok(Response::new(Block { content: down }))
        })
    }
}

impl ServerStreamingService<Block> for Chunked {
    type Response = Block;
    type ResponseStream = Replies<Block>;
    type Future = BoxFuture<Response<Replies<Block>>, Status>;
    fn call(&mut self, request: Request<Block>) -> Self::Future {
        let site = self.0;
        Box::pin(async move {
            request.get_ref().fits(site.content).map_err(Status::invalid_argument)?;
            site.traffic.moved(request.get_ref().content.len(), 0, 0);
            site.work().await;
            Ok(Response::new(site.chunks()))
        })
    }
}

impl StreamingService<Block> for Chunked {
    type Response = Block;
    type ResponseStream = Replies<Block>;
    type Future = BoxFuture<Response<Replies<Block>>, Status>;
    fn call(&mut self, request: Request<Streaming<Block>>) -> Self::Future {
        let site = self.0;
        Box::pin(async move {
            site.join(request.into_inner()).await?;
            Ok(Response::new(site.chunks()))
        })
    }
}

/// The service netdyno.v1.Exchange.
#[derive(Clone)]
struct Exchange(Line);

impl NamedService for Exchange {
    const NAME: &'static str = "netdyno.v1.Exchange";
}

impl Exchange {
    fn grpc<Q: Carried, P: Carried>(&self) -> Grpc<ProstCodec<P, Q>> {
        Grpc::new(ProstCodec::default()).max_decoding_message_size(self.0.1.max_message)
    }

    async fn unary<Q: Carried, P: Carried>(self, request: http::Request<Body>) -> Answer {
        Ok(self.grpc::<Q, P>().unary(Method::<Q, P>(self.0, PhantomData), request).await)
    }

    async fn talk<Q: Carried, P: Carried>(self, request: http::Request<Body>) -> Answer {
        Ok(self.grpc::<Q, P>().streaming(Method::<Q, P>(self.0, PhantomData), request).await)
    }
}

type Answer = Result<http::Response<Body>, Infallible>;

impl Service<http::Request<Body>> for Exchange {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    /// A future for each method, as tonic generates it: one for all would be as large as the largest.
    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let (this, chunked) = (self.clone(), Chunked(self.0));
        match request.uri().path().rsplit('/').next().unwrap_or("") {
            "Unary" => Box::pin(this.unary::<Block, Block>(request)),
            "Simple" => Box::pin(this.unary::<Text, Text>(request)),
            "Complex" => Box::pin(this.unary::<Text, Reply>(request)),
            "Talk" => Box::pin(this.talk::<Block, Block>(request)),
            "TalkSimple" => Box::pin(this.talk::<Text, Text>(request)),
            "TalkComplex" => Box::pin(this.talk::<Text, Reply>(request)),
            "Up" => Box::pin(async move { Ok(this.grpc::<Block, Block>().client_streaming(chunked, request).await) }),
            "Down" => Box::pin(async move { Ok(this.grpc::<Block, Block>().server_streaming(chunked, request).await) }),
            "Both" => Box::pin(async move { Ok(this.grpc::<Block, Block>().streaming(chunked, request).await) }),
            name => {
                let refused = Status::unimplemented(format!("method {name} is not served")).into_http();
                Box::pin(async move { Ok(refused) })
            }
        }
    }
}

/// A connection, counted while it is open.
struct Counted(Stream, #[allow(dead_code)] netdyno_kit::counters::Connected);

impl tonic::transport::server::Connected for Counted {
    type ConnectInfo = ();
    fn connect_info(&self) {}
}

impl AsyncRead for Counted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, piece: &[u8]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, piece)
    }
    fn poll_write_vectored(mut self: Pin<&mut Self>, cx: &mut Context<'_>, all: &[std::io::IoSlice<'_>]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, all)
    }
    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

pub fn serve(setup: &Setup) -> Result<Box<dyn Server>, Failure> {
    let plan: &'static Plan = Box::leak(Box::new(Plan::new(setup, Content::new(setup)?)));
    Site::serve(setup, "h2", plan.options.clone(), move |stream, line, open| async move {
        let one = tokio_stream::once(Ok::<_, std::io::Error>(Counted(stream, open)));
        let given = |n: u32| Some(n).filter(|n| *n > 0);
        let server = tonic::transport::Server::builder().initial_stream_window_size(given(plan.window));
        let server = server.initial_connection_window_size(given(plan.connection_window)).http2_adaptive_window(Some(plan.adaptive));
        let _ = { server }.add_service(Exchange(Line(line, plan))).serve_with_incoming(one).await;
    })
}
