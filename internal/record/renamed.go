package record

// renamed are names that have changed since records were first written. Whoever
// types an old one is told the new one, for one version more; whoever compares
// an old record with a new one takes both for the same. A row without a factor
// renames a factor; a row of factor "transport" holds at either end too.
var renamed = []struct{ factor, old, now string }{
	{"placement", "apart", "separate"},
	{"transport", "brpc-asio", "baidu-std-asio"},
	{"transport", "brpc-cpp", "brpc"},
}

// CurrentLevel returns today's name of a factor's level, which is the level
// itself unless it was renamed.
func CurrentLevel(factor, level string) string {
	if factor == "server" || factor == "client" {
		factor = "transport"
	}
	for _, r := range renamed {
		if r.factor != "" && r.factor == factor && r.old == level {
			return r.now
		}
	}
	return level
}

// CurrentFactor returns today's name of a factor.
func CurrentFactor(name string) string {
	for _, r := range renamed {
		if r.factor == "" && r.old == name {
			return r.now
		}
	}
	return name
}
