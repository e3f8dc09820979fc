package rig

import (
	"errors"
	"slices"
)

// HostError is what is wrong with one host of a rig. Trials that run on others can
// go on. What several hosts suffer from is several of these, joined.
type HostError struct {
	Host string
	Err  error
}

func (e *HostError) Error() string { return e.Host + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *HostError) Unwrap() error { return e.Err }

// ErrorOf returns what of an error concerns a trial on these hosts: what is of no
// host alone, and what is of theirs; nil for nothing. What only some of its hosts
// suffer from loses the words around all of it.
func ErrorOf(err error, hosts ...string) error {
	if err == nil {
		return nil
	}
	if one, is := err.(*HostError); is { //nolint:errorlint // looked at layer by layer
		if slices.Contains(hosts, one.Host) {
			return err
		}
		return nil
	}
	if joined, several := err.(interface{ Unwrap() []error }); several {
		var mine []error
		for _, part := range joined.Unwrap() {
			mine = append(mine, ErrorOf(part, hosts...))
		}
		return errors.Join(mine...)
	}
	inner := errors.Unwrap(err)
	if inner == nil {
		return err
	}
	mine := ErrorOf(inner, hosts...)
	if mine != nil && mine.Error() == inner.Error() {
		return err
	}
	return mine
}
