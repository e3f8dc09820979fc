//! What both ends of a trial of requests are made of, whichever library carries these.

use crate::{Acceptor, Connector, Content, Stream};
use netdyno_kit::counters::Connected;
use netdyno_kit::net::{addresses_of, connect_failure, listen, routes, Allowed, Route, PATIENCE};
use netdyno_kit::{json, serving, Alarm, Failure, Kind, Load, Server, Service, Setup, Traffic, Value};
use netdyno_kit_tokio::{work, Engine};
use std::future::Future;
use std::sync::atomic::Ordering::Relaxed;

/// A server, which lives as long as the process.
pub struct Site {
    pub content: &'static Content,
    pub traffic: Traffic,
    service: Option<Service>,
}

/// A server's end of one connection.
#[derive(Clone, Copy)]
pub struct Line {
    site: &'static Site,
    alarm: &'static Alarm,
}

impl std::ops::Deref for Line {
    type Target = Site;
    fn deref(&self) -> &Site {
        self.site
    }
}

impl Line {
    /// Does what the trial asks for before a reply.
    pub async fn work(&self) {
        work(&self.service, self.alarm).await;
    }
}

impl Site {
    /// Listens, and serves each connection by a future, which holds Connected as long as the connection is open.
    /// How a connection ends is its client's to count.
    pub fn serve<F: Future<Output = ()> + Send + 'static>(
        setup: &Setup, protocol: &str, options: Value, serve: impl Fn(Stream, Line, Connected) -> F + Clone + Send + Sync + 'static,
    ) -> Result<Box<dyn Server>, Failure> {
        let (content, service, traffic) = (Content::new(setup)?, Service::new(setup)?, Traffic::default());
        let site: &'static Site = Box::leak(Box::new(Site { content, traffic, service }));
        let (acceptor, engine, listeners) = (Acceptor::new(setup, protocol)?, Engine::new(setup)?, listen(setup)?);
        let ready = content.sizes(json!({"addresses": addresses_of(&listeners), "options": options}));
        engine.accept(listeners, Allowed::new(setup)?, move |conn, alarm| {
            let (acceptor, serve) = (acceptor.clone(), serve.clone());
            async move {
                let open = site.traffic.connected();
                if let Ok(stream) = acceptor.accept(conn).await {
                    serve(stream, Line { site, alarm }, open).await;
                }
            }
        })?;
        Ok(serving(ready, || site.traffic.counts(None)))
    }
}

/// A client, which lives as long as the process.
pub struct Asker {
    pub setup: Setup,
    pub content: &'static Content,
    pub engine: &'static Engine,
    pub load: &'static Load,
    connector: Connector,
    routes: Vec<Route>,
}

impl Asker {
    pub fn new(setup: &Setup, protocol: &str) -> Result<&'static Asker, Failure> {
        let content = Content::new(setup)?;
        Ok(Box::leak(Box::new(Asker {
            setup: setup.clone(),
            content,
            engine: Engine::new(setup)?,
            load: Load::new(&content.sized(setup))?,
            connector: Connector::new(setup, protocol)?,
            routes: routes(setup)?,
        })))
    }

    /// The address of each connection's server.
    pub fn peers(&self) -> impl Iterator<Item = std::net::SocketAddr> + '_ {
        self.routes.iter().map(|r| r.peer)
    }

    /// Opens connection i, within PATIENCE.
    pub async fn connect(&self, i: usize) -> Result<Stream, Failure> {
        let route = &self.routes[i];
        self.connector.connect(route).await.map_err(|e| connect_failure(i, self.routes.len(), route, &e))
    }

    /// Opens every connection, with its first exchange.
    pub fn open<F: Future<Output = Result<(), Failure>> + Send + 'static>(&'static self, open: impl Fn(usize) -> F) -> Result<(), Failure> {
        self.engine.open(self.routes.len(), open)?;
        self.load.open_connections.store(if self.setup.load.fresh { 0 } else { self.routes.len() as i64 }, Relaxed);
        Ok(())
    }
}

/// Bounds the first exchange of connection i, and says of its failure that it was that.
pub async fn first<T>(i: usize, exchange: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let late = || Err(Failure::new(Kind::Timeout, "no reply came within 10 s"));
    let made = tokio::time::timeout(PATIENCE, exchange).await.unwrap_or_else(|_| late());
    made.map_err(|f| Failure::new(f.kind, format!("verify connection {i}: {}", f.text)))
}
