// Package deploy holds the tests of the Dockerfile and the compose file, which no engine runs in the
// test suite.
package deploy
