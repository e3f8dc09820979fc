package export

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"math"
	"time"
)

// writeParquet writes a table as Apache Parquet: every column optional, one page for
// each column of a row group, values plain, pages compressed with gzip. Units stand in
// the file's metadata as unit:COLUMN.
//
// It is our own because a flat table needs little of the format, and the libraries for
// all of it would make the program a fifth larger (docs/dependencies.md).
//
// Source: Apache Parquet, parquet.thrift 2.x.
func writeParquet(w io.Writer, r Run, table Table) error {
	c, err := table.build(r)
	if err != nil {
		return err
	}
	p := parquet{out: w, columns: c.columns, chunks: make([]parquetChunk, len(c.columns))}
	p.writeBytes([]byte(parquetMagic))
	err = c.each(func(cells row) error {
		for i, cell := range cells {
			p.chunks[i].addCell(cell)
		}
		if p.waiting++; p.waiting == groupRows {
			p.group()
		}
		return p.err
	})
	if err != nil {
		return err
	}
	if p.waiting > 0 {
		p.group()
	}
	p.footer(r)
	return p.err
}

const (
	parquetMagic = "PAR1"
	groupRows    = 10_000 // of a row group: what is held in memory
)

// Numbers of parquet.thrift.
const (
	typeBoolean, typeInt64, typeDouble, typeBytes = 0, 2, 5, 6
	convertedUTF8, convertedMicroseconds          = 0, 10
	optional                                      = 1
	encodingPlain, encodingRLE                    = 0, 3
	codecGzip                                     = 2
	dataPage                                      = 0
)

// parquet is a file being written. It keeps the first error.
type parquet struct {
	out     io.Writer
	columns []column
	chunks  []parquetChunk // of the rows that wait for their group
	waiting int
	rows    int64
	offset  int64
	groups  []parquetGroup
	err     error
}

// parquetGroup is where the chunks of a row group lie.
type parquetGroup struct {
	rows, size int64
	chunks     []parquetPlace
}

type parquetPlace struct{ offset, plain, packed int64 }

// parquetChunk is a column's values of one row group.
type parquetChunk struct {
	levels levelRuns
	values bytes.Buffer
	flags  []bool
}

func (p *parquet) writeBytes(b []byte) {
	if p.err == nil {
		_, p.err = p.out.Write(b)
		p.offset += int64(len(b))
	}
}

// addCell appends a cell, whose kind is the column's.
func (c *parquetChunk) addCell(cell any) {
	c.levels.addLevel(cell != nil)
	var b [8]byte
	switch x := cell.(type) {
	case string:
		text := valid(x)
		binary.LittleEndian.PutUint32(b[:4], uint32(len(text)))
		c.values.Write(b[:4])
		c.values.WriteString(text)
	case float64:
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(x))
		c.values.Write(b[:])
	case int64:
		binary.LittleEndian.PutUint64(b[:], uint64(x))
		c.values.Write(b[:])
	case time.Time:
		binary.LittleEndian.PutUint64(b[:], uint64(x.UnixMicro()))
		c.values.Write(b[:])
	case bool:
		c.flags = append(c.flags, x)
	}
}

// page returns a chunk's page and empties the chunk: which values there are, then the
// values.
func (c *parquetChunk) page() []byte {
	levels := c.levels.encode()
	page := binary.LittleEndian.AppendUint32(nil, uint32(len(levels)))
	page = append(append(page, levels...), c.values.Bytes()...)
	bits := make([]byte, (len(c.flags)+7)/8)
	for i, set := range c.flags {
		if set {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	*c = parquetChunk{}
	return append(page, bits...)
}

// group writes the rows that wait as a row group.
func (p *parquet) group() {
	g := parquetGroup{rows: int64(p.waiting)}
	for i := range p.chunks {
		page := p.chunks[i].page()
		packed, err := gzipped(page)
		if p.err == nil {
			p.err = err
		}
		var head thrift
		head.i32(1, dataPage)
		head.i32(2, int64(len(page)))
		head.i32(3, int64(len(packed)))
		head.structure(5, func() {
			head.i32(1, int64(p.waiting))
			head.i32(2, encodingPlain)
			head.i32(3, encodingRLE)
			head.i32(4, encodingRLE)
		})
		head.stop()
		at := p.offset
		p.writeBytes(head.text)
		p.writeBytes(packed)
		place := parquetPlace{offset: at, plain: int64(len(head.text) + len(page)), packed: int64(len(head.text) + len(packed))}
		g.chunks, g.size = append(g.chunks, place), g.size+place.plain
	}
	p.groups, p.rows, p.waiting = append(p.groups, g), p.rows+g.rows, 0
}

func gzipped(page []byte) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(page); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// footer writes what the file holds and where.
func (p *parquet) footer(r Run) {
	var m thrift
	m.i32(1, 1)
	m.list(2, len(p.columns)+1, func(i int) { p.element(&m, i-1) })
	m.i64(3, p.rows)
	m.list(4, len(p.groups), func(i int) { p.describe(&m, p.groups[i]) })
	notes := [][2]string{{"netdyno", valid(r.Header.Netdyno)}, {"study", valid(r.study())}}
	for _, c := range p.columns {
		if c.unit != "" {
			notes = append(notes, [2]string{"unit:" + valid(c.name), c.unit})
		}
	}
	m.list(5, len(notes), func(i int) {
		m.text8(1, notes[i][0])
		m.text8(2, notes[i][1])
	})
	m.text8(6, "netdyno "+valid(r.Header.Netdyno))
	m.stop()
	p.writeBytes(m.text)
	p.writeBytes(binary.LittleEndian.AppendUint32(nil, uint32(len(m.text))))
	p.writeBytes([]byte(parquetMagic))
}

// element describes a column; the root for -1.
func (p *parquet) element(m *thrift, i int) {
	if i < 0 {
		m.text8(4, "schema")
		m.i32(5, int64(len(p.columns)))
		return
	}
	c := p.columns[i]
	m.i32(1, physical(c.kind))
	m.i32(3, optional)
	m.text8(4, valid(c.name))
	switch c.kind {
	case text:
		m.i32(6, convertedUTF8)
	case instant:
		m.i32(6, convertedMicroseconds)
	}
}

func physical(k kind) int64 {
	return map[kind]int64{text: typeBytes, floating: typeDouble, whole: typeInt64, flag: typeBoolean, instant: typeInt64}[k]
}

// describe says where the chunks of a row group are.
func (p *parquet) describe(m *thrift, g parquetGroup) {
	m.list(1, len(g.chunks), func(i int) {
		at := g.chunks[i]
		m.i64(2, at.offset)
		m.structure(3, func() {
			m.i32(1, physical(p.columns[i].kind))
			m.i32s(2, encodingPlain, encodingRLE)
			m.texts(3, valid(p.columns[i].name))
			m.i32(4, codecGzip)
			m.i64(5, g.rows)
			m.i64(6, at.plain)
			m.i64(7, at.packed)
			m.i64(9, at.offset)
		})
	})
	m.i64(2, g.size)
	m.i64(3, g.rows)
}
