//! Bare tonic, without the kit: the peer of transport tonic in `make bench`. A unary method as tonic generates it.

#[path = "../../bare.rs"]
mod bare;

use bare::Failed;
use bytes::Bytes;
use std::convert::Infallible;
use std::task::{Context, Poll};
use tokio::net::TcpListener;
use tonic::body::Body;
use tonic::codegen::http::{self, uri::PathAndQuery};
use tonic::codegen::{BoxFuture, Service};
use tonic::server::{NamedService, UnaryService};
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Endpoint, Server};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

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

async fn serve(listener: TcpListener, bytes: usize) -> Result<(), Failed> {
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
        bare::done();
    }
}

fn main() -> Result<(), Failed> {
    bare::run(serve, converse)
}
