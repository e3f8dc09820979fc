package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

// linked returns the modules that the programs say they were linked from, with the sums
// that the linker recorded, and Go's own library as module std, in the order of paths.
func (r release) linked() ([]*debug.Module, error) {
	programs, err := filepath.Glob(filepath.Join(r.dir, "programs", r.arch, "*"))
	if err != nil {
		return nil, err
	}
	found := map[string]*debug.Module{}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return nil, fmt.Errorf("read the modules of %s: %w", program, err)
		}
		found["std"] = &debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			if !strings.HasPrefix(m.Path, ".") { // one of this repository
				found[m.Path+"@"+m.Version] = m
			}
		}
	}
	// Data that the image has is of a module of this program.
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == certificates {
				found[m.Path] = m
			}
		}
	}
	var all []*debug.Module
	for _, key := range slices.Sorted(maps.Keys(found)) {
		all = append(all, found[key])
	}
	return all, nil
}

// bill writes the bill of materials.
func (r release) bill(linked []*debug.Module) error {
	var all []cyclonedx.Component
	for _, m := range linked {
		all = append(all, component(m))
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{
		Timestamp: r.time.Format(time.RFC3339),
		Component: &cyclonedx.Component{Type: cyclonedx.ComponentTypeApplication, Name: "netdyno", Version: r.version},
	}
	bom.Components = &all
	f, err := os.Create(r.name(".cdx.json"))
	if err != nil {
		return err
	}
	return errors.Join(cyclonedx.NewBOMEncoder(f, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom), f.Close())
}

func component(m *debug.Module) cyclonedx.Component {
	url := "pkg:golang/" + m.Path + "@" + m.Version
	c := cyclonedx.Component{Type: cyclonedx.ComponentTypeLibrary, BOMRef: url, PackageURL: url, Name: m.Path, Version: m.Version}
	if m.Sum != "" {
		c.Properties = &[]cyclonedx.Property{{Name: "go:sum", Value: m.Sum}}
	}
	return c
}
