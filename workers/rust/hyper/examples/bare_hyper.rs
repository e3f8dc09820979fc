//! Bare hyper, without the kit: the peer of transports hyper-http1 and hyper-http2 in `make bench`. The last word of its
//! command line is the version, 1 or 2.

#[path = "../../bare.rs"]
mod bare;

use bare::Failed;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::service::service_fn;
use hyper::{client, server, Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::{TcpListener, TcpStream};

const MEDIA: &str = "application/octet-stream";

async fn answer(request: Request<Incoming>, reply: Bytes) -> Result<Response<Full<Bytes>>, hyper::Error> {
    request.into_body().collect().await?;
    let mut response = Response::new(Full::new(reply));
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(MEDIA));
    Ok(response)
}

async fn serve(listener: TcpListener, bytes: usize, version: usize) -> Result<(), Failed> {
    let reply = Bytes::from(vec![7; bytes]);
    loop {
        let (conn, _) = listener.accept().await?;
        conn.set_nodelay(true)?;
        let reply = reply.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| answer(request, reply.clone()));
            match version {
                1 => server::conn::http1::Builder::new().serve_connection(TokioIo::new(conn), service).await,
                _ => server::conn::http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(conn), service).await,
            }
        });
    }
}

enum Sender {
    One(client::conn::http1::SendRequest<Full<Bytes>>),
    Two(client::conn::http2::SendRequest<Full<Bytes>>),
}

async fn converse(to: String, bytes: usize, version: usize) -> Result<(), Failed> {
    let conn = TcpStream::connect(&to).await?;
    conn.set_nodelay(true)?;
    let mut sender = match version {
        1 => {
            let (sender, conn) = client::conn::http1::handshake(TokioIo::new(conn)).await?;
            tokio::spawn(conn);
            Sender::One(sender)
        }
        _ => {
            let (sender, conn) = client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(conn)).await?;
            tokio::spawn(conn);
            Sender::Two(sender)
        }
    };
    let message = Bytes::from(vec![7; bytes]);
    let uri = if version == 1 { "/".into() } else { format!("http://{to}/") };
    loop {
        let mut request = Request::post(&uri).header(CONTENT_TYPE, MEDIA);
        if version == 1 {
            request = request.header(HOST, &to);
        }
        let request = request.body(Full::new(message.clone()))?;
        let response = match &mut sender {
            Sender::One(one) => {
                one.ready().await?;
                one.send_request(request).await?
            }
            Sender::Two(two) => {
                two.ready().await?;
                two.send_request(request).await?
            }
        };
        assert_eq!(response.into_body().collect().await?.to_bytes().len(), bytes);
        bare::done();
    }
}

fn main() -> Result<(), Failed> {
    let version = match std::env::args().last().as_deref() {
        Some("1") => 1,
        _ => 2,
    };
    bare::run(move |listener, bytes| serve(listener, bytes, version), move |to, bytes| converse(to, bytes, version))
}
