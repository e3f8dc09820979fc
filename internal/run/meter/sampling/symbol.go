package sampling

import (
	"debug/elf"
	"debug/gosym"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// maxTable bounds the table of functions that is read of one Go program.
const maxTable = 128 << 20

// symbolise names the frames that perf could not: a Go program that was stripped
// still has its table of functions. What stays without a name is named by its file.
func (s *stacks) symbolise() {
	addresses := map[string][]uint64{}
	for _, f := range s.frames {
		if f.name == "" {
			addresses[f.file] = append(addresses[f.file], f.at)
		}
	}
	programs := map[string]*program{}
	for file, at := range addresses {
		if p, err := openProgram(file); err == nil { // else its functions are those of the file
			p.byOffset(at)
			programs[file] = p
		}
	}
	for i := range s.frames {
		f := &s.frames[i]
		if f.name != "" {
			continue
		}
		if p := programs[f.file]; p != nil {
			f.name = short(p.function(f.at))
		}
		if f.name == "" {
			f.name = "[" + filepath.Base(f.file) + "]"
		}
		f.at = 0
	}
}

// program is a Go program's table of functions.
type program struct {
	table   *gosym.Table
	code    elf.ProgHeader
	offsets bool // addresses are offsets in the file, not where it is mapped
}

func openProgram(path string) (*program, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read functions of %s: not a file", path)
	}
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	section, text := f.Section(".gopclntab"), f.Section(".text")
	if section == nil {
		section = f.Section(".data.rel.ro.gopclntab")
	}
	if section == nil || text == nil || section.Size > maxTable {
		return nil, errors.New("no table of Go functions")
	}
	data, err := section.Data()
	if err != nil {
		return nil, err
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr))
	if err != nil {
		return nil, err
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Vaddr <= text.Addr && text.Addr < p.Vaddr+p.Filesz {
			return &program{table: table, code: p.ProgHeader}, nil
		}
	}
	return nil, errors.New("no segment holds the code")
}

// byOffset decides what addresses are: perf 5 and newer print offsets in the file.
// Most of them decide, as a broken stack has addresses that are neither.
func (p *program) byOffset(addresses []uint64) {
	offsets, mapped := 0, 0
	for _, at := range addresses {
		if at >= p.code.Off && at < p.code.Off+p.code.Filesz {
			offsets++
		}
		if at >= p.code.Vaddr && at < p.code.Vaddr+p.code.Filesz {
			mapped++
		}
	}
	p.offsets = offsets >= mapped
}

func (p *program) function(at uint64) (name string) {
	defer func() {
		if recover() != nil { // the table is the program's own, and may be broken
			name = ""
		}
	}()
	if p.offsets {
		at = at - p.code.Off + p.code.Vaddr
	}
	if f := p.table.PCToFunc(at); f != nil {
		return f.Name
	}
	return ""
}
