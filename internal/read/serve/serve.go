// Package serve shows runs to browsers: a list of runs, their reports, and a run while it goes on, in a page that loads itself again. It reads files and writes none. The goroutines of a server
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
)

// Options are what a server needs to know.
type Options struct {
	Results *follow.Results
	Names   []string // of this host that a browser may ask for, beside localhost and addresses
	Token   string   // that every request must carry; "" for none
	Log     io.Writer
}

// Bounds of what is served at a time.
const (
	maxConnections = 1024
	maxHeader      = 16 << 10

	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 60 * time.Second // of a page, with the time it takes to be made
	idleTimeout   = 2 * time.Minute
	endTimeout    = time.Second // for answers under way when the server ends
)

// server is what the handlers share.
type server struct {
	Options
	watched *watches
	built   *builder
}

// Serve answers browsers until ctx ends. It closes the listener. The error is the
// listener's; nil when ctx ended it.
func Serve(ctx context.Context, listener net.Listener, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{Options: o, watched: &watches{results: o.Results}, built: newBuilder()}
	defer s.watched.close()
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
	err := web.Serve(netutil.LimitListener(listener, maxConnections))
	cancel()
	if closed := <-ended; errors.Is(err, http.ErrServerClosed) {
		return closed
	}
	return fmt.Errorf("serve %s: %w", listener.Addr(), err)
}
