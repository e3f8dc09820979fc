package tune

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/run/setting"
)

// Link is what is known of a link and the hosts at its ends before options are chosen.
type Link struct {
	Loopback bool              // it is one host's own
	Virtual  bool              // no card carries it: loopback, namespaces
	CPUs     int               // that each end has; 0 where it is not known
	Now      map[string]string // settings of the hosts as they are, by key; absent where a host does not have one
	Refused  map[string]string // of what was tried, as KEY=VALUE: why a host does not take it
}

// hostSetting is a setting of the hosts that may race.
type hostSetting struct {
	key    string
	as     string                // the command that sets it; {key}, {value}, {interface}
	values func(l Link) []string // worth trying
	none   func(l Link) string   // why there is none to try; "" where there may be
}

// The buffers of TCP that are tried: the most that it may take. A queue of several MiB
// pushes what is copied from it out of the cache; a window of less than rate × round trip
// leaves the link idle.
const (
	cappedBuffer = 1 << 20
	roomyBuffer  = 64 << 20
)

// The commands that set a sysctl, to one number or word, or to several.
const (
	sets        = "sysctl -w {key}={value}"
	setsSeveral = `sysctl -w {key}="{value}"`
)

// settings are those of the hosts, in the order in which they race.
var settings = []hostSetting{
	{setting.Congestion, sets,
		func(l Link) []string { return strings.Fields(l.Now[setting.Congestions]) }, always},
	{setting.ReceiveBuffer, setsSeveral,
		func(l Link) []string { return buffers(l.Now[setting.ReceiveBuffer]) }, always},
	{setting.SendBuffer, setsSeveral,
		func(l Link) []string { return buffers(l.Now[setting.SendBuffer]) }, always},
	{setting.BusyRead, sets,
		func(Link) []string { return []string{"50"} }, func(l Link) string { return onlyIf(!l.Virtual, "no card has a queue to poll here") }},
	{setting.MTU, "ip link set dev {interface} mtu {value}",
		func(Link) []string { return []string{"1500B", "9000B"} }, func(l Link) string { return onlyIf(!l.Loopback, "loopback's frames hold 64 KiB as they are") }},
}

func always(Link) string { return "" }

func onlyIf(there bool, why string) string {
	if there {
		return ""
	}
	return why
}

// buffers are other bounds of a buffer that the kernel tunes: least and first stay.
func buffers(now string) []string {
	fields := strings.Fields(now)
	if len(fields) != 3 {
		return nil
	}
	var all []string
	for _, most := range []int{cappedBuffer, roomyBuffer} {
		all = append(all, fmt.Sprintf("%s %s %d", fields[0], fields[1], most))
	}
	return all
}

// Read are the keys of what has to be known of the hosts.
func Read() []string {
	keys := []string{setting.Interface, setting.Congestions}
	for _, s := range settings {
		keys = append(keys, s.key)
	}
	return keys
}

// Try returns the settings to try on the hosts, as KEY=VALUE: a host may refuse a value.
func (l Link) Try() (all []string) {
	for _, s := range settings {
		for _, value := range s.worthTrying(l) {
			all = append(all, s.tried(value))
		}
	}
	return all
}

// tried is a setting as hosts are asked for it.
func (s hostSetting) tried(value string) string {
	if n, err := quantity.ParseBytes(value); err == nil && s.key == setting.MTU {
		value = strconv.FormatInt(n, 10)
	}
	return s.key + "=" + value
}

func (s hostSetting) worthTrying(l Link) []string {
	if s.none(l) != "" || l.Now[s.key] == "" {
		return nil
	}
	return slices.DeleteFunc(s.values(l), func(value string) bool { return s.tried(value) == s.key+"="+l.Now[s.key] })
}

// The factors of the load that race, with the values of each, and the value of an arm
// that does not set the factor.
var loads = []option{
	{factor: "connections", values: []string{"2", "4", "8"}},
	{factor: "threads", values: []string{"1", "2"}},
	{factor: "chunk", values: []string{"16KiB", "256KiB", "1MiB"}},
}

var loadBase = map[string]string{"connections": "1"}

// linkOptions are the options of transports that change how a stream is carried and
// nothing of what is carried, with values where their type gives none.
var linkOptions = map[string][]string{
	"send": nil, "send_buffer": {"256KiB", "1MiB", "4MiB"}, "receive_buffer": {"256KiB", "1MiB", "4MiB"},
	"read_buffer": {"256KiB", "1MiB"}, "recv": nil, "wait": nil, "sqpoll": nil,
}

// zeroCopy is the value of option send by which a card reads a process's memory, sendfile
// the one that sends from a file.
const zeroCopy, sendFile = "zerocopy", "sendfile"

