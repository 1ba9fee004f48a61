package social

// scramble is a fixed permutation of the 53-bit numbers: two rounds of an odd multiplication and
// a folding of the upper half into the lower, as in the finalizer of MurmurHash3.
func scramble(x uint64) uint64 {
	x = x * mulA & MaxID
	x ^= x >> 27
	x = x * mulB & MaxID
	x ^= x >> 27
	return x
}

// unscramble is the inverse of scramble. Since 2*27 > 53, folding undoes itself.
func unscramble(x uint64) uint64 {
	x ^= x >> 27
	x = x * invB & MaxID
	x ^= x >> 27
	return x * invA & MaxID
}
