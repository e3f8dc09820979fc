// Package own is empty. Where a worker is built for a message of the user's, a
// file is added here that imports the code generated from its .proto, which
// registers itself under contract.GeneratedPackage.
package own
