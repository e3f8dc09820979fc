package tool

// capture keeps all that is written to it, up to a bound. One goroutine writes
// to it; it is read when the writer has ended.
type capture struct {
	text []byte
	full bool // more was written than is kept
}

const captureBytes = 4 << 20

// Write implements io.Writer and never fails.
func (c *capture) Write(b []byte) (int, error) {
	room := min(len(b), captureBytes-len(c.text))
	c.text = append(c.text, b[:room]...)
	c.full = c.full || room < len(b)
	return len(b), nil
}
