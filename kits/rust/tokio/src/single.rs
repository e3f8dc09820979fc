//! Single exchanges of wires echo and stream: the first one of a connection, and those that have a connection
//! of their own.

use crate::Call;
use netdyno_kit::crc::crc32c;
use netdyno_kit::flow::Work;
use netdyno_kit::net::{Route, PATIENCE};
use netdyno_kit::{Failure, Kind, Slot};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::task::Poll;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

/// Connects with TCP_NODELAY.
pub async fn dial(route: &Route) -> io::Result<TcpStream> {
    let socket = if route.peer.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_nodelay(true)?;
    if let Some(source) = route.source {
        let (on, size) = (1, size_of::<libc::c_int>() as libc::socklen_t);
        // SAFETY: the option takes an int. The port is chosen at connect, where the kernel knows the peer.
        unsafe { libc::setsockopt(socket.as_raw_fd(), libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, (&raw const on).cast(), size) };
        socket.bind(SocketAddr::new(source, 0))?;
    }
    socket.connect(route.peer).await
}

/// Makes one exchange with so many bytes up, on a stream of connection i, and compares what comes back.
pub async fn verify(stream: impl AsyncRead + AsyncWrite, work: &'static Work, i: usize, up: i64) -> Result<(), Failure> {
    let late = Failure::new(Kind::Timeout, format!("verify connection {i}: nothing came within 10 s"));
    let (came, sum) = timeout(PATIENCE, exchange(stream, work, up, true)).await.unwrap_or(Err(late))?;
    work.check_first(i, up, came, sum)
}

/// Makes each exchange of a slot on a connection of its own.
pub struct Fresh {
    work: &'static Work,
    route: Route,
    unreachable: bool,
}

impl Fresh {
    pub fn new(work: &'static Work, route: Route) -> Fresh {
        Fresh { work, route, unreachable: false }
    }
}

impl Call for Fresh {
    async fn exchange(&mut self, slot: &'static Slot) -> Result<i64, Failure> {
        let (conn, up) = (dial(&self.route).await, slot.draw().up);
        self.unreachable = conn.is_err();
        let conn = conn?;
        slot.goes_out();
        match (exchange(conn, self.work, up, false).await?.0, self.work.reply_bytes(up)) {
            (came, size) if came < size => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            (came, _) => Ok(came),
        }
    }

    fn ends(&self, failure: &Failure) -> bool {
        failure.kind == Kind::Peer && self.unreachable
    }
}

/// Makes one exchange, and returns how many bytes came back and, if asked, their CRC-32C.
async fn exchange(stream: impl AsyncRead + AsyncWrite, work: &'static Work, up: i64, summed: bool) -> Result<(i64, u32), Failure> {
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
        let size = work.reply_bytes(up);
        let (mut came, mut sum, mut buffer) = (0, 0, vec![0; size.min(64 << 10) as usize]);
        while came < size {
            let room = buffer.len().min((size - came) as usize);
            match reader.read(&mut buffer[..room]).await? {
                0 => break,
                n => {
                    sum = if summed { crc32c(sum, &buffer[..n]) } else { 0 };
                    came += n as i64;
                }
            }
        }
        Ok::<_, Failure>((came, sum))
    };
    // What is larger than the buffers on the way would wait for itself, were it sent whole first.
    let (mut send, mut receive) = (std::pin::pin!(send), std::pin::pin!(receive));
    let (mut sent, mut received) = (false, None);
    std::future::poll_fn(|cx| {
        if !sent {
            if let Poll::Ready(ended) = send.as_mut().poll(cx) {
                ended?;
                sent = true;
            }
        }
        if received.is_none() {
            if let Poll::Ready(ended) = receive.as_mut().poll(cx) {
                received = Some(ended?);
            }
        }
        received.filter(|_| sent).map_or(Poll::Pending, |all| Poll::Ready(Ok(all)))
    })
    .await
}
