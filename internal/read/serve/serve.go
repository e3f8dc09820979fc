// Package serve shows runs to browsers: a list of runs, their reports, two runs compared,
// and a run while it goes on. It reads files and writes none. The goroutines of a server
// end with its context.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"

	"netdyno/internal/read/follow"
	"netdyno/internal/record"
)

// Options are what a server needs to know.
type Options struct {
	Results *follow.Results
	Names   []string // of this host that a browser may ask for, beside localhost and addresses
	Token   string   // that every request must carry; "" for none
	Log     io.Writer

	// Calibration returns what is known of the machine that a run was made on; nil
	// when nothing is.
	Calibration func(record.Facts) (*record.Calibration, error)
}

// Bounds of what is served at a time.
const (
	maxFollowers   = 1024
	maxConnections = maxFollowers + 128
	maxHeader      = 16 << 10
	sendBuffer     = 64 << 10 // of a connection, in the kernel: a slow reader fills it soon

	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 60 * time.Second // of a page, with the time it takes to be made
	idleTimeout   = 2 * time.Minute
	endTimeout    = time.Second // for answers under way when the server ends
)

// server is what the handlers share.
type server struct {
	Options
	feeds *feeds
	built *builder
	slow  time.Duration // that a follower may take for what is sent to it
}

// Serve answers browsers until ctx ends. It closes the listener. The error is the
// listener's; nil when ctx ended it.
func Serve(ctx context.Context, listener net.Listener, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{Options: o, feeds: newFeeds(ctx, o.Results), built: newBuilder(), slow: slowTimeout}
	defer s.feeds.wait()
	web := &http.Server{
		Handler:           s.guard(s.routes()),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          log.New(o.Log, "netdyno: ", 0),
	}
	ended := make(chan error, 1)
	go func() {
		<-ctx.Done()
		closing, stop := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer stop()
		if err := web.Shutdown(closing); err != nil {
			err = web.Close()
			ended <- err
			return
		}
		ended <- nil
	}()
	err := web.Serve(netutil.LimitListener(smallBuffers{listener}, maxConnections))
	cancel()
	if closed := <-ended; errors.Is(err, http.ErrServerClosed) {
		return closed
	}
	return fmt.Errorf("serve %s: %w", listener.Addr(), err)
}

// smallBuffers gives every connection a small buffer in the kernel.
type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // without it a slow reader is noticed later
	}
	return c, err
}
