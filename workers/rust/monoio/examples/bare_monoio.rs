//! Bare monoio, without the kit: the peer of transport monoio in `make bench`. One thread; its command line is that of
//! [bare.rs](../../bare.rs).

use monoio::io::{AsyncReadRent, AsyncReadRentExt, AsyncWriteRentExt};
use monoio::net::{TcpListener, TcpStream};
use std::cell::Cell;
use std::io::Result;
use std::time::Duration;

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

async fn serve(at: String) -> Result<()> {
    let listener = TcpListener::bind(at)?;
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

async fn drive(at: String, connections: usize, bytes: usize, seconds: u64) -> Result<()> {
    for _ in 0..connections {
        monoio::spawn(converse(at.clone(), bytes));
    }
    monoio::time::sleep(Duration::from_secs(seconds)).await;
    println!("{{\"exchanges\":{}}}", DONE.with(Cell::get));
    Ok(())
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let number = |i: usize| args[i].parse::<usize>().expect("a number");
    let at = format!("127.0.0.1:{}", args[2]);
    let mut runtime = monoio::RuntimeBuilder::<monoio::IoUringDriver>::new().enable_timer().build()?;
    match args[1] == "server" {
        true => runtime.block_on(serve(at)),
        false => runtime.block_on(drive(at, number(3), number(4), number(5) as u64)),
    }
}
