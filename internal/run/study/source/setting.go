package source

// Setting is a key of the command line that belongs to the study and is no factor.
type Setting struct {
	Name     string
	Doc      string
	compares bool // a key of the section compare in a file
}

// settings are what can be typed beside factors.
var settings = []Setting{
	{"primary", "metrics on which arms are judged, separated by commas", true},
	{"baseline", "arm that the others are compared with; the first unless given", true},
	{"margin", "difference below which arms count as equal; 2% unless given", true},
	{"require", "bound that must hold, such as 'response_p99_us of go-net <= 5ms'", false},
	{"settle", "share within which every rate of a run of one arm is to be known, such as 5%", false},
	{"study", "name of the study, and of its directory", false},
	{"question", "what the study asks", false},
}

// Settings returns what can be typed beside factors. The caller owns the slice.
func Settings() []Setting { return append([]Setting(nil), settings...) }
