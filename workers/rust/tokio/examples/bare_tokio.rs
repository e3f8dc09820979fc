//! Bare tokio, without the kit: the peer of transport tokio in `make bench`.
//!
//! bare serve THREADS: echoes; prints its address. bare drive ADDRESS THREADS CONNECTIONS BYTES SECONDS: prints exchanges per second.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

static DONE: AtomicU64 = AtomicU64::new(0);

async fn serve() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    loop {
        let (mut conn, _) = listener.accept().await?;
        conn.set_nodelay(true)?;
        tokio::spawn(async move {
            let mut buffer = vec![0; 4096];
            while let Ok(n @ 1..) = conn.read(&mut buffer).await {
                if conn.write_all(&buffer[..n]).await.is_err() {
                    break;
                }
            }
        });
    }
}

async fn drive(to: String, connections: usize, bytes: usize, seconds: f64) -> std::io::Result<()> {
    for _ in 0..connections {
        let mut conn = TcpStream::connect(&to).await?;
        conn.set_nodelay(true)?;
        tokio::spawn(async move {
            let (message, mut buffer) = (vec![7; bytes], vec![0; bytes]);
            while conn.write_all(&message).await.is_ok() && conn.read_exact(&mut buffer).await.is_ok() {
                DONE.fetch_add(1, Relaxed); // each: connections keep step, so that lots of them would come at once
            }
        });
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let (from, before) = (Instant::now(), DONE.load(Relaxed));
    tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
    println!("{:.1}", (DONE.load(Relaxed) - before) as f64 / from.elapsed().as_secs_f64());
    Ok(())
}

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let number = |i: usize| args.get(i).and_then(|a| a.parse::<f64>().ok()).unwrap_or(1.0);
    let serves = args.get(1).is_some_and(|a| a == "serve");
    let threads = number(if serves { 2 } else { 3 }) as usize;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    match serves {
        true => runtime.block_on(serve()),
        false => runtime.block_on(drive(args[2].clone(), number(4) as usize, number(5) as usize, number(6))),
    }
}
