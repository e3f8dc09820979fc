//! What bare programs on tokio share: their command line, and a count of exchanges. Each includes it by its path.
//!
//! NAME server PORT BYTES
//! NAME client PORT CONNECTIONS BYTES SECONDS     prints {"exchanges":N} in the end
//!
//! More words are the program's own.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::net::TcpListener;

pub type Failed = Box<dyn std::error::Error + Send + Sync>;
static DONE: AtomicU64 = AtomicU64::new(0);

/// Counts an exchange.
pub fn done() {
    DONE.fetch_add(1, Relaxed);
}

/// Serves on a listener with replies of so many bytes, or makes exchanges with an address for ever, on each of the connections.
pub fn run<S, C>(serve: impl FnOnce(TcpListener, usize) -> S, converse: impl Fn(String, usize) -> C) -> Result<(), Failed>
where
    S: Future<Output = Result<(), Failed>>,
    C: Future<Output = Result<(), Failed>> + Send + 'static,
{
    let args: Vec<String> = std::env::args().collect();
    let number = |i: usize| args[i].parse::<usize>().expect("a number");
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let at = format!("127.0.0.1:{}", args[2]);
        if args[1] == "server" {
            return serve(TcpListener::bind(at).await?, number(3)).await;
        }
        for _ in 0..number(3) {
            let ends = converse(at.clone(), number(4));
            tokio::spawn(async move { ends.await.inspect_err(|e| eprintln!("{e}")) });
        }
        tokio::time::sleep(Duration::from_secs(number(5) as u64)).await;
        println!("{{\"exchanges\":{}}}", DONE.load(Relaxed));
        Ok(())
    })
}
