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
// host alone, and what is of theirs; nil for nothing.
func ErrorOf(err error, hosts ...string) error {
	var one *HostError
	joined, several := err.(interface{ Unwrap() []error }) //nolint:errorlint // the parts are looked at one by one
	switch {
	case err == nil:
		return nil
	case several:
		var mine []error
		for _, part := range joined.Unwrap() {
			mine = append(mine, ErrorOf(part, hosts...))
		}
		return errors.Join(mine...)
	case errors.As(err, &one) && !slices.Contains(hosts, one.Host):
		return nil
	}
	return err
}
