package rig

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/run/cpuset"
)

const cpuDirectory = "sys/devices/system/cpu/"

// cpu gathers model, count, topology, frequency and mitigations.
func (f *facts) cpu() {
	info := f.text("proc/cpuinfo")
	f.set("cpu.model", model(info))
	f.set("cpu.microcode", value(info, "microcode", ":"))
	f.set("cpu.mhz", frequencies(info))
	f.hypervisor(info)

	online, err := cpuset.Parse(f.text(cpuDirectory + "online"))
	if err != nil || len(online) == 0 {
		return
	}
	f.set("cpu.count", strconv.Itoa(len(online)))
	f.set("cpu.online", cpuset.Format(online))
	f.topology(online)
	for _, name := range f.names(cpuDirectory + "vulnerabilities") {
		if text := f.text(cpuDirectory + "vulnerabilities/" + name); text != "Not affected" {
			f.set("mitigations."+name, text)
		}
	}
}

// model is the processor's name; on ARM, where cpuinfo has none, its maker's
// and part's numbers.
func model(info string) string {
	if name := value(info, "model name", ":"); name != "" {
		return name
	}
	if maker, part := value(info, "CPU implementer", ":"), value(info, "CPU part", ":"); maker != "" {
		return fmt.Sprintf("ARM implementer %s part %s", maker, part)
	}
	return ""
}

// frequencies is the span of the CPUs' present clocks in MHz, "2596" or
// "1500-3200".
func frequencies(info string) string {
	low, high := math.Inf(1), 0.0
	for line := range strings.Lines(info) {
		name, rest, _ := strings.Cut(line, ":")
		if mhz, err := strconv.ParseFloat(strings.TrimSpace(rest), 64); err == nil && strings.TrimSpace(name) == "cpu MHz" {
			low, high = min(low, mhz), max(high, mhz)
		}
	}
	switch {
	case high == 0:
		return ""
	case math.Round(low) == math.Round(high):
		return fmt.Sprintf("%.0f", high)
	}
	return fmt.Sprintf("%.0f-%.0f", low, high)
}

// hypervisor names what the machine runs under, if it tells.
func (f *facts) hypervisor(info string) {
	kind := f.text("sys/hypervisor/type")
	flags := strings.Fields(value(info, "flags", ":"))
	if kind == "" && !slices.Contains(flags, "hypervisor") {
		return
	}
	if kind == "" {
		kind = f.text("sys/class/dmi/id/sys_vendor") + " " + f.text("sys/class/dmi/id/product_name")
	}
	if strings.TrimSpace(kind) == "" {
		kind = "present, unnamed"
	}
	f.set("hypervisor", kind)
}

// topology gathers packages, cores, the groups of hardware threads that share
// a core ("0,64;1,65"), governors and top frequencies.
func (f *facts) topology(online []int) {
	var packages, cores, shared, governors, tops []string
	for _, id := range online {
		directory := fmt.Sprintf("%scpu%d/", cpuDirectory, id)
		packages = addFact(packages, f.text(directory+"topology/physical_package_id"))
		group := f.text(directory + "topology/thread_siblings_list")
		cores = addFact(cores, group)
		if siblings, err := cpuset.Parse(group); err == nil && len(siblings) > 1 {
			shared = addFact(shared, cpuset.Format(siblings))
		}
		governors = addFact(governors, f.text(directory+"cpufreq/scaling_governor"))
		if khz, err := strconv.Atoi(f.text(directory + "cpufreq/cpuinfo_max_freq")); err == nil {
			tops = addFact(tops, strconv.Itoa(khz/1000))
		}
	}
	if len(packages) > 0 {
		f.set("cpu.packages", strconv.Itoa(len(packages)))
	}
	if len(cores) > 0 {
		f.set("cpu.cores", strconv.Itoa(len(cores)))
	}
	f.set("cpu.topology", strings.Join(shared, ";"))
	f.set("cpu.governor", strings.Join(governors, ", "))
	f.set("cpu.mhz_max", strings.Join(tops, ", "))
	if turbo := f.text(cpuDirectory + "intel_pstate/no_turbo"); turbo != "" {
		f.set("cpu.boost", map[string]string{"0": "on", "1": "off"}[turbo])
	} else if boost := f.text(cpuDirectory + "cpufreq/boost"); boost != "" {
		f.set("cpu.boost", map[string]string{"1": "on", "0": "off"}[boost])
	}
}

// idle gathers the states an idle CPU may enter, with the µs that leaving each
// takes, and the longest of them. The first CPU speaks for all.
// Source: Linux kernel, Documentation/admin-guide/pm/cpuidle.rst.
func (f *facts) idle() {
	const first = cpuDirectory + "cpu0/cpuidle/"
	var states []string
	longest := -1
	for _, state := range f.names(first) {
		exit, err := strconv.Atoi(f.text(first + state + "/latency"))
		if err != nil || f.text(first+state+"/disable") == "1" {
			continue
		}
		states = append(states, fmt.Sprintf("%s %d", f.text(first+state+"/name"), exit))
		longest = max(longest, exit)
	}
	f.set("cpu.idle_states", strings.Join(states, ", "))
	if longest >= 0 {
		f.set("cpu.idle_exit_us", strconv.Itoa(longest))
	}
}

// addFact appends what is neither empty nor there.
func addFact(list []string, text string) []string {
	if text == "" || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}
