//! The messages of wire grpc:netdyno.v1 (internal/work/netdynov1/exchange.proto), in protobuf by prost and
//! in JSON by serde.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// Carries the content of codec bytes.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Block {
    #[prost(bytes = "bytes", tag = "1")]
    pub content: Bytes,
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Text {
    #[prost(string, tag = "1")]
    pub text: String,
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Reply {
    #[prost(string, tag = "1")]
    pub reply_value1: String,
    #[prost(string, tag = "2")]
    pub reply_value2: String,
    #[prost(string, tag = "3")]
    pub reply_value3: String,
    #[prost(string, tag = "4")]
    pub reply_value4: String,
    #[prost(string, tag = "5")]
    pub reply_value5: String,
    #[prost(string, tag = "6")]
    pub reply_value6: String,
    #[prost(string, tag = "7")]
    pub reply_value7: String,
    #[prost(string, tag = "8")]
    pub reply_value8: String,
    #[prost(string, tag = "9")]
    pub reply_value9: String,
    #[prost(string, tag = "10")]
    pub reply_value10: String,
    #[prost(string, tag = "11")]
    pub reply_value11: String,
    #[prost(string, tag = "12")]
    pub reply_value12: String,
    #[prost(string, tag = "13")]
    pub reply_value13: String,
    #[prost(string, tag = "14")]
    pub reply_value14: String,
    #[prost(string, tag = "15")]
    pub reply_value15: String,
    #[prost(string, tag = "16")]
    pub reply_value16: String,
    #[prost(string, tag = "17")]
    pub reply_value17: String,
    #[prost(string, tag = "18")]
    pub reply_value18: String,
    #[prost(string, tag = "19")]
    pub reply_value19: String,
    #[prost(string, tag = "20")]
    pub reply_value20: String,
}

/// One of the messages that a trial names.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    Text(Text),
    Reply(Box<Reply>),
}
