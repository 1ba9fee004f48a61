// Package arch holds the tests of how the code is laid: who may import whom, and what every file
// keeps to.
package arch
