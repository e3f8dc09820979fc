//! Addresses, listening and connecting, without an engine: sockets are std's, to be handed to the library.

use crate::contract::{lacks_descriptors, Failure, Kind, Setup};
use std::io;
use std::mem::{size_of, zeroed};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::Mutex;
use std::time::Duration;

/// Connections that are made at once.
const CONNECTING: usize = 64;
/// Bounds the making of a connection, and its first exchange.
pub const PATIENCE: Duration = Duration::from_secs(10);

fn setup_failure(text: String) -> Failure {
    Failure::new(Kind::Setup, text)
}

/// The clients that a server admits; empty admits any. Any thread may use it.
#[derive(Clone, Debug, Default)]
pub struct Allowed(Vec<IpAddr>);

impl Allowed {
    pub fn new(setup: &Setup) -> Result<Allowed, Failure> {
        Ok(Allowed(parse_all(&setup.allow, "setup.allow")?))
    }

    pub fn admits(&self, client: IpAddr) -> bool {
        self.0.is_empty() || self.0.contains(&client.to_canonical())
    }
}

fn parse_all<T: std::str::FromStr>(texts: &[String], key: &str) -> Result<Vec<T>, Failure>
where
    T::Err: std::fmt::Display,
{
    let one = |(i, text): (usize, &String)| {
        text.parse().map_err(|e| setup_failure(format!("{key}[{i}] is {text:?}: {e}")))
    };
    texts.iter().enumerate().map(one).collect()
}

/// The addresses that a server shall listen on; those after a given port follow it.
pub fn listen_addresses(setup: &Setup) -> Result<Vec<SocketAddr>, Failure> {
    let bad = |e| setup_failure(format!("setup.listen is {:?}: {e}", setup.listen));
    let first: SocketAddr = setup.listen.parse().map_err(bad)?;
    let port = |i: u16| if first.port() == 0 { 0 } else { first.port() + i };
    Ok((0..setup.listeners.max(1) as u16).map(|i| SocketAddr::new(first.ip(), port(i))).collect())
}

/// The failure of an address that cannot be listened on.
pub fn listen_failure(address: SocketAddr, e: &io::Error) -> Failure {
    match e.kind() {
        io::ErrorKind::AddrInUse => setup_failure(format!(
            "listen on {address}: the port is in use by another program; let netdyno choose one (port 0)"
        )),
        _ => setup_failure(format!("listen on {address}: {e}")),
    }
}

/// Opens the ports of setup, with a backlog of 4,096.
pub fn listen(setup: &Setup) -> Result<Vec<TcpListener>, Failure> {
    let one = |address: SocketAddr| {
        let bound = socket(&address).and_then(|fd| {
            option(&fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1)?;
            bind(&fd, &address)?;
            // SAFETY: fd is an open socket.
            check(unsafe { libc::listen(fd.as_raw_fd(), 4096) })?;
            Ok(TcpListener::from(fd))
        });
        bound.map_err(|e| listen_failure(address, &e))
    };
    listen_addresses(setup)?.into_iter().map(one).collect()
}

/// What ready says of listeners.
pub fn addresses_of(listeners: &[TcpListener]) -> Vec<String> {
    listeners.iter().filter_map(|l| l.local_addr().ok()).map(|a| a.to_string()).collect()
}

/// What to do with a connection that could not be accepted. Without descriptors its client would wait for
/// ever, so that ends the worker.
pub fn accept_failure(e: &io::Error) {
    if lacks_descriptors(e) {
        let text = format!("accept a connection: {e}: too few file descriptors; raise `ulimit -n`");
        crate::contract::fail(&setup_failure(text), None);
    }
}

/// The two ends of a connection; without a source the kernel chooses it.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub source: Option<IpAddr>,
    pub peer: SocketAddr,
}

/// The route of every connection: peers and sources take turns.
pub fn routes(setup: &Setup) -> Result<Vec<Route>, Failure> {
    let peers: Vec<SocketAddr> = parse_all(&setup.peers, "setup.peers")?;
    let sources: Vec<IpAddr> = parse_all(&setup.sources, "setup.sources")?;
    if peers.is_empty() {
        return Err(setup_failure("setup.peers is empty, expected the server's addresses".into()));
    }
    let one = |i: usize| Route {
        source: (!sources.is_empty()).then(|| sources[i % sources.len()]),
        peer: peers[i % peers.len()],
    };
    Ok((0..setup.load.connections.max(0) as usize).map(one).collect())
}

