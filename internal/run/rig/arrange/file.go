package arrange

import (
	"fmt"
	"strings"

	"netdyno/internal/run/cpuset"
	"netdyno/internal/run/rig"
)

// MaxFile bounds a rig file in bytes.
const MaxFile = 256 << 10

// document is a rig written out in a file.
type document struct {
	Rig     string            `yaml:"rig"`
	Count   string            `yaml:"count"`   // of hosts: the number that stands after the colon on a command line
	Options map[string]string `yaml:"options"` // what stands after the question mark
	Hosts   []rig.Described   `yaml:"hosts"`
}

// isFile tells a file's name from a rig.
func isFile(text string) bool {
	return strings.HasSuffix(text, ".yaml") || strings.HasSuffix(text, ".yml")
}

// parseFile reads a rig file. Errors name the file, the line and the key.
func parseFile(name string, read func(string) ([]byte, error)) (Choice, error) {
	text, err := read(name)
	if err != nil {
		return Choice{}, fmt.Errorf("rig file: %w", err)
	}
	d, err := decode(text)
	if err != nil {
		return Choice{}, fmt.Errorf("rig file %s: %w", name, err)
	}
	c, err := choose(name, d.Rig, d.Count)
	if err != nil {
		return c, err
	}
	c.Hosts = d.Hosts
	for key, value := range d.Options {
		if err := c.set(key, value); err != nil {
			return c, err
		}
	}
	if len(c.Hosts) > rig.MaxHosts {
		return c, c.Errorf("%d hosts; expected at most %d", len(c.Hosts), rig.MaxHosts)
	}
	return c, c.checkHosts()
}

// checkHosts refuses a host's keys that its rig does not read, and a host
// without the keys that its rig needs.
func (c Choice) checkHosts() error {
	seen := map[string]bool{}
	for i, h := range c.Hosts {
		for key, given := range h.Reached() {
			switch {
			case given == (key == c.kind.HostKey):
			case given:
				return c.Errorf("host %d has the key %s, which rig %s does not read", i+1, key, c.kind.Name)
			default:
				return c.Errorf("host %d has no %s, by which rig %s reaches it", i+1, key, c.kind.Name)
			}
		}
		if strings.HasPrefix(h.SSH, "-") {
			return c.Errorf("host %d: %q is not a host", i+1, h.SSH)
		}
		if _, err := cpuset.Parse(h.CPUList); err != nil {
			return c.Errorf("host %d: cpus: %w", i+1, err)
		}
		if seen[h.Title()] {
			return c.Errorf("two hosts are named %s", h.Title())
		}
		seen[h.Title()] = true
	}
	return nil
}
