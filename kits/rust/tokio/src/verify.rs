//! The first exchange of a stream that is not a socket of std's.

use netdyno_kit::crc::crc32c;
use netdyno_kit::flow::Work;
use netdyno_kit::net::PATIENCE;
use netdyno_kit::{Failure, Kind};
use std::future::Future;
use std::task::Poll;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

/// Makes one exchange with so many bytes up, on a stream of connection i, and compares what comes back.
pub async fn verify(stream: impl AsyncRead + AsyncWrite, work: &'static Work, i: usize, up: i64) -> Result<(), Failure> {
    let late = Failure::new(Kind::Timeout, format!("verify connection {i}: nothing came within 10 s"));
    timeout(PATIENCE, exchange(stream, work, i, up)).await.unwrap_or(Err(late))
}

async fn exchange(stream: impl AsyncRead + AsyncWrite, work: &'static Work, i: usize, up: i64) -> Result<(), Failure> {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let send = async {
        let mut at = 0;
        while at < up {
            let piece = work.up.part(at, up);
            writer.write_all(piece).await?;
            at += piece.len() as i64;
        }
        Ok::<(), Failure>(())
    };
    let receive = async {
        let (size, _) = work.first_reply(up);
        let (mut came, mut sum, mut buffer) = (0, 0, vec![0; size.min(64 << 10) as usize]);
        while came < size {
            let room = buffer.len().min((size - came) as usize);
            match reader.read(&mut buffer[..room]).await? {
                0 => break,
                n => {
                    sum = crc32c(sum, &buffer[..n]);
                    came += n as i64;
                }
            }
        }
        work.check_first(i, up, came, sum)
    };
    // What is larger than the buffers on the way would wait for itself, were it sent whole first.
    let (mut send, mut receive) = (std::pin::pin!(send), std::pin::pin!(receive));
    let (mut sent, mut received) = (false, false);
    std::future::poll_fn(|cx| {
        if !sent {
            if let Poll::Ready(ended) = send.as_mut().poll(cx) {
                ended?;
                sent = true;
            }
        }
        if !received {
            if let Poll::Ready(ended) = receive.as_mut().poll(cx) {
                ended?;
                received = true;
            }
        }
        if sent && received { Poll::Ready(Ok(())) } else { Poll::Pending }
    })
    .await
}
