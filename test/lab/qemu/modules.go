package qemu

import (
	"bytes"
	"debug/elf"
	"fmt"
	"path"
	"strings"
)

// wanted are the modules that a guest loads, after the modules that these need. rdma_rxe
// asks the kernel for crc32_generic by a name that is no module's, so crc32_generic
// stands in the list itself, before rdma_rxe.
var wanted = []string{"crc32_generic", "virtio_pci", "virtio_net", "9p", "9pnet_virtio", "overlay", "dummy", "ib_uverbs", "rdma_ucm", "rdma_rxe"}

// module is one of the kernel's, and which others it needs.
type module struct {
	file  string
	body  []byte
	needs []string
}

// moduleName is what the kernel calls the module of a file.
func moduleName(file string) string {
	return strings.ReplaceAll(strings.TrimSuffix(path.Base(file), ".ko"), "-", "_")
}

// inOrder returns the wanted modules with all that they need, each after those. What
// is built into the kernel needs none.
func inOrder(modules map[string]module, builtIn map[string]bool) ([]module, error) {
	var ordered []module
	seen := map[string]bool{}
	var visit func(name, by string) error
	visit = func(name, by string) error {
		if seen[name] || builtIn[name] {
			return nil
		}
		seen[name] = true
		m, there := modules[name]
		if !there {
			return fmt.Errorf("the kernel has no module %s, which %s needs", name, by)
		}
		for _, need := range m.needs {
			if err := visit(need, name); err != nil {
				return err
			}
		}
		ordered = append(ordered, m)
		return nil
	}
	for _, name := range wanted {
		if err := visit(name, "a guest"); err != nil {
			return nil, err
		}
	}
	return ordered, nil
}

// readModule reads what a module says of itself: words "key=value" in a section.
func readModule(file string, body []byte) (module, error) {
	m := module{file: file, body: body}
	f, err := elf.NewFile(bytes.NewReader(body))
	if err != nil {
		return m, fmt.Errorf("read module %s: %w", path.Base(file), err)
	}
	section := f.Section(".modinfo")
	if section == nil {
		return m, fmt.Errorf("read module %s: it has no section .modinfo", path.Base(file))
	}
	text, err := section.Data()
	if err != nil {
		return m, fmt.Errorf("read module %s: %w", path.Base(file), err)
	}
	for word := range bytes.SplitSeq(text, []byte{0}) {
		if list, found := bytes.CutPrefix(word, []byte("depends=")); found {
			for name := range strings.SplitSeq(string(list), ",") {
				if name != "" {
					m.needs = append(m.needs, moduleName(name))
				}
			}
		}
	}
	return m, nil
}
