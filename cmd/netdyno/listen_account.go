package main

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// account is the run directory of a server that stands: its records are what
// it counted of itself. One goroutine uses it.
type account struct {
	dir    directory
	yaml   []byte
	header record.Header
	trial  record.Trial
	file   *record.File // nil until it listens
}

// listenName begins the name of a server's directory under results/.
const listenName = "listen"

func (d directory) certificate() string { return filepath.Join(string(d), "certificate.pem") }

// newAccount prepares the account; nothing is written before the server
// listens. A directory that holds anything is refused while it is early.
func newAccount(out string, s *study.Study, trial record.Trial, catalog *bench.Catalog) (*account, error) {
	dir := directory(out)
	if dir == "" {
		var err error
		if dir, err = freshDirectory(listenName); err != nil {
			return nil, err
		}
	}
	if err := dir.vacant(); err != nil {
		return nil, err
	}
	yaml, err := s.YAML()
	if err != nil {
		return nil, err
	}
	host := rig.Loopback{}.Hosts()[0].Name
	return &account{dir: dir, yaml: yaml, trial: trial, header: record.Header{
		Netdyno: version(), Study: study.Summary(s),
		Facts: record.Facts{Rig: listenName, Seats: map[string]record.Host{host: rig.Here()}, Tools: catalog.Binaries()},
	}}, nil
}

// open makes the directory of a server that has come to listen.
func (a *account) open(w record.Worker, command []string) error {
	a.header.CreatedAt, a.header.Command, a.header.Listen = time.Now().UTC(), command, w.Ready.Addresses
	var err error
	if a.file, err = a.dir.create(a.yaml, a.header, []record.Trial{a.trial}); err != nil || w.Setup.TLS == nil {
		return err
	}
	return record.WriteFileAtomic(a.dir.certificate(), []byte(w.Setup.TLS.Certificate))
}

// keep makes one record durable.
func (a *account) keep(r record.Record) error {
	if a.file == nil {
		return errors.New("keep the account of a server: its directory is not open")
	}
	return a.file.Append(r)
}

func (a *account) close() error {
	if a.file == nil {
		_ = os.Remove(string(a.dir)) // a directory that was made for it is empty; any other stays
		return nil
	}
	return a.file.Close()
}
