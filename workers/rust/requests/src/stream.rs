//! A connection of a trial, plain or encrypted.

use netdyno_kit::net::Route;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsStream;

/// A connection, plain or encrypted.
pub enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

macro_rules! on {
    ($self:ident, $stream:ident => $call:expr) => {
        match $self.get_mut() {
            Stream::Plain($stream) => $call,
            Stream::Tls($stream) => $call,
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        on!(self, s => Pin::new(s).poll_read(cx, buffer))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, piece: &[u8]) -> Poll<io::Result<usize>> {
        on!(self, s => Pin::new(s).poll_write(cx, piece))
    }

    fn poll_write_vectored(self: Pin<&mut Self>, cx: &mut Context<'_>, pieces: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        on!(self, s => Pin::new(s).poll_write_vectored(cx, pieces))
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Stream::Plain(s) => s.is_write_vectored(),
            Stream::Tls(s) => s.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        on!(self, s => Pin::new(s).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        on!(self, s => Pin::new(s).poll_shutdown(cx))
    }
}

/// Connects with TCP_NODELAY.
pub(crate) async fn dial(route: &Route) -> io::Result<TcpStream> {
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
