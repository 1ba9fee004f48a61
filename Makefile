.DEFAULT_GOAL := help
.PHONY: help run assets build generate fmt test

help: ## print the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

run: assets ## fetch the playground and serve on 127.0.0.1:8080, with SQLite and an in-process Redis unless set otherwise
	exec go run .

assets: ## fetch the playground's files with npm, where npm is there
	scripts/assets

build: ## build bin/circle
	go build -o bin/circle .

generate: ## write the generated code anew
	go generate ./...

fmt: ## format the Go files
	gofmt -w $$(go list -f '{{.Dir}}' ./...)

# The recipe turns into the program, so that a signal to make reaches it and it ends its servers.
test: ## check and test everything on MariaDB, Redis, Redis Cluster and the embedded default
	@go build -o bin/testrun ./internal/testkit/cmd/testrun
	@exec bin/testrun
