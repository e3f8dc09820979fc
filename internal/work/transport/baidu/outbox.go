package baidu

import (
	"io"
	"net"

	"netdyno/internal/work/wire/baidustd"
)

// outbox gathers frames into writes. One goroutine at a time uses it.
type outbox struct {
	copied  int    // attachments up to so many bytes are copied
	frames  []byte // everything that was copied or encoded
	large   []large
	vectors net.Buffers // room for the next write
}

// large is an attachment that is written without a copy.
type large struct {
	at    int // of frames: what comes before it
	bytes []byte
}

// addFrame encodes a frame, and sets the attachment's size in m. The error says why it
// cannot be a frame; the outbox is unchanged then.
func (o *outbox) addFrame(m *baidustd.Meta, c *content) (err error) {
	m.AttachmentBytes = int32(len(c.attachment))
	start := len(o.frames)
	whole, err := c.encode(baidustd.AppendHead(o.frames, m))
	if err == nil {
		err = baidustd.Seal(whole[start:], m)
	}
	if err != nil {
		return err
	}
	o.frames = whole
	switch n := len(c.attachment); {
	case n > o.copied:
		o.large = append(o.large, large{len(whole), c.attachment})
	case n > 0:
		o.frames = append(o.frames, c.attachment...)
	}
	return nil
}

// refuse adds the reply to a call that failed.
func (o *outbox) refuse(id int64, code int32, why string) error {
	m := baidustd.Meta{CorrelationID: id, ErrorCode: code, ErrorText: []byte(why)}
	start := len(o.frames)
	o.frames = baidustd.AppendHead(o.frames, &m)
	return baidustd.Seal(o.frames[start:], &m)
}

// size returns the bytes that have been gathered, with all attachments.
func (o *outbox) size() (n int) {
	n = len(o.frames)
	for _, l := range o.large {
		n += len(l.bytes)
	}
	return n
}

// flush writes everything and empties the outbox.
func (o *outbox) flush(to io.Writer) (err error) {
	switch {
	case len(o.large) > 0:
		err = o.scatter(to)
	case len(o.frames) > 0:
		_, err = to.Write(o.frames)
	}
	o.frames, o.large = o.frames[:0], o.large[:0]
	return err
}

// scatter writes frames and the attachments between them, by one system call where
// the kernel takes as many.
func (o *outbox) scatter(to io.Writer) error {
	out, from := o.vectors[:0], 0
	for _, l := range o.large {
		out = append(out, o.frames[from:l.at], l.bytes)
		from = l.at
	}
	if from < len(o.frames) {
		out = append(out, o.frames[from:])
	}
	o.vectors = out // keep its room: writing consumes the slice
	_, err := o.vectors.WriteTo(to)
	o.vectors = out[:0]
	return err
}
