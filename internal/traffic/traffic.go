// Package traffic is the form in which recorded traffic lies in a file: when each
// request came, of which class it was, how much went up and down, and which path it
// asked for. Both who records and who replays use it.
//
// A file begins with a text for people and for the reader of workload files, which ends
// with the line "...". Then comes the body, all integers little-endian:
//
//	magic    8 bytes, "NDTRAF1\n"
//	paths    count uint32, bytes uint32, CRC-32C uint32; then the paths, each ended by "\n"
//	block    count uint32, bytes uint32, span_ns uint64, CRC-32C uint32; then the requests
//	…
//	end      a block of no requests
//	bodies   nothing, or "NDBODY1\n", count uint32, bytes uint32, CRC-32C uint32; then the bodies
//
// A body is the number of the path whose requests carry it, and the lengths and the bytes of
// its media type and of itself; numbers are LEB128. Requests of one path that carry different
// bodies have paths of different numbers.
//
// A request is five unsigned LEB128 integers: ns since the request before (of the first
// since the beginning), number of its class, bytes up, bytes down, and the number of its
// path plus one, 0 for none. A block's span is the sum of its gaps, so that a reader finds
// a moment without decoding what lies before it. A sum is of the integers before it and
// the bytes after it.
package traffic

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strings"
)

// Bounds of a file.
const (
	MostHeader    = 64 << 10 // bytes of the text
	MostClasses   = 64       // that a request may be of
	MostPaths     = 1 << 16  // different ones
	MostPathsLen  = 16 << 20 // bytes of all of them
	MostBytes     = 1 << 30  // of one request up or down
	MostBody      = 8 << 20  // bytes of one body
	MostBodies    = 64 << 20 // bytes of all of them
	mostBodiesLen = MostBodies + MostPaths*256
	mostSpan      = 100 * year
	blockLength   = 1 << 14
	mostBlock     = blockLength * 5 * binary.MaxVarintLen64
	year          = 365 * 24 * 3600 * int64(1e9) // ns
)

const (
	magic       = "NDTRAF1\n"
	bodiesMagic = "NDBODY1\n"
	endOfHeader = "...\n"
	pathsHead   = 12
	blockHead   = 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Request is one request of recorded traffic.
type Request struct {
	AtNs     int64 // since the beginning
	Class    int
	Up, Down int64 // bytes
	Path     int   // its number among the paths; NoPath for none
}

// Carried is what the requests of a path carry.
type Carried struct {
	MediaType string // "" for none
	Content   []byte
}

// NoPath is the path of a request whose path was not recorded.
const NoPath = -1

// Writer writes the blocks of requests. One goroutine uses it.
type Writer struct {
	to     io.Writer
	block  []byte // with room for its head
	count  uint32
	begins int64 // ns; the request before the block
	last   int64 // ns; the last request
}

// NewWriter returns what writes requests to a file of their own, which Assemble reads.
func NewWriter(to io.Writer) *Writer {
	return &Writer{to: to, block: make([]byte, blockHead, blockLength*16)}
}

// Add writes a request, none of which may be earlier than the one before.
func (w *Writer) Add(r Request) error {
	if r.AtNs < w.last || r.AtNs > mostSpan {
		return fmt.Errorf("write a request at %d ns after one at %d ns: expected rising times within 100 years", r.AtNs, w.last)
	}
	w.block = binary.AppendUvarint(w.block, uint64(r.AtNs-w.last))
	for _, n := range []int64{int64(r.Class), r.Up, r.Down, int64(r.Path) + 1} {
		w.block = binary.AppendUvarint(w.block, uint64(n))
	}
	w.last = r.AtNs
	if w.count++; w.count == blockLength {
		return w.flush()
	}
	return nil
}

// Close writes what is left and the end.
func (w *Writer) Close() error {
	if w.count > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	return w.flush()
}

func (w *Writer) flush() error {
	head := w.block[:blockHead]
	binary.LittleEndian.PutUint32(head, w.count)
	binary.LittleEndian.PutUint32(head[4:], uint32(len(w.block)-blockHead))
	binary.LittleEndian.PutUint64(head[8:], uint64(w.last-w.begins))
	binary.LittleEndian.PutUint32(head[16:], sumOf(head[:16], w.block[blockHead:]))
	_, err := w.to.Write(w.block)
	w.block, w.count, w.begins = w.block[:blockHead], 0, w.last
	return err
}

func sumOf(head, content []byte) uint32 {
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, content)
}

