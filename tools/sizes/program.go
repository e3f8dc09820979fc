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
	"strconv"
	"strings"
)

// program is what an executable is made of, in bytes of its file.
type program struct {
	name                          string
	size                          int64
	code, tables, constants, data int64
	symbols                       int64    // names of functions, of one in C++
	modules                       []module // most code first
}

// module is a module of Go or a namespace of C++, "std" for the standard library, and its code.
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
		case s.Name == ".symtab" || s.Name == ".strtab":
			p.symbols += size
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
	p.modules, err = namespaces(file, p.code)
	return p, err
}

// namespaces adds up the code of a program's functions by their outermost namespaces. What
// no symbol names, of so much code, is called unnamed.
func namespaces(file *elf.File, all int64) ([]module, error) {
	symbols, err := file.Symbols()
	if errors.Is(err, elf.ErrNoSymbols) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the symbols: %w", err)
	}
	code, known := map[string]int64{}, map[uint64]bool{}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF && !known[s.Value] {
			known[s.Value] = true // constructors have two names
			code[namespaceOf(s.Name)] += int64(s.Size)
			all -= int64(s.Size)
		}
	}
	code["unnamed"] = max(0, all)
	return sorted(code), nil
}

// namespaceOf returns the outermost namespace of a function by its mangled name, or
// the words before the first underscore of a name in C.
func namespaceOf(function string) string {
	mangled, isCPP := strings.CutPrefix(function, "_Z")
	if !isCPP {
		name, _, _ := strings.Cut(function, "_")
		return name
	}
	mangled = strings.TrimLeft(strings.TrimPrefix(mangled, "Z"), "NKVrR")
	digits := len(mangled) - len(strings.TrimLeft(mangled, "0123456789"))
	length, err := strconv.Atoi(mangled[:digits])
	if err != nil || length > len(mangled)-digits {
		return "std" // St, Ss and the like
	}
	return mangled[digits : digits+length]
}

// sorted returns modules, most code first.
func sorted(code map[string]int64) []module {
	var all []module
	for name, n := range code {
		all = append(all, module{name, n})
	}
	slices.SortFunc(all, func(a, b module) int { return cmp.Or(cmp.Compare(b.code, a.code), strings.Compare(a.name, b.name)) })
	return all
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
	return sorted(code), nil
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
