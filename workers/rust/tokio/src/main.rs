//! Transport tokio: TCP by tokio's TcpStream, a task for each connection. Wires echo and stream.

use netdyno_kit::flow::{describe, read_buffer_option, Work, FEATURES};
use netdyno_kit::net::{addresses_of, listen, routes, Allowed};
use netdyno_kit::{driving, json, serving, Client, Failure, Kind, Load, Program, Server, Setup, Transport, Value};
use netdyno_kit_tokio::{drive, exchanges, runtime_option, serve, Engine, Fresh};
use std::sync::atomic::Ordering::Relaxed;
use tokio::net::TcpStream;

struct Tokio;

impl Transport for Tokio {
    fn describe(&self) -> Value {
        describe(json!({"name": "tokio", "doc": "tokio's TcpStream, a task per connection",
            "features": ([&["fresh"], &FEATURES[..]].concat()), "options": [runtime_option(), read_buffer_option()]}))
    }

    fn server(&self, setup: &Setup) -> Result<Box<dyn Server>, Failure> {
        let (work, engine, listeners) = (Work::new(setup)?, Engine::new(setup)?, listen(setup)?);
        let ready = json!({"addresses": addresses_of(&listeners), "options": {"runtime": setup.text("runtime"), "read_buffer": work.buffer}});
        engine.accept(listeners, Allowed::new(setup)?, move |mut stream, alarm| async move { serve(&mut stream, work, alarm).await })?;
        Ok(serving(ready, || work.counts()))
    }

    fn client(&self, setup: &Setup) -> Result<Box<dyn Client>, Failure> {
        let (work, engine, load) = (Work::new(setup)?, Engine::new(setup)?, Load::new(setup)?);
        if setup.load.fresh && setup.load.in_flight > 1 {
            let text = "load.fresh with load.in_flight above 1: a fresh connection has one exchange; use more connections";
            return Err(Failure::new(Kind::Unsupported, text));
        }
        let conns = work.connect(setup, load)?;
        if setup.load.fresh {
            load.open_connections.store(0, Relaxed);
            let routes = routes(setup)?;
            return Ok(Box::new(driving(load, move || engine.run_slots(load, |i, slot| {
                let mut call = Fresh::new(work, routes[i]);
                async move { exchanges(load, slot, engine.alarm(i), &mut call).await }
            }))));
        }
        Ok(Box::new(driving(load, move || {
            let mut conns = conns.into_iter();
            let active: Vec<_> = conns.by_ref().take(load.active()).collect();
            std::mem::forget(conns); // the idle ones stay open until the process ends
            let mut active = active.into_iter();
            engine.run(load, |i| {
                let conn = active.next();
                async move {
                    let Some(conn) = conn else { return Ok(()) };
                    conn.set_nonblocking(true)?;
                    let mut stream = TcpStream::from_std(conn)?;
                    let ended = drive(&mut stream, work, load.slots(i), load, engine.alarm(i)).await;
                    if ended.is_ok() {
                        std::mem::forget(stream); // as they do
                    }
                    ended
                }
            })
        })))
    }
}

static WORKER: Program = Program {
    name: "netdyno-worker-tokio",
    version: env!("CARGO_PKG_VERSION"),
    libraries: &[("tokio", "1.54.1")],
    transports: &[&Tokio],
};

fn main() {
    WORKER.main()
}
