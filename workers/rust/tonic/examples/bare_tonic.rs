//! Bare tonic, without the kit: the peer of transport tonic in `make bench`. A unary method as tonic generates it.
//!
//! bare_tonic serve THREADS BYTES: prints its address. bare_tonic drive ADDRESS THREADS CONNECTIONS BYTES SECONDS: prints
//! exchanges per second.

use bytes::Bytes;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tonic::body::Body;
use tonic::codegen::http::{self, uri::PathAndQuery};
use tonic::codegen::{BoxFuture, Service};
use tonic::server::{NamedService, UnaryService};
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Endpoint, Server};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

type Failed = Box<dyn std::error::Error + Send + Sync>;
static DONE: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, PartialEq, prost::Message)]
struct Block {
    #[prost(bytes = "bytes", tag = "1")]
    content: Bytes,
}

#[derive(Clone)]
struct Exchange(Bytes);

impl NamedService for Exchange {
    const NAME: &'static str = "netdyno.v1.Exchange";
}

impl UnaryService<Block> for Exchange {
    type Response = Block;
    type Future = BoxFuture<Response<Block>, Status>;
    fn call(&mut self, _: Request<Block>) -> Self::Future {
        let content = self.0.clone();
        Box::pin(async move { Ok(Response::new(Block { content })) })
    }
}

impl Service<http::Request<Body>> for Exchange {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let method = self.clone();
        Box::pin(async move {
            Ok(match request.uri().path() {
                "/netdyno.v1.Exchange/Unary" => tonic::server::Grpc::new(ProstCodec::<Block, Block>::default()).unary(method, request).await,
                _ => Status::unimplemented("").into_http(),
            })
        })
    }
}

async fn serve(bytes: usize) -> Result<(), Failed> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    Ok(Server::builder().add_service(Exchange(vec![7; bytes].into())).serve_with_incoming(incoming).await?)
}

async fn converse(to: String, bytes: usize) -> Result<(), Failed> {
    let mut grpc = tonic::client::Grpc::new(Endpoint::from_shared(format!("http://{to}"))?.connect().await?);
    let content = Bytes::from(vec![7; bytes]);
    loop {
        grpc.ready().await?;
        let (request, path) = (Request::new(Block { content: content.clone() }), PathAndQuery::from_static("/netdyno.v1.Exchange/Unary"));
        let reply = grpc.unary(request, path, ProstCodec::<Block, Block>::default()).await?.into_inner();
        assert_eq!(reply.content.len(), bytes);
        DONE.fetch_add(1, Relaxed); // each: connections keep step, so that lots of them would come at once
    }
}

async fn drive(to: String, connections: usize, bytes: usize, seconds: f64) -> Result<(), Failed> {
    for _ in 0..connections {
        tokio::spawn(converse(to.clone(), bytes));
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let (from, before) = (Instant::now(), DONE.load(Relaxed));
    tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
    println!("{:.1}", (DONE.load(Relaxed) - before) as f64 / from.elapsed().as_secs_f64());
    Ok(())
}

fn main() -> Result<(), Failed> {
    let args: Vec<String> = std::env::args().collect();
    let number = |i: usize| args.get(i).and_then(|a| a.parse::<f64>().ok()).unwrap_or(1.0);
    let serves = args.get(1).is_some_and(|a| a == "serve");
    let threads = number(if serves { 2 } else { 3 }) as usize;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    match serves {
        true => runtime.block_on(serve(number(3) as usize)),
        false => runtime.block_on(drive(args[2].clone(), number(4) as usize, number(5) as usize, number(6))),
    }
}
