//! What the workers of HTTP, gRPC and QUIC have in common: what an exchange carries, and how its connection
//! is made and encrypted (docs/wires.md, section Requests).

mod content;
mod ends;
mod messages;
mod random;
mod stream;
mod tls;

pub use content::{codecs, Codec, Content, DOWN_HEADER, FEATURES};
pub use messages::{Block, Message, Reply, Text};
pub use ends::{first, Asker, Line, Site};
pub use stream::Stream;
pub use tls::{Acceptor, Connector};
