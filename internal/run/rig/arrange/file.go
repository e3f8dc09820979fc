package arrange

import (
	"fmt"
	"strings"

	"netdyno/internal/run/cpuset"
)

// MaxFile bounds a rig file in bytes.
const MaxFile = 256 << 10

// document is a rig written out in a file.
type document struct {
	Rig     string            `yaml:"rig"`
	Seats   string            `yaml:"seats"`   // what stands after the colon on a command line, where that is a number
	Options map[string]string `yaml:"options"` // what stands after the question mark
	Places  []description     `yaml:"places"`
}

// description is one host as the user describes it; what is absent the rig finds out.
type description struct {
	Name      string   `yaml:"name"`      // in reports
	SSH       string   `yaml:"ssh"`       // rig ssh: ssh's destination
	Node      string   `yaml:"node"`      // rig slurm: the node that this is about
	Prefix    []string `yaml:"prefix"`    // rig prefix: argv that runs a command there
	Shell     bool     `yaml:"shell"`     // rig prefix: it hands its arguments to a shell there
	Address   string   `yaml:"address"`   // of the data network
	Interface string   `yaml:"interface"` // whose address that is
	CPUs      string   `yaml:"cpus"`      // that workers may use
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
	c := Choice{text: name, argument: d.Seats, options: map[string]string{}, described: d.Places}
	if c.kind, err = kindOf(name, d.Rig); err != nil {
		return c, err
	}
	for key, value := range d.Options {
		if err := c.set(key, value); err != nil {
			return c, err
		}
	}
	if len(c.described) > maxHosts {
		return c, fmt.Errorf("rig %q: %d places; expected at most %d", name, len(c.described), maxHosts)
	}
	return c, c.checkHosts()
}

// checkHosts refuses what a host says that its rig does not read, and what
// it must say.
func (c Choice) checkHosts() error {
	seen := map[string]bool{}
	for i, s := range c.described {
		reach := map[string]bool{"ssh": s.SSH != "", "slurm": s.Node != "", "prefix": len(s.Prefix) > 0}
		for kind, given := range reach {
			if given == (kind == c.kind.name) {
				continue
			}
			key := map[string]string{"ssh": "ssh", "slurm": "node", "prefix": "prefix"}[kind]
			if given {
				return fmt.Errorf("rig %q: place %d has the key %s, which rig %s does not read", c.text, i+1, key, c.kind.name)
			}
			return fmt.Errorf("rig %q: place %d has no %s, by which rig %s reaches it", c.text, i+1, key, c.kind.name)
		}
		if strings.HasPrefix(s.SSH, "-") {
			return fmt.Errorf("rig %q: place %d: %q is not a host", c.text, i+1, s.SSH)
		}
		if _, err := cpuset.Parse(s.CPUs); err != nil {
			return fmt.Errorf("rig %q: place %d: cpus: %w", c.text, i+1, err)
		}
		if seen[s.name()] {
			return fmt.Errorf("rig %q: two places are named %s", c.text, s.name())
		}
		seen[s.name()] = true
	}
	return nil
}

// name is what records call the host.
func (s description) name() string {
	for _, name := range []string{s.Name, s.SSH, s.Node} {
		if name != "" {
			return name
		}
	}
	return strings.Join(s.Prefix, " ")
}

// cpus are the host's; checkHosts has read them before.
func (s description) cpus() []int {
	set, _ := cpuset.Parse(s.CPUs)
	return set
}
