package bench

import "netdyno/internal/contract"

// Features are what not every transport can do, in the order in which they are listed: how
// a study or the file of a workload asks for each, and what it is where its name does not
// say it.
var Features = []struct {
	contract.Feature
	Asked string
	is    string
}{
	{contract.FeatureTLS, "tls=yes", ""},
	{contract.FeatureFresh, "fresh=yes", ""},
	{contract.FeatureStreamUp, "stream=up", ""},
	{contract.FeatureStreamDown, "stream=down", ""},
	{contract.FeatureStreamBoth, "stream=both", ""},
	{contract.FeatureSizes, "request=uniform:…", "messages of several sizes"},
	{contract.FeatureArrivals, "arrival=burst:…", "gaps and rates that vary"},
	{contract.FeatureGather, "pace=cheap", "sends that are gathered"},
	{contract.FeatureTurns, "one load for a URL", "turns of a load that goes on"},
	{contract.FeatureMixedTurns, "one load for a URL with a workload", "turns beside classes and drawn sizes"},
	{contract.FeatureTimes, "arrival=trace:FILE", "times from a file"},
	{contract.FeatureMix, "workload=FILE", "classes of a workload"},
	{contract.FeatureTrace, "workload=FILE of recorded traffic", "recorded traffic"},
	{contract.FeatureDeadline, "deadline", "deadlines"},
	{contract.FeatureThink, "think", "pauses after exchanges of a class"},
	{contract.FeatureMethods, "method of gRPC", "methods of classes"},
	{contract.FeatureHeaders, "headers", "headers of classes"},
	{contract.FeatureData, "--data-from FILE", "requests that rows fill"},
	{contract.FeatureEvents, "events=yes", "when parts of replies come"},
	{contract.FeatureStages, "stages=yes", "how long stages of exchanges take"},
	{contract.FeatureResume, "resumption=yes", "TLS sessions that are resumed"},
	{contract.FeatureWorkCPU, "work=exp:…", ""},
	{contract.FeatureWorkSleep, "work.by=sleep", ""},
}

// meaning says what a feature is, in brackets; "" where its name says it.
func meaning(of contract.Feature) string {
	for _, f := range Features {
		if f.Feature == of && f.is != "" {
			return " (" + f.is + ")"
		}
	}
	return ""
}
