package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"syscall"
	"time"

	"netdyno/internal/quantity"
)

// Requests that a server is asked before it is believed: so many good replies, and so many in
// all where one is bad; of so many at most as many must be good.
const (
	asked     = 3
	mostMixed = 8
	mostAsked = 32
)

// improbable is how rarely a server may fail as often as it did by the share that may.
const improbable = 0.002

// sample judges a server by some requests, of which a share may fail as in the window.
type sample struct {
	most      float64 // share that may fail
	good, bad int
}

// samples are those of a target's classes, by their names; that of the target itself has none.
type samples map[string]*sample

// of is the sample of a request.
func (all samples) of(request Target) *sample {
	if all[request.class] == nil {
		all[request.class] = &sample{most: request.MaxErrors}
	}
	return all[request.class]
}

// wants tells whether the server is asked once more.
func (s *sample) wants() bool { return s.good < asked || s.bad > 0 && s.good+s.bad < mostMixed }

// failed takes in a request that failed. It returns the error where no more are borne.
func (s *sample) failed(err error) error {
	s.bad++
	n := s.good + s.bad
	if tail(n, s.bad, s.most) > improbable && n < mostAsked {
		return nil
	}
	if s.good == 0 {
		return err
	}
	return sometimes{err, s.bad, n, s.most}
}

// sometimes is an error of a share of the requests.
type sometimes struct {
	error
	bad, of int
	most    float64
}

// Unwrap returns what the last of them met.
func (s sometimes) Unwrap() error { return s.error }

// clause says how many they were, and what would be measured.
func (s sometimes) clause() string {
	allow := min(1, math.Ceil(20*float64(s.bad)/float64(s.of))/10) // twice as many, in tenths
	return fmt.Sprintf("; %d of %d requests failed, and at most %s may: --max-errors %s measures such a server",
		s.bad, s.of, quantity.ShareText(s.most), quantity.ShareText(allow))
}

// tail is how likely bad or more of n requests fail where each does by a share.
func tail(n, bad int, share float64) float64 {
	if share >= 1 {
		return 1
	}
	sum, p := 0.0, math.Pow(1-share, float64(n))
	for k := range n + 1 {
		if k >= bad {
			sum += p
		}
		p *= float64(n-k) / float64(k+1) * share / (1 - share)
	}
	return sum
}

// wrong is a reply that is not as expected.
type wrong struct{ error }

// passing tells whether another request may fare better: the reply was bad, or none came.
func (t Target) passing(err error) bool {
	switch {
	case errors.As(err, new(redirected)):
		return false
	case errors.As(err, new(failed)), errors.As(err, new(wrong)):
		return true
	case errors.Is(err, context.DeadlineExceeded):
		return t.Limit > 0
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

// limit bounds a request.
func (t Target) limit() time.Duration {
	if t.Limit > 0 {
		return t.Limit
	}
	return deadline
}

// limits tells whether the user bounds requests or connections.
func (t Target) limits() bool { return t.Limit > 0 || t.ConnectLimit > 0 }
