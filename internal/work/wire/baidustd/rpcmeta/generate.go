// Package rpcmeta is the meta of wire baidu_std as protobuf's own generated
// code: what tests of package baidustd judge its reader and writer by. Programs
// do not link it.
package rpcmeta

//go:generate protoc --go_out=paths=source_relative:. baidu_rpc_meta.proto
