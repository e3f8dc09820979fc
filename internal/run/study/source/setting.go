package source

// Setting is a key of the command line that belongs to the study and is no factor.
type Setting struct {
	Name     string
	Doc      string
	Usual    []string // values to offer; nil where there are no usual ones
	compares bool     // a key of the section compare in a file
}

// settings are what can be typed beside factors.
var settings = []Setting{
	{"primary", "metrics on which arms are judged, separated by commas", nil, true},
	{"baseline", "arm that the others are compared with; the first unless given", nil, true},
	{"margin", "difference below which arms count as equal; 2% unless given", []string{"1%", "2%", "5%", "10%"}, true},
	{"require", "bound that must hold, such as 'response_p99_us of go-net <= 5ms'", nil, false},
	{"mesh", "yes: measure every ordered pair of hosts, those without a host in common at the same time", []string{"yes"}, false},
	{"settle", "share within which every rate of a run of one arm is to be known, such as 5%", []string{"2%", "5%", "10%"}, false},
	{"capacity", "yes: look for the highest rate at which each arm meets an objective", []string{"yes"}, false},
	{"capacity.objective", "conditions of that search, separated by commas; 'response_p99 <= 10ms' unless given", nil, false},
	{"capacity.within", "how wide the interval of that rate may be; 10% unless given", []string{"5%", "10%", "20%"}, false},
	{"capacity.time", "how long the trials of each arm may take in that search; 60s unless given", []string{"30s", "60s", "5m"}, false},
	{"study", "name of the study, and of its directory", nil, false},
	{"question", "what the study asks", nil, false},
}

// Settings returns what can be typed beside factors. The caller owns the slice.
func Settings() []Setting { return append([]Setting(nil), settings...) }
