package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

// isLicence tells by its name a file that must go with a program.
var isLicence = regexp.MustCompile(`(?i)^(licen[cs]es?|copying|copyright|notices?|patents)([.-].*)?$`)

// certificates is the module whose list of authorities the image has.
const certificates = "golang.org/x/crypto/x509roots/fallback"

// licences writes into share/ netdyno's licence and those of all that is linked, as they
// lie in the module cache. The report's page has no package of others.
func (r release) licences(linked []*debug.Module) error {
	own, err := os.ReadFile(filepath.Join(filepath.Dir(r.changelog), "LICENSE"))
	if err != nil {
		return err
	}
	if err := r.share("doc/netdyno/LICENSE", string(own)); err != nil {
		return err
	}
	var all strings.Builder
	all.WriteString("Licences and notices of what netdyno's programs are linked from.\n")
	texts := map[string]string{} // by text, where it was first
	for _, m := range linked {
		dir, err := directoryOf(m)
		if err != nil {
			return err
		}
		if err := collect(&all, texts, strings.TrimSpace(m.Path+" "+m.Version), dir); err != nil {
			return err
		}
	}
	return r.share("doc/netdyno/THIRD-PARTY", all.String())
}

// directoryOf is where a module lies on this machine.
func directoryOf(m *debug.Module) (string, error) {
	words := []string{"mod", "download", "-json", m.Path + "@" + m.Version}
	if m.Path == "std" {
		words = []string{"env", "-json", "GOROOT"}
	}
	out, err := exec.Command("go", words...).Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", strings.Join(words, " "), err, out)
	}
	var said struct{ Dir, GOROOT string }
	if err := json.Unmarshal(out, &said); err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(words, " "), err)
	}
	return said.Dir + said.GOROOT, nil
}

// collect adds the licences below a directory under a module's name. A text that was
// there before is named. A module without any is an error.
func collect(to *strings.Builder, texts map[string]string, module, dir string) error {
	count := 0
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		// Below Go's own directory lies much that is not linked.
		if d.IsDir() && file != dir && (strings.HasPrefix(module, "std ") || d.Name() == "testdata" || d.Name() == "test") {
			return fs.SkipDir
		}
		if d.IsDir() || !isLicence.MatchString(d.Name()) || filepath.Ext(file) == ".go" {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		count++
		name, body := module+", "+filepath.ToSlash(below), string(text)
		if first := texts[body]; first != "" {
			body = "The same as that of " + first + ".\n"
		} else {
			texts[body] = name
		}
		fmt.Fprintf(to, "\n==== %s\n\n%s", name, body)
		return nil
	})
	if err == nil && count == 0 {
		err = errors.New("no licence is there")
	}
	if err != nil {
		return fmt.Errorf("collect the licences of %s in %s: %w", module, dir, err)
	}
	return nil
}
