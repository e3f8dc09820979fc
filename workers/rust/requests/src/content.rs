//! What an exchange carries, apart from how it travels.

use crate::messages::{Message, Reply, Text};
use crate::random::random;
use bytes::Bytes;
use netdyno_kit::contract::{Typed, MAX_MESSAGE};
use netdyno_kit::draw::Draw;
use netdyno_kit::{json, Failure, Kind, Setup, Value};
use prost::Message as _;

/// By this header, or metadata of gRPC, a request says how long its reply is to be, where that is drawn.
pub const DOWN_HEADER: &str = "netdyno-down";

/// What the transports of HTTP and gRPC have.
pub const FEATURES: [&str; 9] = ["tls", "fresh", "sizes", "arrivals", "mix", "deadline", "think", "work-cpu", "work-sleep"];

/// How messages become bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Codec {
    Bytes,
    /// serde_json
    Json,
    /// prost
    Proto,
}

/// The codecs' names in hello.
pub fn codecs() -> Value {
    json!(["bytes", "proto", "json"])
}

impl Codec {
    pub fn media_type(self) -> &'static str {
        match self {
            Codec::Bytes => "application/octet-stream",
            Codec::Json => "application/json",
            Codec::Proto => "application/protobuf",
        }
    }

    pub fn encode(self, message: &Message) -> Vec<u8> {
        match (self, message) {
            (Codec::Json, Message::Text(m)) => serde_json::to_vec(m).unwrap_or_default(),
            (Codec::Json, Message::Reply(m)) => serde_json::to_vec(m).unwrap_or_default(),
            (_, Message::Text(m)) => m.encode_to_vec(),
            (_, Message::Reply(m)) => m.encode_to_vec(),
        }
    }

    /// Decodes a message of the type of another one.
    fn decode(self, like: &Message, data: &[u8]) -> Result<Message, String> {
        let text = |e: &dyn std::fmt::Display| format!("decode: {e}");
        match (self, like) {
            (Codec::Json, Message::Text(_)) => serde_json::from_slice(data).map(Message::Text).map_err(|e| text(&e)),
            (Codec::Json, Message::Reply(_)) => serde_json::from_slice(data).map(Message::Reply).map_err(|e| text(&e)),
            (_, Message::Text(_)) => Text::decode(data).map(Message::Text).map_err(|e| text(&e)),
            (_, Message::Reply(_)) => Reply::decode(data).map(|m| Message::Reply(Box::new(m))).map_err(|e| text(&e)),
        }
    }
}

/// The content of both directions. It never changes; any thread may use it.
pub struct Content {
    pub codec: Codec,
    pub up_bytes: i64, // of the encoded messages; the largest, where sizes are drawn
    pub down_bytes: i64,
    up: Bytes, // of codec bytes
    down: Bytes,
    pub messages: Option<(Message, Message)>,
    up_varies: bool,
    down_varies: bool,
}

