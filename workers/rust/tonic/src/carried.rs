//! What travels: a trial's messages, as tonic sees them.

use bytes::Bytes;
use netdyno_requests::{Block, Content, Message, Reply, Text};

/// A message of the service.
pub trait Carried: prost::Message + Default + Clone + PartialEq + 'static {
    /// What a client sends where so many bytes go up.
    fn request(content: &Content, up: i64) -> Self;
    /// What a server answers with so many bytes.
    fn reply(content: &Content, down: usize) -> Self;
    /// Its payload.
    fn length(&self) -> i64;
    /// Checks a request.
    fn fits(&self, _content: &Content) -> Result<(), String> {
        Ok(())
    }
}

impl Carried for Block {
    fn request(content: &Content, up: i64) -> Block {
        Block { content: content.request(up) }
    }
    fn reply(content: &Content, down: usize) -> Block {
        Block { content: content.reply(down) }
    }
    fn length(&self) -> i64 {
        self.content.len() as i64
    }
    fn fits(&self, content: &Content) -> Result<(), String> {
        content.fits(self.length())
    }
}

impl Carried for Text {
    fn request(content: &Content, _: i64) -> Text {
        match &content.messages {
            Some((Message::Text(text), _)) => text.clone(),
            _ => Text::default(),
        }
    }
    fn reply(content: &Content, _: usize) -> Text {
        match &content.messages {
            Some((_, Message::Text(text))) => text.clone(),
            _ => Text::default(),
        }
    }
    fn length(&self) -> i64 {
        prost::Message::encoded_len(self) as i64
    }
}

impl Carried for Reply {
    fn request(_: &Content, _: i64) -> Reply {
        Reply::default()
    }
    fn reply(content: &Content, _: usize) -> Reply {
        match &content.messages {
            Some((_, Message::Reply(reply))) => (**reply).clone(),
            _ => Reply::default(),
        }
    }
    fn length(&self) -> i64 {
        prost::Message::encoded_len(self) as i64
    }
}

/// Cuts content into a stream's messages; empty content is one empty message.
pub fn cut(content: Bytes, chunk: usize) -> impl Iterator<Item = Block> + Send + 'static {
    let n = content.len().div_ceil(chunk).max(1);
    (0..n).map(move |i| Block { content: content.slice(i * chunk..content.len().min((i + 1) * chunk)) })
}
