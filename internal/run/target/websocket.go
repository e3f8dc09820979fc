package target

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"netdyno/internal/contract"
	"netdyno/internal/head"
	"netdyno/internal/quantity"
	"netdyno/internal/run/spoken"
	"netdyno/internal/run/study"
	"netdyno/internal/websocket"
)

// wireWebSocket is the wire that messages of WebSocket are measured on.
const wireWebSocket = "websocket"

// unasked is how long a server is waited for that may send messages nobody asked for.
const unasked = 100 * time.Millisecond

// askWebSocket asks a server of WebSocket, encrypted or not, for a message that answers one, or
// follows what it sends.
func askWebSocket(ctx context.Context, t Target, u *url.URL) (Found, error) {
	if kind, _ := t.expects(); t.Events.Follow && kind != "" && kind != "status" || t.Events.Chat {
		return Found{}, errors.New("--as, and --expect beside --stream or --events, go with http:// URLs; on a WebSocket each message is an event")
	}
	body, err := t.body(ctx)
	if err != nil {
		return Found{}, err
	}
	if body == "" && !t.Events.Follow {
		body = strings.Repeat("netdyno.", echoed/8) + "end." // what an echo server is asked with
	}
	c := conversed{url: u, body: body}
	var takes []time.Duration
	defer c.end()
	for range t.least() {
		if err := t.timed(ctx, &takes, func(ctx context.Context) error { return c.once(ctx, t) }); err != nil {
			return Found{}, c.explain(ctx, t, err)
		}
	}
	if err := c.quiet(t); err != nil {
		return Found{}, err
	}
	f, err := c.found(t)
	if err != nil {
		return Found{}, err
	}
	f.took(median(takes), c.came)
	return f, t.addExpected(&f, c.lengths)
}

// conversed is what came of some messages.
type conversed struct {
	url       *url.URL
	body      string
	conn      net.Conn // nil where none is open
	reader    *websocket.Reader
	at        net.Addr
	lengths   []int64
	echoes    int
	came      came // of a reply that is followed
	protocol  string
	status    string // by which a handshake was refused
	says, led string // what the refusal says, and where it redirects to
}

// once makes an exchange, on the connection that there is.
func (c *conversed) once(ctx context.Context, t Target) error {
	t, where, body, err := t.filled(c.url, c.body, uint64(t.asked.Load()))
	if err != nil {
		return err
	}
	if c.conn == nil {
		if err := c.shake(ctx, t, where); err != nil {
			return err
		}
	}
	conn := c.conn
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	t.asked.Add(1)
	if body != "" {
		if err := wsutil.WriteClientMessage(c.conn, c.kind(), []byte(body)); err != nil {
			var closed wsutil.ClosedError
			if _, said := c.next(); errors.As(said, &closed) { // before the message went out
				return said
			}
			return err
		}
	}
	if t.Events.Follow {
		return c.follow(t)
	}
	reply, err := c.next()
	if err != nil {
		return err
	}
	c.lengths = append(c.lengths, int64(len(reply)))
	if string(reply) == body {
		c.echoes++
	}
	if t.Close {
		c.end()
	}
	return t.checkBody(reply)
}

// kind is text for what can be text: servers tell them apart.
func (c *conversed) kind() ws.OpCode {
	if utf8.ValidString(c.body) {
		return ws.OpText
	}
	return ws.OpBinary
}

// shake makes a connection for a URL, which names the same host as any.
func (c *conversed) shake(ctx context.Context, t Target, where *url.URL) error {
	fields, err := t.fields()
	if err != nil {
		return err
	}
	host, _, fields := head.Take(fields, "Host")
	conn, err := t.hear(ctx, "tcp", address(c.url))
	if err != nil {
		return err
	}
	c.conn, c.at = conn, conn.RemoteAddr()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	if c.url.Scheme == "wss" {
		config, err := t.trust()
		if err != nil {
			return err
		}
		if config.ServerName == "" {
			config.ServerName = c.url.Hostname()
		}
		c.conn = tls.Client(conn, config)
	}
	filled, err := url.Parse(t.Fill.url(where.String()))
	if err != nil {
		return err
	}
	before, shaken, err := websocket.Shake(c.conn, filled, fields, cmp.Or(t.Host, host), c.refused)
	if err != nil {
		return err
	}
	c.protocol = shaken.Protocol
	c.reader = websocket.NewReader(c.conn, before, ws.StateClientSide, contract.MaxMessage)
	return nil
}

// refused keeps what a server answers in place of 101.
func (c *conversed) refused(r *http.Response) {
	c.status, c.says, c.led = r.Status, said(r), r.Header.Get("Location")
}

// next waits for a message.
func (c *conversed) next() ([]byte, error) {
	if err := c.reader.Next(); err != nil {
		return nil, err
	}
	var message bytes.Buffer
	_, err := c.reader.Message(&message)
	return message.Bytes(), err
}

// follow takes messages until the server ends them, or as long as they are followed.
func (c *conversed) follow(t Target) (err error) {
	begun, bytes := time.Now(), 0
	cut := func() bool { return false }
	for err == nil && (t.Events.Most == 0 || c.came.count < t.Events.Most) {
		var message []byte
		if message, err = c.next(); err != nil {
			break
		}
		if c.came.count++; c.came.count == 1 {
			c.came.first = time.Since(begun)
			timer := time.AfterFunc(t.Events.lasts(), func() { _ = c.conn.SetReadDeadline(time.Unix(1, 0)) })
			cut = func() bool { return !timer.Stop() }
		}
		bytes += len(message)
	}
	c.came.kind, c.came.takes = messages, time.Since(begun)
	var closed wsutil.ClosedError
	c.came.ended = errors.As(err, &closed)
	if over := cut(); c.came.count > 0 && (over || c.came.ended) {
		err = nil
	}
	c.lengths = append(c.lengths, int64(bytes))
	return err
}

