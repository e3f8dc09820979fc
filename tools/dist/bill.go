package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

// bill writes the bill of materials: the modules that the programs themselves say
// they were linked from, with the sums that the linker recorded.
func (r release) bill() error {
	found := map[string]cyclonedx.Component{}
	for _, e := range r.tree {
		if e.link != "" || path.Dir(e.target) != home {
			continue
		}
		info, err := buildinfo.ReadFile(e.source)
		if err != nil {
			return fmt.Errorf("read the modules of %s: %w", e.source, err)
		}
		language := strings.TrimPrefix(info.GoVersion, "go")
		found["std"] = component(&debug.Module{Path: "std", Version: language})
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			found[m.Path+"@"+m.Version] = component(m)
		}
	}
	var all []cyclonedx.Component
	for _, key := range slices.Sorted(maps.Keys(found)) {
		all = append(all, found[key])
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