/// Connects by blocking calls, with TCP_NODELAY.
pub fn dial(route: &Route) -> io::Result<TcpStream> {
    let fd = socket(&route.peer)?;
    option(&fd, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1)?;
    if let Some(source) = route.source {
        // The port is chosen at connect, where the kernel knows the peer.
        option(&fd, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)?;
        bind(&fd, &SocketAddr::new(source, 0))?;
    }
    let stream = TcpStream::from(fd);
    stream.set_write_timeout(Some(PATIENCE))?; // of connect
    let (address, len) = raw(&route.peer);
    // SAFETY: address holds len bytes of an address.
    let connected = check(unsafe { libc::connect(stream.as_raw_fd(), (&raw const address).cast(), len) });
    match connected {
        Err(e) if e.raw_os_error() == Some(libc::EINPROGRESS) => Err(io::ErrorKind::TimedOut.into()),
        Err(e) => Err(e),
        Ok(()) => {
            stream.set_write_timeout(None)?;
            Ok(stream)
        }
    }
}

/// The failure of connection i of so many, with advice.
pub fn connect_failure(i: usize, of: usize, route: &Route, e: &io::Error) -> Failure {
    let (kind, hint) = match e.raw_os_error() {
        _ if lacks_descriptors(e) => (Kind::Setup, ": too few file descriptors; raise `ulimit -n`"),
        Some(libc::EADDRNOTAVAIL) => {
            (Kind::Setup, ": no free local port; give several source addresses or widen net.ipv4.ip_local_port_range")
        }
        Some(libc::ECONNREFUSED) => (Kind::Peer, ": nothing listens there"),
        _ if e.kind() == io::ErrorKind::TimedOut || e.kind() == io::ErrorKind::WouldBlock => {
            (Kind::Timeout, ": no answer came from there")
        }
        _ => (Kind::Peer, ""),
    };
    Failure::new(kind, format!("connect {} of {of} to {}: {e}{hint}", i + 1, route.peer))
}

/// Calls make for 0 to n − 1 on some threads, and returns what they made or the first failure.
pub fn each<T: Send>(n: usize, make: impl Fn(usize) -> Result<T, Failure> + Sync) -> Result<Vec<T>, Failure> {
    let (next, made, failed) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(n)), Mutex::new(None));
    std::thread::scope(|threads| {
        for _ in 0..n.min(CONNECTING) {
            threads.spawn(|| loop {
                let i = next.fetch_add(1, Relaxed);
                if i >= n {
                    return;
                }
                match make(i) {
                    Ok(one) => made.lock().unwrap_or_else(|e| e.into_inner()).push((i, one)),
                    Err(failure) => {
                        next.store(n, Relaxed);
                        failed.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(failure);
                    }
                }
            });
        }
    });
    if let Some(failure) = failed.into_inner().unwrap_or_else(|e| e.into_inner()) {
        return Err(failure);
    }
    let mut made = made.into_inner().unwrap_or_else(|e| e.into_inner());
    made.sort_by_key(|(i, _)| *i);
    Ok(made.into_iter().map(|(_, one)| one).collect())
}

fn check(returned: libc::c_int) -> io::Result<()> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn socket(of: &SocketAddr) -> io::Result<OwnedFd> {
    let family = if of.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    // SAFETY: a plain system call; the descriptor is ours.
    let fd = unsafe { libc::socket(family, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) };
    check(fd)?;
    // SAFETY: fd is open and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn option(fd: &OwnedFd, level: libc::c_int, name: libc::c_int, value: libc::c_int) -> io::Result<()> {
    let size = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: value is an int, as the option takes it.
    check(unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, (&raw const value).cast(), size) })
}

fn bind(fd: &OwnedFd, to: &SocketAddr) -> io::Result<()> {
    let (address, len) = raw(to);
    // SAFETY: address holds len bytes of an address.
    check(unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), len) })
}

/// An address as system calls take it, and its length.
fn raw(of: &SocketAddr) -> (libc::sockaddr_storage, libc::socklen_t) {
    // SAFETY: all zeros are a valid sockaddr_storage, which is large and aligned enough for both families.
    unsafe {
        let mut storage: libc::sockaddr_storage = zeroed();
        let len = match of {
            SocketAddr::V4(a) => {
                let to = &mut *(&raw mut storage).cast::<libc::sockaddr_in>();
                to.sin_family = libc::AF_INET as _;
                to.sin_port = a.port().to_be();
                to.sin_addr.s_addr = u32::from_ne_bytes(a.ip().octets());
                size_of::<libc::sockaddr_in>()
            }
            SocketAddr::V6(a) => {
                let to = &mut *(&raw mut storage).cast::<libc::sockaddr_in6>();
                to.sin6_family = libc::AF_INET6 as _;
                to.sin6_port = a.port().to_be();
                to.sin6_addr.s6_addr = a.ip().octets();
                to.sin6_scope_id = a.scope_id();
                size_of::<libc::sockaddr_in6>()
            }
        };
        (storage, len as libc::socklen_t)
    }
}
