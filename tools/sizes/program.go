package main

import (
	"cmp"
	"debug/buildinfo"
	"debug/elf"
	"debug/gosym"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// program is what an executable is made of, in bytes of its file.
type program struct {
	name                          string
	size                          int64
	code, tables, constants, data int64
	modules                       []module // of one in Go; most code first
}

// module is a module of Go, "std" for the standard library, and its code.
type module struct {
	name string
	code int64
}

// read takes an executable apart by its sections, and one in Go by its functions too,
// which it lists even where its symbols were left out.
func read(path string) (program, error) {
	info, err := os.Stat(path)
	if err != nil {
		return program{}, err
	}
	p := program{name: filepath.Base(path), size: info.Size()}
	file, err := elf.Open(path)
	if err != nil {
		return p, err
	}
	defer func() { _ = file.Close() }() // it was only read
	for _, s := range file.Sections {
		if s.Type == elf.SHT_NOBITS {
			continue
		}
		switch size := int64(s.FileSize); {
		case s.Name == ".gopclntab" || strings.HasPrefix(s.Name, ".eh_frame"):
			p.tables += size
		case s.Flags&elf.SHF_EXECINSTR != 0:
			p.code += size
		case s.Flags&elf.SHF_ALLOC != 0 && s.Flags&elf.SHF_WRITE == 0:
			p.constants += size
		case s.Flags&elf.SHF_ALLOC != 0:
			p.data += size
		}
	}
	if info, err := buildinfo.ReadFile(path); err == nil {
		p.modules, err = modules(file, info)
		return p, err
	}
	return p, nil
}

// modules adds up the code of a program's functions by their modules.
func modules(file *elf.File, info *buildinfo.BuildInfo) ([]module, error) {
	text, lines := file.Section(".text"), file.Section(".gopclntab")
	if text == nil || lines == nil {
		return nil, errors.New("it has no functions: section .text or .gopclntab is missing")
	}
	data, err := lines.Data()
	if err != nil {
		return nil, err
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr))
	if err != nil {
		return nil, fmt.Errorf("read the table of functions: %w", err)
	}
	known := []string{info.Main.Path}
	for _, d := range info.Deps {
		known = append(known, d.Path)
	}
	code := map[string]int64{}
	for _, f := range table.Funcs {
		if f.End > f.Entry && f.End <= text.Addr+text.Size {
			code[moduleOf(f.Name, known)] += int64(f.End - f.Entry)
		}
	}
	var all []module
	for name, n := range code {
		all = append(all, module{name, n})
	}
	slices.SortFunc(all, func(a, b module) int { return cmp.Or(cmp.Compare(b.code, a.code), strings.Compare(a.name, b.name)) })
	return all, nil
}

// moduleOf returns the module of a function by its name, the longest that fits.
// Instances of generic functions belong to where they are written.
func moduleOf(function string, known []string) string {
	function = strings.ReplaceAll(function, "%2e", ".") // in the last element of a path
	best := "std"
	for _, name := range known {
		rest, fits := strings.CutPrefix(function, name)
		if fits && rest != "" && (rest[0] == '/' || rest[0] == '.') && (best == "std" || len(name) > len(best)) {
			best = name
		}
	}
	return best
}
