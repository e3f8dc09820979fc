// Package generate builds workers with the code that protoc would have
// generated for a message of the user's. A worker carries its own sources; with
// Go on PATH they are compiled once for each message and kept in a cache.
//
//	request.go    descriptors into what protoc-gen-go is asked
//	tree.go       a worker's sources, unpacked; its modules
//	toolchain.go  the go command: found, bounded, without a network
//	build.go      the steps from sources to executables
//	cache.go      what was built, kept by content and verified before it runs
package generate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"netdyno/internal/contract"
)

// Limit bounds everything that a build takes: a first one compiles Go's
// standard library and every library of the workers.
const Limit = 10 * time.Minute

// Worker is an executable to be built again.
type Worker struct {
	Path   string // of the executable, which is asked for its sources
	SHA256 string // of its content
	Source string // its Go package, as its hello says
}

// Builder builds workers. One goroutine at a time may use it; other processes
// may use the same cache.
type Builder struct {
	Cache string            // directory of what was built; empty for netdyno/workers in the user's cache directory
	Say   func(text string) // hears of a build before it begins; nil for nobody
}

// Build returns, by the path of each worker, the path of an executable that has generated
// code for the message. The error says in one line why there is none: no Go, libraries
// that are not on this machine, code that does not compile. Either all workers are built
// or none.
func (b Builder) Build(ctx context.Context, m contract.Structure, workers []Worker) (map[string]string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, Limit, fmt.Errorf("the build took longer than %v", Limit))
	defer cancel()
	tools, err := findGo(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := openCache(b.Cache)
	if err != nil {
		return nil, err
	}
	if missing := kept.missing(m, workers, tools); len(missing) > 0 {
		unlock, err := kept.lock(ctx)
		if err != nil {
			return nil, err
		}
		defer unlock()
		if missing = kept.missing(m, workers, tools); len(missing) > 0 { // another process may have built them meanwhile
			if b.Say != nil {
				b.Say(fmt.Sprintf("building workers for %s with %s (once)", Types(m), tools.version))
			}
			if err := kept.build(ctx, m, missing, tools); err != nil {
				return nil, err
			}
		}
	}
	built := map[string]string{}
	for _, w := range workers {
		if built[w.Path], err = kept.path(w.key(m, tools), w); err != nil {
			return nil, err
		}
	}
	return built, nil
}

// Built reports whether Build would find every worker in the cache. The error
// is Build's, as far as it can be told without building.
func (b Builder) Built(ctx context.Context, m contract.Structure, workers []Worker) (bool, error) {
	tools, err := findGo(ctx)
	if err != nil {
		return false, err
	}
	kept, err := openCache(b.Cache)
	return err == nil && len(kept.missing(m, workers, tools)) == 0, err
}

// Types names the message types of both directions, once where they are one.
func Types(m contract.Structure) string {
	if m.Up.Type == m.Down.Type {
		return m.Up.Type
	}
	return m.Up.Type + " and " + m.Down.Type
}

// key names what a worker becomes: by its own content, which determines its
// sources, the message, and whatever of the toolchain decides the outcome.
func (w Worker) key(m contract.Structure, tools toolchain) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{"netdyno build 1", w.SHA256, w.Source, contract.GeneratedPackage(m.Descriptors), tools.settings}, "\n")))
	return hex.EncodeToString(sum[:])
}