// Assemble writes a whole file: its header without the line that ends it, the paths, what
// the requests of some of them carry, and the blocks that a Writer has written.
func Assemble(to io.Writer, header string, paths []string, carried map[int]Carried, blocks io.Reader) error {
	text := strings.Join(paths, "\n")
	if len(paths) > 0 {
		text += "\n"
	}
	if len(header) > MostHeader-len(endOfHeader) || len(paths) > MostPaths || len(text) > MostPathsLen {
		return fmt.Errorf("write recorded traffic: the header has %d bytes, and %d paths have %d; that is more than a file holds", len(header), len(paths), len(text))
	}
	head := make([]byte, pathsHead)
	binary.LittleEndian.PutUint32(head, uint32(len(paths)))
	binary.LittleEndian.PutUint32(head[4:], uint32(len(text)))
	binary.LittleEndian.PutUint32(head[8:], sumOf(head[:8], []byte(text)))
	if _, err := io.WriteString(to, header+endOfHeader+magic+string(head)+text); err != nil {
		return err
	}
	if _, err := io.Copy(to, blocks); err != nil || len(carried) == 0 {
		return err
	}
	return writeBodies(to, carried)
}

func writeBodies(to io.Writer, carried map[int]Carried) error {
	var content []byte
	for _, path := range slices.Sorted(maps.Keys(carried)) {
		c := carried[path]
		content = binary.AppendUvarint(content, uint64(path))
		for _, part := range [][]byte{[]byte(c.MediaType), c.Content} {
			content = append(binary.AppendUvarint(content, uint64(len(part))), part...)
		}
	}
	if len(content) > mostBodiesLen {
		return fmt.Errorf("write recorded traffic: the bodies have %d bytes; that is more than a file holds", len(content))
	}
	head := binary.LittleEndian.AppendUint32([]byte(bodiesMagic), uint32(len(carried)))
	head = binary.LittleEndian.AppendUint32(head, uint32(len(content)))
	head = binary.LittleEndian.AppendUint32(head, sumOf(head[len(bodiesMagic):], content))
	_, err := to.Write(append(head, content...))
	return err
}

// readBodies reads what follows the end at an offset, if anything does.
func (b *Body) readBodies(at int64) error {
	head := make([]byte, len(bodiesMagic)+pathsHead)
	n, err := b.file.ReadAt(head, at)
	if n == 0 && errors.Is(err, io.EOF) {
		return nil
	}
	if n < len(head) || string(head[:len(bodiesMagic)]) != bodiesMagic {
		return b.damaged(at, "what follows the end is no bodies")
	}
	head = head[len(bodiesMagic):]
	count, size := binary.LittleEndian.Uint32(head), binary.LittleEndian.Uint32(head[4:])
	if int(count) > len(b.Paths) || size > mostBodiesLen {
		return b.damaged(at, "it has more bodies than a file holds")
	}
	content := make([]byte, size)
	if n, _ := b.file.ReadAt(content, at+int64(len(bodiesMagic)+pathsHead)); n < len(content) || sumOf(head[:8], content) != binary.LittleEndian.Uint32(head[8:]) {
		return b.damaged(at, "the bodies are cut off or changed")
	}
	b.sum = binary.LittleEndian.Uint32(head[8:])
	b.Carried = make(map[int]Carried, count)
	next := func() uint64 {
		value, n := binary.Uvarint(content)
		if n <= 0 {
			content = nil
			return 1 << 63
		}
		content = content[n:]
		return value
	}
	part := func() []byte {
		n := next()
		if n > uint64(len(content)) {
			return nil
		}
		of := content[:n:n]
		content = content[n:]
		return of
	}
	for range count {
		path, mediaType, body := next(), part(), part()
		if path >= uint64(len(b.Paths)) || mediaType == nil || body == nil {
			return b.damaged(at, "a body says what cannot be")
		}
		b.Carried[int(path)] = Carried{string(mediaType), body}
	}
	return nil
}

