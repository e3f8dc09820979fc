// Command pack makes what programs hold that are built with tag packed: the sources of
// each module's workers, as such a program built without it writes them, gzipped.
//
//	go run ./tools/pack
//
// It runs in the root of the repository. A file that is up to date is left as it is. A
// module whose libraries are not on this machine, and cannot be fetched, is left out.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"netdyno/internal/contract"
)

// modules by their directories, each with a worker that carries its sources.
var modules = map[string]string{".": "./cmd/netdyno-worker-baidu-std", "workers/gin": "./netdyno-worker-gin"}

func main() {
	for directory, worker := range modules {
		if exec.Command("go", "list", "-C", directory, "-deps", worker).Run() != nil && directory != "." {
			continue // its worker is not built either
		}
		if err := pack(directory, worker); err != nil {
			fmt.Fprintln(os.Stderr, "pack:", err)
			os.Exit(1)
		}
	}
}

// pack writes sources.tar.gz of a module.
func pack(directory, worker string) error {
	c := exec.Command("go", "run", "-C", directory, worker, contract.SourcesArgument)
	c.Stderr = os.Stderr
	archive, err := c.Output()
	if err != nil {
		return fmt.Errorf("%s in %s: %w", c, directory, err)
	}
	var packed bytes.Buffer
	to, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := to.Write(archive); err != nil {
		return err
	}
	if err := to.Close(); err != nil {
		return err
	}
	file := filepath.Join(directory, "sources.tar.gz")
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, packed.Bytes()) {
		return nil
	}
	return replace(file, packed.Bytes())
}

// replace writes a file that other processes see whole or not at all.
func replace(file string, content []byte) error {
	part, err := os.CreateTemp(filepath.Dir(file), "sources.*.part")
	if err != nil {
		return err
	}
	_, err = part.Write(content)
	if closed := part.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(part.Name(), file)
	}
	if err != nil {
		_ = os.Remove(part.Name()) // the error says what became of it
	}
	return err
}
