// Package web holds the pages that are built into the binary.
package web

import (
	"embed"
	"io/fs"
)

//go:embed playground
var files embed.FS

// vendored are the playground's files by others, which scripts/assets fetches.
var vendored = []string{"graphiql.min.js", "graphiql.min.css", "react.production.min.js", "react-dom.production.min.js"}

// Playground is the folder with the playground's index.html and what it needs.
func Playground() fs.FS {
	sub, err := fs.Sub(files, "playground")
	if err != nil {
		panic(err) // only for a malformed path
	}
	return sub
}

// Ready says whether all files are there that the playground needs.
func Ready(playground fs.FS) bool {
	for _, name := range vendored {
		if info, err := fs.Stat(playground, "vendor/"+name); err != nil || info.Size() == 0 {
			return false
		}
	}
	return true
}
