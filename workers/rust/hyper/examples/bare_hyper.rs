//! Bare hyper, without the kit: the peer of transports hyper-http1 and hyper-http2 in `make bench`.
//!
//! bare serve THREADS BYTES VERSION: answers POST with as many bytes; prints its address.
//! bare drive ADDRESS THREADS CONNECTIONS BYTES SECONDS VERSION: prints exchanges per second. VERSION is 1 or 2.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::service::service_fn;
use hyper::{client, server, Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};

type Failed = Box<dyn std::error::Error + Send + Sync>;
static DONE: AtomicU64 = AtomicU64::new(0);
const MEDIA: &str = "application/octet-stream";

async fn answer(request: Request<Incoming>, reply: Bytes) -> Result<Response<Full<Bytes>>, hyper::Error> {
    request.into_body().collect().await?;
    let mut response = Response::new(Full::new(reply));
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(MEDIA));
    Ok(response)
}

async fn serve(bytes: usize, version: usize) -> Result<(), Failed> {
    let (listener, reply) = (TcpListener::bind("127.0.0.1:0").await?, Bytes::from(vec![7; bytes]));
    println!("{}", listener.local_addr()?);
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
        DONE.fetch_add(1, Relaxed); // each: connections keep step, so that lots of them would come at once
    }
}

async fn drive(to: String, connections: usize, bytes: usize, seconds: f64, version: usize) -> Result<(), Failed> {
    for _ in 0..connections {
        tokio::spawn(converse(to.clone(), bytes, version));
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
        true => runtime.block_on(serve(number(3) as usize, number(4) as usize)),
        false => runtime.block_on(drive(args[2].clone(), number(4) as usize, number(5) as usize, number(6), number(7) as usize)),
    }
}