// Is tells whether a text, the beginning of a file, has a header that a body follows.
func Is(text []byte) bool { return headerLength(text) >= 0 }

// headerLength returns where the body begins; -1 for no recorded traffic.
func headerLength(text []byte) int {
	text = text[:min(len(text), MostHeader+len(magic))]
	if i := bytes.Index(text, []byte("\n"+endOfHeader+magic)); i >= 0 {
		return i + 1 + len(endOfHeader)
	}
	return -1
}

// Body is the body of a file whose paths and blocks are known. Any goroutine may use it.
type Body struct {
	Header   []byte   // without the line that ends it
	Begins   int64    // where in the file the body does
	Paths    []string // by number
	Requests int64
	SpanNs   int64           // from the beginning to the last request
	Carried  map[int]Carried // by the number of the path; nil where nothing was recorded

	file   io.ReaderAt
	blocks []block
	sum    uint32 // of what is carried
}

type block struct {
	at           int64 // in the file
	count, bytes uint32
	begins, ends int64 // ns
	sum          uint32
}

// Open reads the header, the paths and the heads of the blocks: a hundred million
// requests are six thousand blocks. The error says where the file is damaged.
func Open(file io.ReaderAt) (*Body, error) {
	text := make([]byte, MostHeader+len(magic))
	n, err := file.ReadAt(text, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	at := headerLength(text[:n])
	if at < 0 {
		return nil, errors.New("it is no recorded traffic; netdyno record makes it of a log or a capture")
	}
	return OpenBody(file, text[:at-len(endOfHeader)], int64(at))
}

// OpenBody opens a file whose header is known and whose body begins at an offset.
func OpenBody(file io.ReaderAt, header []byte, begins int64) (*Body, error) {
	b := &Body{Header: header, Begins: begins, file: file}
	at, err := b.readPaths(begins)
	if err != nil {
		return nil, err
	}
	head := make([]byte, blockHead)
	for {
		if _, err := file.ReadAt(head, at); err != nil {
			return nil, b.damaged(at, "the file is cut off")
		}
		k := block{
			at: at + blockHead, count: binary.LittleEndian.Uint32(head), bytes: binary.LittleEndian.Uint32(head[4:]),
			begins: b.SpanNs, sum: binary.LittleEndian.Uint32(head[16:]),
		}
		span := binary.LittleEndian.Uint64(head[8:])
		if k.count > blockLength || k.bytes > mostBlock || uint64(k.bytes) < 5*uint64(k.count) || span > uint64(mostSpan-b.SpanNs) {
			return nil, b.damaged(at, "a block's head says what cannot be")
		}
		if k.count == 0 {
			if k.sum != sumOf(head[:16], nil) {
				return nil, b.damaged(at, "the end has another sum")
			}
			return b, b.readBodies(at + blockHead)
		}
		b.SpanNs += int64(span)
		k.ends = b.SpanNs
		b.Requests += int64(k.count)
		b.blocks = append(b.blocks, k)
		at = k.at + int64(k.bytes)
	}
}

// Sum is of the whole body: that of the heads of all blocks, each of which has the sum of
// its requests, and of the paths.
func (b *Body) Sum() string {
	sum := crc32.New(castagnoli)
	for _, k := range b.blocks {
		_ = binary.Write(sum, binary.LittleEndian, []int64{int64(k.count), k.begins, k.ends, int64(k.sum)}) // it cannot fail
	}
	for _, path := range b.Paths {
		_, _ = io.WriteString(sum, path+"\n") // as above
	}
	if b.Carried != nil {
		_ = binary.Write(sum, binary.LittleEndian, b.sum) // as above
	}
	return fmt.Sprintf("%08x", sum.Sum32())
}

func (b *Body) damaged(at int64, what string) error {
	return fmt.Errorf("recorded traffic is damaged at byte %d: %s", at, what)
}

// readPaths reads the paths and returns where the blocks begin.
func (b *Body) readPaths(at int64) (int64, error) {
	head := make([]byte, len(magic)+pathsHead)
	if _, err := b.file.ReadAt(head, at); err != nil || string(head[:len(magic)]) != magic {
		return 0, b.damaged(at, "the body does not begin here")
	}
	head = head[len(magic):]
	count, size := binary.LittleEndian.Uint32(head), binary.LittleEndian.Uint32(head[4:])
	at += int64(len(magic) + pathsHead)
	if count > MostPaths || size > MostPathsLen {
		return 0, b.damaged(at, "it has more paths than a file holds")
	}
	text := make([]byte, size)
	if n, _ := b.file.ReadAt(text, at); n < len(text) || sumOf(head[:8], text) != binary.LittleEndian.Uint32(head[8:]) {
		return 0, b.damaged(at, "the paths are cut off or changed")
	}
	if count > 0 {
		b.Paths = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	}
	if len(b.Paths) != int(count) {
		return 0, b.damaged(at, fmt.Sprintf("%d paths are announced and %d are there", count, len(b.Paths)))
	}
	return at + int64(size), nil
}

// Reader reads requests in order. One goroutine uses it.
type Reader struct {
	body    *Body
	number  int // of the next block
	content []byte
	left    uint32 // requests of the block that is read
	now     int64
	room    []byte
}

// From returns what reads the requests from a moment on, in ns since the beginning.
func (b *Body) From(ns int64) (*Reader, error) {
	number, _ := slices.BinarySearchFunc(b.blocks, ns, func(k block, ns int64) int {
		if k.ends < ns {
			return -1
		}
		return 1
	})
	r := &Reader{body: b, number: number}
	for {
		before := *r
		next, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r, nil
		}
		if err != nil {
			return nil, err
		}
		if next.AtNs >= ns {
			*r = before // where the request begins a block, that is read again
			return r, nil
		}
	}
}

