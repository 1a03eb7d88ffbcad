module github.com/wardlet/wardlet/plugins/sdk

go 1.26
