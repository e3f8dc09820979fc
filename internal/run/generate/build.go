package generate

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"netdyno/internal/contract"
)

// generator turns a request into Go code. It is built from the version of
// protobuf that the worker links.
const generator = "google.golang.org/protobuf/cmd/protoc-gen-go"

// site is a tree of sources on disk and the workers that are built from it.
type site struct {
	directory string // of the tree, of what is built and of go's own files
	modules   map[string]string
	workers   []Worker
	tools     toolchain
}

// build compiles workers into the cache, those of the same sources together.
// It is called with the cache's lock held.
func (c cache) build(ctx context.Context, m contract.Structure, workers []Worker, tools toolchain) (err error) {
	directory, err := os.MkdirTemp(c.directory, staging)
	if err != nil {
		return fmt.Errorf("keep built workers: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	sites := map[[sha256.Size]byte]*site{} // by the content of the sources
	for _, w := range workers {
		archive, err := tools.run(ctx, command{program: w.Path, argv: []string{contract.SourcesArgument}, dir: directory, atMost: maxSources})
		if err != nil {
			return err
		}
		content := sha256.Sum256(archive)
		if sites[content] == nil {
			s := &site{directory: filepath.Join(directory, fmt.Sprint(len(sites))), tools: tools}
			if err := s.unpack(archive); err != nil {
				return fmt.Errorf("%s: %w", filepath.Base(w.Path), err)
			}
			sites[content] = s
		}
		sites[content].workers = append(sites[content].workers, w)
	}
	for _, s := range sites {
		if err := s.generate(ctx, m); err != nil {
			return err
		}
		built, err := s.compile(ctx)
		if err != nil {
			return err
		}
		for _, w := range s.workers {
			if err := c.keep(built[w.Path], w.key(m, tools), w); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *site) tree() string      { return filepath.Join(s.directory, "tree") }
func (s *site) built() string     { return filepath.Join(s.directory, "bin") }
func (s *site) temporary() string { return filepath.Join(s.directory, "tmp") }

// unpack lays the sources out.
func (s *site) unpack(archive []byte) error {
	for _, d := range []string{s.directory, s.tree(), s.built(), s.temporary()} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	if err := unpack(archive, s.tree()); err != nil {
		return err
	}
	var err error
	s.modules, err = modules(os.DirFS(s.tree()))
	return err
}

// generate adds the code of a message to the sources.
func (s *site) generate(ctx context.Context, m contract.Structure) error {
	importPath := path.Join(s.modules["."], contract.GeneratedDirectory)
	g, err := generationOf(m.Descriptors, importPath)
	if err != nil {
		return err
	}
	if err := s.goBuild(ctx, ".", generator); err != nil {
		return err
	}
	answer, err := s.tools.run(ctx, command{program: filepath.Join(s.built(), path.Base(generator)), dir: s.tree(), input: g.request, atMost: maxSources})
	if err != nil {
		return err
	}
	files, err := g.files(answer)
	if err != nil {
		return err
	}
	own := filepath.Join(s.tree(), filepath.FromSlash(contract.GeneratedDirectory))
	var imports strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		directory := filepath.Join(own, g.packages[name])
		if err := os.MkdirAll(directory, 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(directory, name), []byte(files[name]), 0o600); err != nil {
			return err
		}
		fmt.Fprintf(&imports, "import _ %q\n", path.Join(importPath, g.packages[name]))
	}
	text := "package " + path.Base(contract.GeneratedDirectory) + "\n\n" + imports.String()
	return os.WriteFile(filepath.Join(own, "imports.go"), []byte(text), 0o600)
}

// compile builds the site's workers and returns the executables by the paths
// of those that they are built from.
func (s *site) compile(ctx context.Context) (map[string]string, error) {
	byModule, built := map[string][]string{}, map[string]string{}
	for _, w := range s.workers {
		module := moduleOf(w.Source, s.modules)
		if module == "" {
			return nil, fmt.Errorf("%s: its sources have no package %s", filepath.Base(w.Path), clip(w.Source))
		}
		byModule[module] = append(byModule[module], w.Source)
		built[w.Path] = filepath.Join(s.built(), path.Base(w.Source))
	}
	for module, packages := range byModule {
		if err := s.goBuild(ctx, module, packages...); err != nil {
			return nil, err
		}
	}
	return built, nil
}

// goBuild compiles programs of a module. A program does not depend on the place of its
// sources or on the time, so that the same sources give the same bytes. The options are
// the Makefile's, so that on the machine that built netdyno most packages are compiled
// already.
func (s *site) goBuild(ctx context.Context, module string, packages ...string) error {
	argv := append([]string{"build", "-trimpath", "-tags=nomsgpack,grpcnotrace,validator_novalidatefn", "-gcflags=all=-dwarf=false", "-buildvcs=false", "-o", s.built() + string(filepath.Separator), "--"}, packages...)
	_, err := s.tools.run(ctx, command{argv: argv, dir: filepath.Join(s.tree(), filepath.FromSlash(module)), temporary: s.temporary(), atMost: 1 << 20})
	return err
}