// Next returns the next request; io.EOF at the end. Another error says where the file is
// damaged.
func (r *Reader) Next() (Request, error) {
	if r.left == 0 {
		if err := r.readBlock(); err != nil {
			return Request{}, err
		}
	}
	var values [5]uint64
	for i := range values {
		n := 0
		if values[i], n = binary.Uvarint(r.content); n <= 0 {
			return Request{}, r.broken("a request is cut off")
		}
		r.content = r.content[n:]
	}
	of := r.body.blocks[r.number-1]
	if values[0] > uint64(of.ends-r.now) || values[1] >= MostClasses || values[2] > MostBytes || values[3] > MostBytes || values[4] > uint64(len(r.body.Paths)) {
		return Request{}, r.broken("a request says what cannot be")
	}
	r.now += int64(values[0])
	r.left--
	return Request{r.now, int(values[1]), int64(values[2]), int64(values[3]), int(values[4]) - 1}, nil
}

func (r *Reader) broken(what string) error { return r.body.damaged(r.body.blocks[r.number-1].at, what) }

func (r *Reader) readBlock() error {
	if r.number == len(r.body.blocks) {
		return io.EOF
	}
	k := r.body.blocks[r.number]
	r.number++
	r.room = slices.Grow(r.room[:0], int(k.bytes))[:k.bytes]
	var head [16]byte
	if n, _ := r.body.file.ReadAt(r.room, k.at); n < len(r.room) {
		return r.broken("the file is cut off")
	}
	if _, err := r.body.file.ReadAt(head[:], k.at-blockHead); err != nil || sumOf(head[:], r.room) != k.sum {
		return r.broken("a block has another sum")
	}
	r.content, r.left, r.now = r.room, k.count, k.begins
	return nil
}