impl Content {
    /// Reads setup.exchange. The failure is of kind setup or unsupported.
    pub fn new(setup: &Setup) -> Result<&'static Content, Failure> {
        let x = &setup.exchange;
        let refuse = |text: String| Failure::new(Kind::Setup, text);
        let codec = match x.codec.as_str() {
            "json" => Codec::Json,
            "proto" => Codec::Proto,
            _ => Codec::Bytes,
        };
        let mut content = Content {
            codec, up_bytes: x.up_bytes, down_bytes: x.down_bytes, up: Bytes::new(), down: Bytes::new(), messages: None,
            up_varies: !x.up_sizes.is_empty(), down_varies: !x.down_sizes.is_empty(),
        };
        if codec == Codec::Bytes {
            for (name, n) in [("up", x.up_bytes), ("down", x.down_bytes)] {
                if !(0..=MAX_MESSAGE).contains(&n) {
                    return Err(refuse(format!("exchange.{name}_bytes is {n}, expected 0 to {MAX_MESSAGE}")));
                }
            }
            content.up = random(x.up_bytes as usize, b'u').into();
            content.down = random(x.down_bytes as usize, b'd').into();
            return Ok(Box::leak(Box::new(content)));
        }
        let Some(message) = &x.message else {
            return Err(refuse(format!("exchange.codec is {} and exchange.message is absent: expected what to encode", x.codec)));
        };
        if content.up_varies || content.down_varies || !setup.load.classes.is_empty() {
            return Err(refuse(format!("exchange.up_sizes or down_sizes, or load.classes, is given with codec {}, whose messages have sizes of their own", x.codec)));
        }
        let (up, down) = (fill(&message.up)?, fill(&message.down)?);
        (content.up_bytes, content.down_bytes) = (codec.encode(&up).len() as i64, codec.encode(&down).len() as i64);
        content.messages = Some((up, down));
        Ok(Box::leak(Box::new(content)))
    }

    /// The setup with the sizes of the encoded messages, for the load.
    pub fn sized(&self, setup: &Setup) -> Setup {
        let mut sized = setup.clone();
        (sized.exchange.up_bytes, sized.exchange.down_bytes) = (self.up_bytes, self.down_bytes);
        sized
    }

    /// What ready says of the messages, besides what it has.
    pub fn sizes(&self, mut ready: Value) -> Value {
        if self.messages.is_some() {
            (ready["up_bytes"], ready["down_bytes"]) = (self.up_bytes.into(), self.down_bytes.into());
        }
        ready
    }

    /// Bytes up, of codec bytes, and down of an exchange that was drawn.
    pub fn sizes_of(&self, draw: Draw) -> (i64, i64) {
        if self.messages.is_some() { (0, self.down_bytes) } else { (draw.up, draw.down) }
    }

    /// Whether requests say how long their replies are to be.
    pub fn asks(&self) -> bool {
        self.down_varies
    }

    /// What a client sends where so many bytes go up: encoded afresh, or the content of codec bytes.
    pub fn request(&self, up: i64) -> Bytes {
        match &self.messages {
            Some((message, _)) => self.codec.encode(message).into(),
            None => self.up.slice(..up as usize),
        }
    }

    /// Checks the length of a request before it is read.
    pub fn fits(&self, n: i64) -> Result<(), String> {
        match self.messages {
            None if self.up_varies && n > self.up_bytes => Err(format!("the request has {n} bytes, expected at most {}", self.up_bytes)),
            None if !self.up_varies && n != self.up_bytes => Err(format!("the request has {n} bytes, expected {}", self.up_bytes)),
            _ => Ok(()),
        }
    }

    /// Content of codec bytes for a reply of so many bytes.
    pub fn reply(&self, down: usize) -> Bytes {
        self.down.slice(..down)
    }

    /// Takes a request, with what its header asks for, and returns the reply. The error says what was wrong.
    pub fn respond(&self, request: &[u8], asked: Option<&str>) -> Result<Bytes, String> {
        if let Some((up, down)) = &self.messages {
            self.codec.decode(up, request)?;
            return Ok(self.codec.encode(down).into());
        }
        self.fits(request.len() as i64)?;
        Ok(self.down.slice(..self.asked(asked)?))
    }

    /// How long a reply is to be.
    pub fn asked(&self, asked: Option<&str>) -> Result<usize, String> {
        if !self.down_varies {
            return Ok(self.down.len());
        }
        let wrong = || format!("header {DOWN_HEADER} is {:.20?}, expected a length of 0 to {} bytes", asked.unwrap_or(""), self.down_bytes);
        let n: usize = asked.unwrap_or("").parse().map_err(|_| wrong())?;
        if n > self.down.len() { Err(wrong()) } else { Ok(n) }
    }

    /// Checks a reply that is to have so many bytes as an application does, and returns its length.
    pub fn accept(&self, reply: &[u8], down: i64) -> Result<i64, Failure> {
        let wrong = match &self.messages {
            Some((_, message)) => self.codec.decode(message, reply).err().map(|e| format!("the reply: {e}")),
            None if reply.len() as i64 != down => Some(format!("the reply has {} bytes, expected {down}", reply.len())),
            None => None,
        };
        wrong.map_or(Ok(reply.len() as i64), |text| Err(Failure::new(Kind::Invalid, text)))
    }

    /// Compares the first reply of a connection with what our servers send.
    pub fn verify(&self, reply: &[u8], down: i64) -> Result<(), Failure> {
        self.accept(reply, down)?;
        let same = match &self.messages {
            Some((_, message)) => self.codec.decode(message, reply).as_ref() == Ok(message),
            None => reply == &self.down[..down as usize],
        };
        if same { Ok(()) } else { Err(Failure::new(Kind::Invalid, "the reply has other content than expected")) }
    }
}

/// A message with the values that a trial says, by the JSON mapping.
fn fill(of: &Typed) -> Result<Message, Failure> {
    let wrong = |e: serde_json::Error| Failure::new(Kind::Setup, format!("exchange.message: {}: {e}", of.kind));
    let text = if of.json.is_empty() { "{}" } else { &of.json };
    let values: Value = serde_json::from_str(text).map_err(wrong)?;
    match of.kind.as_str() {
        "netdyno.v1.Text" => serde_json::from_value(values).map(Message::Text).map_err(wrong),
        "netdyno.v1.Reply" => serde_json::from_value(values).map(Message::Reply).map_err(wrong),
        other => Err(Failure::new(
            Kind::Unsupported,
            format!("message {other}: this worker has generated code for netdyno.v1.Text and netdyno.v1.Reply alone"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_bytes_of_the_contract() {
        let path = format!("{}/../../../contract/vectors/messages.json", env!("CARGO_MANIFEST_DIR"));
        let all: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let mut run = 0;
        for v in all {
            let typed = Typed { kind: v["type"].as_str().unwrap().into(), json: v["json"].to_string() };
            let message = fill(&typed).unwrap();
            let bytes = Codec::Proto.encode(&message);
            let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
            assert_eq!(hex, v["proto"].as_str().unwrap());
            for codec in [Codec::Proto, Codec::Json] {
                assert_eq!(codec.decode(&message, &codec.encode(&message)), Ok(message.clone()));
            }
            run += 1;
        }
        assert!(run > 3, "{run} messages");
    }
}