// quiet refuses a server that sends what nobody asked for, where each message has an answer.
func (c *conversed) quiet(t Target) error {
	if t.Events.Follow || c.conn == nil {
		return nil
	}
	_ = c.conn.SetReadDeadline(time.Now().Add(unasked)) // fails where the connection is lost, as next does
	if more, silent := c.next(); silent == nil {
		return fmt.Errorf("%s sends messages that answer none, the last of %d bytes: --stream or --events N measures when they come", Shown(c.url), len(more))
	}
	return nil
}

// end closes the connection as the protocol has it.
func (c *conversed) end() {
	if c.conn == nil {
		return
	}
	_ = c.conn.SetDeadline(time.Now().Add(unasked)) // of the close alone
	_ = wsutil.WriteClientMessage(c.conn, ws.OpClose, ws.NewCloseFrameBody(ws.StatusNormalClosure, ""))
	_ = c.conn.Close()
	c.conn = nil
}

// explain says what an error means, and what to type.
func (c *conversed) explain(ctx context.Context, t Target, err error) error {
	where := Shown(c.url)
	var closed wsutil.ClosedError
	var header tls.RecordHeaderError
	var dialled *net.OpError
	switch {
	case c.led != "":
		return fmt.Errorf("%s redirects to %s: measure that URL", where, quantity.Clip(c.led, 200))
	case c.status != "":
		return fmt.Errorf("%s answers %s: %q; expected 101 Switching Protocols, at the path where it speaks WebSocket", where, c.status, c.says)
	case errors.As(err, &closed):
		return fmt.Errorf("%s closes the connection %s; --data TEXT says what it is sent", where, websocket.How(closed))
	case errors.Is(err, wsutil.ErrMessageTooLarge):
		return fmt.Errorf("%s sends a message of more than %s, the most that is measured", where, quantity.FormatBytes(contract.MaxMessage))
	case errors.As(err, &header):
		return fmt.Errorf("%s speaks no TLS; measure ws://%s", where, c.url.Host+c.url.RequestURI())
	case errors.As(err, &dialled) && dialled.Op == "dial", errors.As(err, new(wrong)):
		return err
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		if c.body == "" {
			return fmt.Errorf("%s sent no message within %v; --data TEXT says what it is sent first", where, t.limit())
		}
		return fmt.Errorf("%s answered %d of %d messages within %v; --data TEXT says what it is sent, and --stream follows a server that sends by itself", where, len(c.lengths), len(c.lengths)+1, t.limit())
	}
	if said := untrusted(where, err); said != nil {
		return said
	}
	if c.reader == nil && c.url.Scheme == "ws" && spoken.At(ctx, t.address(c.url)).TLS {
		return fmt.Errorf("%s speaks TLS: measure wss://%s", where, c.url.Host+c.url.RequestURI())
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: the server ended the connection; does it speak WebSocket?", where)
	}
	return fmt.Errorf("%s: %w", where, cmp.Or(websocket.Wrong(err), err))
}

// found turns what came into levels.
func (c *conversed) found(t Target) (Found, error) {
	u, last := c.url, c.lengths[len(c.lengths)-1]
	_, _, first, err := t.filled(u, c.body, 0)
	if err != nil {
		return Found{}, err
	}
	levels := map[string]string{
		"server": "address", "client": t.client(wireWebSocket, u.Scheme == "wss", "", "go-websocket"), "opt.server.address": t.address(u),
		"opt.server.wire": wireWebSocket, "request": size(int64(len(first))), "response": size(last), "opt.client.message": "none",
	}
	if c.body != "" {
		levels["opt.client.message"] = map[ws.OpCode]string{ws.OpText: "text", ws.OpBinary: "binary"}[c.kind()]
	}
	f := Found{Name: named(u), Levels: levels, Texts: map[string]study.Carried{}, At: reached(c.at)}
	words := []string{"WebSocket, 101 Switching Protocols"}
	if u.Scheme == "wss" {
		t.addTrust(u, levels)
		words[0] += " by TLS"
	}
	if c.protocol != "" {
		words = append(words, "protocol "+quantity.Clip(c.protocol, 40))
	}
	switch {
	case t.Events.Follow:
		levels["fresh"] = "yes"
		words = append(words, t.addEvents(&f, c.came), "a new connection for every reply")
	case c.echoes == len(c.lengths):
		words = append(words, fmt.Sprintf("echo of %d bytes", last))
	default:
		words = append(words, fmt.Sprintf("%d bytes answer %d", last, len(first)))
	}
	if t.Close && !t.Events.Follow {
		levels["fresh"] = "yes"
		words = append(words, "a new connection for every message, as asked")
	}
	f.Words = strings.Join(words, ", ")
	path := t.Fill.url(u.RequestURI())
	if t.differs() {
		path = t.filledPath
	}
	t.addRows(&f)
	f.text("path", path, t.Fill.within(path))
	f.text("body", c.body, t.Fill.within(c.body))
	return f, t.addNames(u, &f)
}
