package main

import (
	"net/url"
	"slices"
	"strings"

	"netdyno/internal/each"
	"netdyno/internal/run/session"
)

// mostName bounds the name of an arm that is made of a URL, in bytes.
const mostName = 60

// nameArms names arms by the URLs that were measured: host, port and path, or what the
// package target calls them; where two have the same by what differs in their URLs; else by
// letters. Names that the user gave go before all that.
func nameArms(arms []session.Arm, urls []*url.URL, given []string) {
	for i := range arms {
		if arms[i].Name = nameOf(arms[i].Name); i < len(given) {
			arms[i].Name = given[i]
		}
	}
	if len(given) > 0 {
		return
	}
	for _, by := range []func(i int, same []int) string{
		func(i int, _ []int) string { return urls[i].Host + strings.TrimSuffix(urls[i].Path, "/") },
		func(i int, same []int) string { return arms[i].Name + "-" + differing(urls, i, same) },
		func(i int, same []int) string {
			return arms[i].Name + "-" + string(rune('a'+slices.Index(same, i)))
		},
	} {
		for _, same := range namesakes(arms) {
			names := each.Of(same, func(i int) string { return nameOf(by(i, same)) })
			for n, i := range same {
				arms[i].Name = names[n]
			}
		}
	}
}

// namesakes are the arms, by their places, that have each name of several.
func namesakes(arms []session.Arm) (all [][]int) {
	byName := map[string][]int{}
	for i, a := range arms {
		byName[a.Name] = append(byName[a.Name], i)
	}
	for i, a := range arms {
		if same := byName[a.Name]; len(same) > 1 && same[0] == i {
			all = append(all, same)
		}
	}
	return all
}

// differing is what the URL of an arm has in its query and its namesakes' have not all,
// or its scheme where that differs.
func differing(urls []*url.URL, i int, same []int) string {
	others := func(has func(u *url.URL) bool) bool {
		return !slices.ContainsFunc(same, func(n int) bool { return !has(urls[n]) })
	}
	var parts []string
	for part := range strings.SplitSeq(urls[i].RawQuery, "&") {
		if !others(func(u *url.URL) bool { return slices.Contains(strings.Split(u.RawQuery, "&"), part) }) {
			parts = append(parts, part)
		}
	}
	if !others(func(u *url.URL) bool { return u.Scheme == urls[i].Scheme }) {
		parts = append(parts, urls[i].Scheme)
	}
	return strings.Join(parts, "-")
}

// nameOf makes a name of a text: what a name cannot have becomes -, and the middle of a
// long one is left out.
func nameOf(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._+:/[]-", r)) {
			b.WriteRune(r)
		} else if s := b.String(); !strings.HasSuffix(s, "-") {
			b.WriteByte('-')
		}
	}
	name := strings.Trim(b.String(), "-")
	if len(name) > mostName {
		const gap = ".."
		keep := (mostName - len(gap)) / 2
		name = name[:keep] + gap + name[len(name)-keep:]
	}
	return name
}