// PlanLink chooses the arms of a race on a link: load, the transport's options for streams
// and settings of the hosts. Names choose among these; held are factors that the user
// set. The words say what is left out, and why, a line each.
func PlanLink(t contract.Transport, l Link, names []string, held func(factor string) bool, most int) (f Field, words []string, err error) {
	var options []option
	chosen := map[string]bool{}
	take := func(o option, why string) {
		named := false
		for _, name := range names {
			if name == o.factor || name == bareName(o.factor) {
				named, chosen[name] = true, true
			}
		}
		switch {
		case held(o.factor), len(names) > 0 && !named:
		case len(o.values) == 0:
			words = append(words, o.factor+": "+why)
		default:
			options = append(options, o)
		}
	}
	for _, o := range loads {
		if o.factor == "threads" { // as many as CPUs are the default
			o.values = slices.DeleteFunc(slices.Clone(o.values), func(text string) bool { return text == strconv.Itoa(l.CPUs) })
		}
		take(o, "")
	}
	for _, o := range t.Options {
		if one, why := streamOption(o, l); one.factor != "" && !held(prefix+"server."+o.Name) && !held(prefix+"client."+o.Name) {
			take(one, why)
		}
	}
	for _, s := range settings {
		o, why := s.option(l)
		take(o, why)
		if len(o.values) > 0 && why != "" && !held(o.factor) && (len(names) == 0 || chosen[o.factor]) {
			words = append(words, o.factor+": "+why)
		}
	}
	if len(names) == 0 {
		words = append(words, lacking(t, l)...)
	}
	for _, name := range names {
		if !chosen[name] {
			return f, nil, fmt.Errorf("tune --link: --options: %q does not race on a link; %s", quantity.Clip(name, 80), quantity.Hint(name, raceable(t, l)))
		}
	}
	base := maps.Clone(loadBase)
	maps.DeleteFunc(base, func(factor, _ string) bool {
		return !slices.ContainsFunc(options, func(o option) bool { return o.factor == factor })
	})
	f, err = fieldOf("--link", options, base, most)
	return f, words, err
}

// raceable are the factors that may race on a link.
func raceable(t contract.Transport, l Link) (all []string) {
	for _, o := range loads {
		all = append(all, o.factor)
	}
	for _, o := range t.Options {
		if o, _ := streamOption(o, l); o.factor != "" {
			all = append(all, o.factor)
		}
	}
	for _, s := range settings {
		all = append(all, setting.Factor(s.key))
	}
	return all
}

// streamOption is an option of a transport as one that races on a link; without a factor
// when it does not. The words say why it has no values.
func streamOption(o contract.Option, l Link) (option, string) {
	values, known := linkOptions[o.Name]
	if !known {
		return option{}, ""
	}
	factor := prefix + o.Name
	if len(o.Roles) == 1 {
		factor = prefix + string(o.Roles[0]) + "." + o.Name
	}
	one := optionOf(o, factor, o.Roles)
	if values != nil {
		one.values = slices.DeleteFunc(slices.Clone(values), func(text string) bool { return isDefault(o, text) })
	}
	if l.Virtual && slices.Contains(one.values, zeroCopy) {
		one.values = slices.DeleteFunc(one.values, func(text string) bool { return text == zeroCopy })
		return one, "zerocopy copies anyway where no card carries the bytes"
	}
	return one, ""
}

// option is a setting of the hosts as one that races, with the values that all of them
// take. The words say why there are none, or not all.
func (s hostSetting) option(l Link) (option, string) {
	o := option{factor: setting.Factor(s.key), as: strings.NewReplacer("{key}", s.key, "{interface}", l.Now[setting.Interface]).Replace(s.as)}
	if why := s.none(l); why != "" {
		return o, why
	}
	if l.Now[s.key] == "" {
		return o, l.Refused[s.key]
	}
	var why []string
	for _, value := range s.worthTrying(l) {
		if refused := l.Refused[s.tried(value)]; refused != "" {
			why = append(why, refused)
			continue
		}
		o.values = append(o.values, value)
	}
	if len(o.values)+len(why) == 0 {
		why = append(why, "the hosts know nothing else than "+l.Now[s.key])
	}
	return o, strings.Join(why, "; ")
}

// lacking says which of two ways to save a copy the transport does not have.
func lacking(t contract.Transport, l Link) (words []string) {
	has := func(way string) bool {
		return slices.ContainsFunc(t.Options, func(o contract.Option) bool { return slices.Contains(o.Choices, way) })
	}
	for _, way := range []struct{ value, who string }{{sendFile, "go-net"}, {zeroCopy, "uring"}} {
		if !has(way.value) && !(way.value == zeroCopy && l.Virtual) {
			words = append(words, fmt.Sprintf("%s: %s cannot; netdyno tune %s --link races it", way.value, t.Name, way.who))
		}
	}
	return words
}
