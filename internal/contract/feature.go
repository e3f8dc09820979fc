package contract

// Feature is something that not every transport can do and a study may ask for.
type Feature string

// The features.
const (
	FeatureTLS        Feature = "tls"         // setup.tls
	FeatureFresh      Feature = "fresh"       // setup.load.fresh
	FeatureStreamUp   Feature = "stream-up"   // setup.exchange.stream up
	FeatureStreamDown Feature = "stream-down" // … down
	FeatureStreamBoth Feature = "stream-both" // … both
	FeatureSizes      Feature = "sizes"       // setup.exchange.up_sizes and down_sizes
	FeatureArrivals   Feature = "arrivals"    // setup.load.arrival drawn, and phases
	FeatureGather     Feature = "gather"      // setup.load.gather_ns
	FeatureTurns      Feature = "turns"       // setup.load.turns, and marks with part
	FeatureMixedTurns Feature = "turns-mix"   // setup.load.turns beside classes and drawn sizes
	FeatureMix        Feature = "mix"         // setup.load.classes
	FeatureTrace      Feature = "trace"       // setup.load.trace
	FeatureDeadline   Feature = "deadline"    // deadlines of exchanges, and of connections
	FeatureThink      Feature = "think"       // pauses after exchanges of classes
	FeatureMethods    Feature = "methods"     // methods of gRPC of classes
	FeatureHeaders    Feature = "headers"     // headers of HTTP of classes
	FeatureTimes      Feature = "times"       // setup.load.trace that says times alone
	FeatureData       Feature = "data"        // options data, pick and data_first
	FeatureStages     Feature = "stages"      // setup.stages, of a client
	FeatureResume     Feature = "resume"      // setup.tls.resume, of a client
	FeatureEvents     Feature = "events"      // setup.exchange.every_ns of a server, setup.events of a client
	FeatureWorkCPU    Feature = "work-cpu"    // setup.work by cpu, of a server
	FeatureWorkSleep  Feature = "work-sleep"  // … by sleep
)
