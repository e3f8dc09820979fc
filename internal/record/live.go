package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"netdyno/internal/contract"
)

// LiveFile is where a run says how far its trial is, in the run's directory. It is
// there only while the run goes on, and nothing is computed from it but what is shown
// meanwhile.
const LiveFile = "live.json"

// Bounds of LiveFile.
const (
	maxLive = 64 << 10
	// MaxLiveClients are the clients whose ticks it holds, the first ones.
	MaxLiveClients = 64
)

// Live is how far the trial under way is.
type Live struct {
	Schema  int             `json:"schema"`
	Trial   string          `json:"trial"`
	BeganAt time.Time       `json:"began_at"`
	Ticks   []contract.Tick `json:"ticks,omitempty"` // the latest of each client, by its number; one that told nothing yet has AtNs 0
}

// LiveWriter writes a LiveFile. One goroutine may use it.
type LiveWriter struct {
	file    *os.File
	longest int
}

// CreateLive makes a new LiveFile in the place of one that a killed run left.
func CreateLive(path string) (*LiveWriter, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	return &LiveWriter{file: f}, nil
}

// Write replaces what the file says, in its place: renaming a new file over it would
// make some file systems write to the disk five times a second. The line carries its
// sum, so that a reader in between notices.
func (w *LiveWriter) Write(l Live) error {
	l.Schema = Schema
	line, err := encodeLine(l)
	if err != nil {
		return err
	}
	if len(line) > maxLive {
		return fmt.Errorf("%s: the line has %d bytes; expected at most %d", LiveFile, len(line), maxLive)
	}
	w.longest = max(w.longest, len(line))
	_, err = w.file.WriteAt(append(line, bytes.Repeat([]byte(" "), w.longest-len(line))...), 0)
	return err
}

// Remove takes the file away and closes it.
func (w *LiveWriter) Remove() error {
	return errors.Join(os.Remove(w.file.Name()), w.file.Close())
}

// ReadLive returns what a LiveFile says. It fails also while the file is being written.
func ReadLive(r io.Reader) (Live, error) {
	var l Live
	line, _, err := readLine(bufio.NewReader(io.LimitReader(r, maxLive)))
	if err != nil {
		return l, err
	}
	body, err := decodeLine(line)
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(body, &l); err != nil {
		return l, err
	}
	if len(l.Ticks) > MaxLiveClients {
		l.Ticks = l.Ticks[:MaxLiveClients]
	}
	return l, checkSchema(1, l.Schema)
}
