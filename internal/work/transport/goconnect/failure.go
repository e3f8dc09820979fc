package goconnect

import (
	"errors"

	"connectrpc.com/connect"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/nethttp"
)

// failure gives a failed call the contract's kind.
func failure(err error) error {
	var known *contract.Error
	if errors.As(err, &known) {
		return known // of checking the content, or of dialling
	}
	if connect.IsWireError(err) {
		return load.Failure(contract.Invalid, err) // the server answered: it refuses the request
	}
	switch connect.CodeOf(err) {
	case connect.CodeDeadlineExceeded:
		return load.Failure(contract.Timeout, err)
	case connect.CodeUnavailable, connect.CodeUnknown, connect.CodeInternal, connect.CodeCanceled, connect.CodeAborted:
		return named(err)
	}
	return load.Failure(contract.Invalid, err)
}

// named gives a broken connection a reason without numbers of one stream.
func named(err error) error {
	lost := load.Failure(contract.Peer, err)
	var of *connect.Error
	var told *load.ReasonError
	if errors.As(err, &of) && errors.As(nethttp.Named(of.Unwrap()), &told) {
		return &load.ReasonError{Err: lost, Text: told.Text}
	}
	return lost
}

// invalid makes an error one of kind invalid; nil stays nil.
func invalid(err error) error {
	if err == nil || load.KindOf(err) == contract.Invalid {
		return err
	}
	return load.Failure(contract.Invalid, err)
}
