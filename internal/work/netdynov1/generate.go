// Package netdynov1 holds the messages of wire grpc:netdyno.v1, generated from
// exchange.proto. The service is registered by the transports themselves, so
// that no transport links another's library.
package netdynov1

//go:generate protoc --go_out=paths=source_relative:. exchange.proto
