package doctor

import (
	"slices"
	"strconv"
	"strings"
)

// problem is what somebody said of some versions of a driver, who must be
// named: nothing here is guesswork.
type problem struct {
	driver      string
	from, to    string // versions, both included; "" is open
	severity    Severity
	said        string
	source, fix string
}

// problems are the known ones; a new one is a new line with its source.
var problems = []problem{
	{
		driver: "mlx5_core", from: "3.0-1", to: "3.0-1", severity: Distort,
		said:   "it was published beside 4.3-1.0.1 with the remark \"this config will cause performance decay\"",
		source: "the publication behind study line-rate, 100 Gbit/s (its hosts, as ethtool -i printed them)",
		fix:    "install a later release on every host (MLNX_OFED, or the kernel's own): 4.3-1.0.1 was the good one there; check: ethtool -i DEV",
	},
	{
		driver: "i40e", from: "2.13.10", to: "2.13.10", severity: Distort,
		said:   "its maker withdrew it, as it is unstable under much traffic",
		source: "Intel, technical advisory 635390; github.com/ntop/PF_RING, issue 774",
		fix:    "install a later i40e, or use the kernel's own; check: ethtool -i DEV",
	},
	{
		driver: "ixgbevf", to: "2.14.1", severity: Distort,
		said:   "enhanced networking of Amazon EC2 asks for 2.14.2 or later",
		source: "Red Hat, solution 2740491: AWS Enhanced Networking requires ixgbevf driver version 2.14",
		fix:    "install ixgbevf 2.14.2 or later, or a newer kernel; check: ethtool -i DEV",
	},
}

// driverRules makes rules of the problems.
func driverRules() []rule {
	list := make([]rule, 0, len(problems))
	for _, p := range problems {
		list = append(list, rule{
			about: "driver_version", severity: p.severity, why: p.said, source: p.source, fix: p.fix,
			card: func(k known, name string) string {
				version := k.nic(name, "driver_version")
				return when(p.has(k.nic(name, "driver"), version), "driver %s %s is known for trouble", p.driver, version)
			},
		})
	}
	return list
}

// has says whether the problem is that of a driver's version.
func (p problem) has(driver, version string) bool {
	v := numbers(version)
	return driver == p.driver && len(v) > 0 &&
		(p.from == "" || slices.Compare(v, numbers(p.from)) >= 0) && (p.to == "" || slices.Compare(v, numbers(p.to)) <= 0)
}

// numbers are those of a version's first word: 3, 0 and 1 of "3.0-1 (January
// 2015)". It is empty of a text that does not begin with a number.
func numbers(version string) []int {
	word, _, _ := strings.Cut(strings.TrimSpace(version), " ")
	var list []int
	for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return r == '.' || r == '-' }) {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		list = append(list, n)
	}
	return list
}
