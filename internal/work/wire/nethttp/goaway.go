package nethttp

import (
	"errors"
	"fmt"
	"regexp"

	"golang.org/x/net/http2"

	"netdyno/internal/work/load"
)

// The words of net/http, which does not export these errors, for a request that the
// server has not looked at: it may go out again (RFC 9113, section 6.8).
const (
	leftByServer = "http2: Transport received Server's graceful shutdown GOAWAY"
	notUsable    = "http2: client conn not usable"
)

// unprocessed tells whether err says that the server has not looked at a request.
func unprocessed(err error) bool {
	var reset http2.StreamError
	if errors.As(err, &reset) {
		return reset.Code == http2.ErrCodeRefusedStream
	}
	return err != nil && (err.Error() == leftByServer || err.Error() == notUsable)
}

var goneAway = regexp.MustCompile(`^http2: (?:server sent GOAWAY and closed the connection; LastStreamID=\d+, ErrCode=|Transport received GOAWAY from server ErrCode:)(\w+)`)

// Named gives an error of HTTP/2 a reason without numbers of one stream.
func Named(err error) error {
	var reset http2.StreamError
	if errors.As(err, &reset) {
		return &load.ReasonError{Err: err, Text: fmt.Sprintf("stream reset (%s)", reset.Code)}
	}
	if found := goneAway.FindStringSubmatch(err.Error()); found != nil {
		return &load.ReasonError{Err: err, Text: fmt.Sprintf("the server left within the reply (GOAWAY, %s)", found[1])}
	}
	return err
}
