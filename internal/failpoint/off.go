//go:build !failpoints

package failpoint

// Enabled says whether points can be armed in this program.
const Enabled = false

// Hit does nothing in this build.
func Hit(string) {}
