package nethttp

import (
	"cmp"
	"net/http"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// libraryBuffer is what net/http takes for http.Transport.ReadBufferSize and
// WriteBufferSize of 0, in bytes.
const libraryBuffer = 4 << 10

// BufferOptions declares what BuffersOf reads. They are options of clients: the
// server of net/http has no sizes to set.
func BufferOptions() []contract.Option {
	zero, most := 0.0, float64(64<<20)
	option := func(name, field string) contract.Option {
		return contract.Option{
			Name: name, Type: contract.TypeBytes, Default: 0, Min: &zero, Max: &most, Roles: []contract.Role{contract.Client},
			Doc:  field + "; 0 takes the library's 4 KiB",
			Grid: []string{"32KiB", "256KiB"}, As: map[contract.Role]string{contract.Client: field + " = {value}"},
		}
	}
	return []contract.Option{
		option("read_buffer", "http.Transport.ReadBufferSize"),
		option("write_buffer", "http.Transport.WriteBufferSize"),
	}
}

// Buffers are a client's buffers for each connection of HTTP/1.1, in bytes.
type Buffers struct{ Read, Write int64 }

// BuffersOf reads the options of a client.
func BuffersOf(setup contract.Setup) Buffers {
	o := load.Options(setup.Options)
	return Buffers{Read: cmp.Or(o.Int("read_buffer"), libraryBuffer), Write: cmp.Or(o.Int("write_buffer"), libraryBuffer)}
}

// Apply sets the buffers of t.
func (b Buffers) Apply(t *http.Transport) {
	t.ReadBufferSize, t.WriteBufferSize = int(b.Read), int(b.Write)
}

// Effective writes into options what ready reports.
func (b Buffers) Effective(options map[string]any) {
	options["read_buffer"], options["write_buffer"] = b.Read, b.Write
}
