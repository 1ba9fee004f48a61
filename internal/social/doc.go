// Package social holds the nouns of a social circle and the rules that need nothing but the
// nouns themselves: identifiers, who may see what, and the errors a client can meet.
//
// It imports the standard library only, so every other package can speak its language.
package social
