package gogrpc

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// failure gives an RPC's error the contract's kind: peer when the connection is
// lost, timeout when the deadline has passed, invalid when the reply is not the
// expected one. The text is the status's message, without the library's wrapping.
func failure(err error) error {
	var known *contract.Error
	if errors.As(err, &known) {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) { // of a stream's context, which has no status
		return load.Failure(contract.Timeout, err)
	}
	s, ok := status.FromError(err)
	if !ok {
		return load.Failure(contract.Invalid, err)
	}
	text := s.Code().String()
	if s.Message() != "" {
		text += ": " + s.Message()
	}
	return &load.ReasonError{Err: load.Failure(kindOf(s.Code()), errors.New(text+hint(s.Code()))), Text: text}
}

// kindOf returns the contract's kind of a status. Source: gRPC, Status codes and
// their use in gRPC (doc/statuscodes.md).
func kindOf(code codes.Code) contract.ErrorKind {
	switch code {
	case codes.Unavailable, codes.Canceled:
		return contract.Peer
	case codes.DeadlineExceeded:
		return contract.Timeout
	}
	return contract.Invalid
}

// hint returns advice for a status that a trial's settings can cause.
func hint(code codes.Code) string {
	switch code {
	case codes.ResourceExhausted:
		return "; option max_message of the receiving end (opt.server.max_message, opt.client.max_message) is the limit, 0 raises it to what the exchange needs"
	case codes.Unimplemented:
		return "; both ends need the same exchange, and the same option method if it is given"
	case codes.Internal, codes.InvalidArgument:
		return "; both ends need the same exchange and the same option codec"
	}
	return ""
}
