package trial

// checks compare what several sides counted of the same work (specification
// §2.2). Each returns why the counters contradict each other, "" when they
// agree. The first demands the results that the others read.
var checks = []func(*audit) string{
	checkResults, checkErrors, checkVerified, checkClocks, checkDue, checkClientBytes,
	checkServerCounts, checkInterfaces, checkKernelCounts, checkHistograms, checkSlots,
}

// inconsistency returns the first contradiction of a trial's counters, "" when
// they agree.
func inconsistency(e *audit) string {
	for _, check := range checks {
		if reason := check(e); reason != "" {
			return reason
		}
	}
	return ""
}
