//! Bare monoio, without the kit: the peer of transport monoio in `make bench`. One thread.
//!
//! bare serve THREADS BYTES: echoes; prints its address. bare drive ADDRESS THREADS CONNECTIONS BYTES SECONDS: prints exchanges per second.

use monoio::io::{AsyncReadRent, AsyncReadRentExt, AsyncWriteRentExt};
use monoio::net::{TcpListener, TcpStream};
use std::cell::Cell;
use std::io::Result;
use std::time::{Duration, Instant};

thread_local!(static DONE: Cell<u64> = const { Cell::new(0) });

async fn echo(mut conn: TcpStream) -> Result<()> {
    conn.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(4096);
    loop {
        let (read, back) = conn.read(buffer).await;
        if read? == 0 {
            return Ok(());
        }
        let (wrote, back) = conn.write_all(back).await;
        wrote?;
        buffer = back;
        buffer.clear();
    }
}

async fn serve() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    loop {
        let (conn, _) = listener.accept().await?;
        monoio::spawn(echo(conn));
    }
}

async fn converse(to: String, bytes: usize) -> Result<()> {
    let mut conn = TcpStream::connect(&to).await?;
    conn.set_nodelay(true)?;
    let (mut message, mut buffer) = (vec![7u8; bytes], vec![0u8; bytes]);
    loop {
        let (wrote, back) = conn.write_all(message).await;
        wrote?;
        message = back;
        let (read, back) = conn.read_exact(buffer).await;
        read?;
        buffer = back;
        DONE.with(|d| d.set(d.get() + 1));
    }
}

async fn drive(to: String, connections: usize, bytes: usize, seconds: f64) -> Result<()> {
    for _ in 0..connections {
        monoio::spawn(converse(to.clone(), bytes));
    }
    monoio::time::sleep(Duration::from_millis(300)).await;
    let (from, before) = (Instant::now(), DONE.with(Cell::get));
    monoio::time::sleep(Duration::from_secs_f64(seconds)).await;
    println!("{:.1}", (DONE.with(Cell::get) - before) as f64 / from.elapsed().as_secs_f64());
    Ok(())
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let number = |i: usize| args.get(i).and_then(|a| a.parse::<f64>().ok()).unwrap_or(1.0);
    let mut runtime = monoio::RuntimeBuilder::<monoio::IoUringDriver>::new().enable_timer().build()?;
    match args.get(1).is_some_and(|a| a == "serve") {
        true => runtime.block_on(serve()),
        false => runtime.block_on(drive(args[2].clone(), number(4) as usize, number(5) as usize, number(6))),
    }
}
