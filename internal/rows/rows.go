// Package rows is the form in which rows of data lie in a file that workers map into
// memory, and how requests are filled from them (contract/MIXES.md, section Data). Both who
// makes the file and who sends the requests use it.
package rows

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Bounds of a file.
const (
	MostField   = 1 << 20 // bytes
	MostColumns = 1000
)

const (
	magic  = "NDROWS1\n"
	footer = 32
	word   = 8
)

// Writer writes the rows of a file. One goroutine uses it.
type Writer struct {
	file, index *os.File // the index is a nameless file until Close
	to, ends    *bufio.Writer
	columns     int
	fields      uint64
	at          uint64 // in the file
	scratch     [word]byte
}

const room = 1 << 20

// Create makes the file, which only its owner may read, for rows of so many columns.
func Create(name string, columns int) (*Writer, error) {
	index, err := os.CreateTemp(filepath.Dir(name), "netdyno-rows-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(index.Name()); err != nil {
		return nil, errors.Join(err, index.Close())
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, errors.Join(err, index.Close())
	}
	w := &Writer{file: file, index: index, to: bufio.NewWriterSize(file, room), ends: bufio.NewWriterSize(index, room), columns: columns}
	_, err = w.to.WriteString(magic)
	w.at = uint64(len(magic))
	return w, err
}

// Add writes the next field, of the first row, then of the second and so on.
func (w *Writer) Add(field []byte) error {
	w.fields++
	if err := w.number(w.ends, w.at); err != nil {
		return err
	}
	w.at += uint64(len(field))
	_, err := w.to.Write(field)
	return err
}

func (w *Writer) number(to *bufio.Writer, n uint64) error {
	binary.LittleEndian.PutUint64(w.scratch[:], n)
	_, err := to.Write(w.scratch[:])
	return err
}

// Size is how many bytes of fields there are.
func (w *Writer) Size() uint64 { return w.at }

// Close writes what is left. salt makes what is made for one run another than for the next.
func (w *Writer) Close(salt uint64) error {
	err := w.finish(salt)
	return errors.Join(err, w.index.Close(), w.file.Close())
}

func (w *Writer) finish(salt uint64) error {
	if err := errors.Join(w.number(w.ends, w.at), w.ends.Flush()); err != nil {
		return err
	}
	index := w.at + -w.at%word
	if _, err := w.to.Write(make([]byte, index-w.at)); err != nil {
		return err
	}
	if _, err := w.index.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := w.to.Flush(); err != nil {
		return err
	}
	if _, err := io.Copy(w.file, w.index); err != nil {
		return err
	}
	rows := uint64(0)
	if w.columns > 0 {
		rows = w.fields / uint64(w.columns)
	}
	for _, n := range []uint64{salt, uint64(w.columns), rows, index} {
		if err := w.number(w.to, n); err != nil {
			return err
		}
	}
	return w.to.Flush()
}

// File is a file of rows in memory. Any goroutine may use it.
type File struct {
	Columns int
	Rows    uint64

	salt   uint64
	text   []byte // the whole
	index  []byte
	mapped bool
}

// Open maps a file into memory, for as long as the process lives or until Close.
func Open(name string) (*File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if size := info.Size(); !info.Mode().IsRegular() || size < int64(len(magic)+word+footer) || size != int64(int(size)) {
		return nil, fmt.Errorf("%s: %w", name, errDamaged)
	}
	text, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s into memory: %w", name, err)
	}
	opened, err := Parse(text)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), unix.Munmap(text))
	}
	opened.mapped = true
	return opened, nil
}

var errDamaged = errors.New("it is no file of rows, or it is damaged")

// Parse reads a file that is in memory, and keeps it.
func Parse(text []byte) (*File, error) {
	size := uint64(len(text))
	if size < uint64(len(magic)+word+footer) || string(text[:len(magic)]) != magic {
		return nil, errDamaged
	}
	end := size - footer
	number := func(i uint64) uint64 { return binary.LittleEndian.Uint64(text[end+i*word:]) }
	f := &File{salt: number(0), Rows: number(2), text: text}
	columns, index := number(1), number(3)
	if columns > MostColumns || (columns == 0) != (f.Rows == 0) || f.Rows > size || index > end || (end-index)%word != 0 || (end-index)/word != columns*f.Rows+1 {
		return nil, errDamaged
	}
	f.Columns, f.index = int(columns), text[index:end]
	before := uint64(len(magic))
	for at := index; at < end; at += word {
		begins := binary.LittleEndian.Uint64(text[at:])
		if begins < before || begins > index {
			return nil, errDamaged
		}
		before = begins
	}
	return f, nil
}

// Close gives the memory back.
func (f *File) Close() error {
	if !f.mapped {
		return nil
	}
	return unix.Munmap(f.text)
}

// Field returns a field, which is not to be changed.
func (f *File) Field(row uint64, column int) []byte {
	at := (row*uint64(f.Columns) + uint64(column)) * word
	return f.text[binary.LittleEndian.Uint64(f.index[at:]):binary.LittleEndian.Uint64(f.index[at+word:])]
}
