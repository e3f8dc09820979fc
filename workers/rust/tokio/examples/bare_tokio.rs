//! Bare tokio, without the kit: the peer of transport tokio in `make bench`.

#[path = "../../bare.rs"]
mod bare;

use bare::Failed;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

async fn serve(listener: TcpListener, _: usize) -> Result<(), Failed> {
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

async fn converse(to: String, bytes: usize) -> Result<(), Failed> {
    let mut conn = TcpStream::connect(&to).await?;
    conn.set_nodelay(true)?;
    let (message, mut buffer) = (vec![7; bytes], vec![0; bytes]);
    loop {
        conn.write_all(&message).await?;
        conn.read_exact(&mut buffer).await?;
        bare::done();
    }
}

fn main() -> Result<(), Failed> {
    bare::run(serve, converse)
}
