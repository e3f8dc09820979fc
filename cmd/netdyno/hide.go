package main

import (
	"regexp"
	"strings"
	"unsafe"
)

// private is an argument that may carry a secret, or behind which one comes: headers, bodies,
// cookies, names with passwords, proxies, and requests made beforehand. A letter may stand
// among others (-sku NAME:PASSWORD).
var private = regexp.MustCompile(`^-[A-Za-z0-9]*[HubdFx]|^--(header|user|cookie|data|json|form|body|url-query|oauth2-bearer|before|take|proxy)|://[^/]*@`)

// plain is the part of an argument that is shown beside secrets: a command, or a flag's name.
var plain = regexp.MustCompile(`^(--[a-z0-9-]+=?|-[A-Za-z]|[a-z]+$)`)

// hide takes what was typed out of what others see of this process (/proc/PID/cmdline, ps),
// where any of it may be secret, and returns it. The kernel shows the memory in which it put the
// arguments, and Go's os.Args lie in that memory. So they are not to be used afterwards.
func hide(argv []string) []string {
	kept, secret := make([]string, len(argv)), false
	for i, arg := range argv {
		kept[i] = strings.Clone(arg)
		secret = secret || private.MatchString(arg)
	}
	for i := 1; secret && i < len(argv); i++ {
		// Behind a flag, a word is its value.
		shown := 0
		if strings.HasPrefix(argv[i], "-") || i == 1 {
			shown = len(plain.FindString(argv[i]))
		}
		rest := unsafe.Slice(unsafe.StringData(argv[i]), len(argv[i]))[shown:]
		for j := range rest {
			rest[j] = '*'
		}
	}
	return kept
}
