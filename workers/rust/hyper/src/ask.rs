//! What the exchanges of a trial, or of each of its classes, ask for.

use hyper::http::uri::PathAndQuery;
use hyper::{Method, StatusCode};
use netdyno_kit::contract::Class;
use netdyno_kit::{Failure, Kind, Setup};

pub struct Ask {
    pub method: Method,
    path: PathAndQuery,   // without a key
    pieces: Vec<String>,  // of the path, between which the key stands; none without a key
    status: StatusCode,   // that a reply must have
    success: bool,        // or any 2xx
}

fn parse<T: std::str::FromStr>(what: &str, text: &str) -> Result<T, Failure>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|e| Failure::new(Kind::Setup, format!("{what} is {text:?}: {e}")))
}

impl Ask {
    /// One for each class; one where there are none.
    pub fn all(setup: &Setup, posts: bool) -> Result<Vec<Ask>, Failure> {
        let whole = Ask {
            method: if posts { Method::POST } else { Method::GET },
            path: parse("option path", setup.text("path"))?,
            pieces: Vec::new(),
            status: StatusCode::OK,
            success: false,
        };
        if setup.load.classes.is_empty() {
            return Ok(vec![whole]);
        }
        setup.load.classes.iter().map(|c| whole.of(c)).collect()
    }

    fn of(&self, c: &Class) -> Result<Ask, Failure> {
        let named = |what: &str| format!("{what} of class {}", c.name);
        let method = match c.method.as_str() {
            "" if c.up_bytes > 0 => Method::POST,
            "" => Method::GET,
            other => parse(&named("method"), other)?,
        };
        let path = if c.path.is_empty() { self.path.clone() } else { parse(&named("path"), &c.path.replace("{key}", "0"))? };
        if !path.as_str().starts_with('/') {
            return Err(Failure::new(Kind::Setup, format!("{} is {:?}, expected a slash first", named("path"), c.path)));
        }
        let status = if c.status == 0 { Ok(self.status) } else { StatusCode::from_u16(c.status) };
        let status = status.map_err(|e| Failure::new(Kind::Setup, format!("{} is {}: {e}", named("status"), c.status)))?;
        let pieces = if c.path.contains("{key}") { c.path.split("{key}").map(String::from).collect() } else { Vec::new() };
        Ok(Ask { method, path, pieces, status, success: c.status == 0 })
    }

    /// The path of an exchange with such a key.
    pub fn path(&self, key: i64) -> PathAndQuery {
        match self.pieces.is_empty() {
            true => self.path.clone(),
            false => self.pieces.join(&key.to_string()).parse().unwrap_or_else(|_| self.path.clone()), // it was parsed with another
        }
    }

    /// Whether replies have no body.
    pub fn bodiless(&self) -> bool {
        self.method == Method::HEAD
    }

    pub fn takes(&self, status: StatusCode) -> Result<(), Failure> {
        match status == self.status || self.success && status.is_success() {
            true => Ok(()),
            false => Err(Failure::new(Kind::Invalid, status.to_string())),
        }
    }
}
